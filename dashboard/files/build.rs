//! Embeds the built dashboard: a table of the files in `dashboard/dist`, each with its compressed variants.
//!
//! The files are copied first: the dashboard may be built again before the crate that embeds them is compiled.
//!
//! Crates for embedding were rejected: they resolve at run time what is known at build time, and miss new file names.
//! Without a built dashboard the table is empty, and the server explains how to build it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io, thread};

/// How often the copying starts again. Replacing all files takes a fraction of a second.
const TRIES_MAX: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = here.join("../dist");
    // If the watched folder did not exist, every build would run this script again.
    fs::create_dir_all(&dist)?;
    let dist = dist.canonicalize()?;
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let table = whole_table(&dist, &out.join("files"))?;
    println!("cargo::rustc-check-cfg=cfg(has_dashboard)");
    if table.contains("index.html") {
        println!("cargo::rustc-cfg=has_dashboard");
    }
    fs::write(out.join("dashboard_files.rs"), table)
}

/// Returns the table of [`table`], and starts again while a build of the dashboard replaces files.
#[expect(
    clippy::disallowed_methods,
    reason = "a build script has nothing else to do, and the number of tries is limited"
)]
fn whole_table(dist: &Path, copies: &Path) -> io::Result<String> {
    let mut tries_left = TRIES_MAX;
    loop {
        match table(dist, copies) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries_left > 0 => tries_left -= 1,
            done => return done,
        }
        thread::sleep(BETWEEN_TRIES);
    }
}

/// Copies the files, and returns a Rust expression: `&[File { .. }, ..]`, sorted by path.
fn table(dist: &Path, copies: &Path) -> io::Result<String> {
    if copies.exists() {
        fs::remove_dir_all(copies)?;
    }
    fs::create_dir_all(copies)?;
    let mut paths = Vec::new();
    collect(dist, &mut paths)?;
    let name_of = |path: &PathBuf| path.strip_prefix(dist).expect("below dist").to_string_lossy().replace('\\', "/");
    // Files are found by a binary search over their names, whose order is not that of paths.
    paths.sort_by_key(name_of);
    let mut rust = String::from("&[\n");
    for (number, path) in paths.into_iter().enumerate() {
        let name = name_of(&path);
        let bytes = fs::read(&path)?;
        let etag = format!("W/\"{:016x}\"", fnv1a(&bytes));
        let copy = copies.join(number.to_string());
        fs::write(&copy, bytes)?;
        writeln!(
            rust,
            "office::assets::File {{ path: {name:?}, etag: {etag:?}, raw: include_bytes!({copy:?}), brotli: {}, gzip: {} }},",
            variant(&path, &copy, "br")?,
            variant(&path, &copy, "gz")?,
        )
        .expect("writing to a string cannot fail");
    }
    rust.push(']');
    Ok(rust)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let is_compressed = path.extension().is_some_and(|ext| ext == "br" || ext == "gz");
        if path.is_dir() {
            collect(&path, paths)?;
        } else if !is_hidden && !is_compressed {
            paths.push(path);
        }
    }
    Ok(())
}

/// Copies a compressed variant of a file. Returns the Rust expression that embeds it.
fn variant(path: &Path, copy: &Path, extension: &str) -> io::Result<String> {
    let with_extension = |path: &Path| PathBuf::from(format!("{}.{extension}", path.display()));
    let (variant, copy) = (with_extension(path), with_extension(copy));
    if !variant.is_file() {
        return Ok("None".to_owned());
    }
    fs::copy(variant, &copy)?;
    Ok(format!("Some(include_bytes!({copy:?}).as_slice())"))
}

/// Distinguishes versions of a file. FNV-1a is not collision-resistant, but an attacker cannot choose the input.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
