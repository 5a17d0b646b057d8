//! Puts the built dashboard into the crate: a table of `dashboard/dist`, each file with its compressed twins.
//!
//! Not a crate for embedding: those choose at run time what is already known here, and miss new names.
//! Without a built dashboard the table is empty and the server says how to build one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = here.join("../dist");
    // A watched folder that does not exist would make every build run this again.
    fs::create_dir_all(&dist)?;
    let dist = dist.canonicalize()?;
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("dashboard_files.rs"), table(&dist)?)
}

/// A Rust expression: `&[File { .. }, ..]`, sorted by path.
fn table(dist: &Path) -> io::Result<String> {
    let mut paths = Vec::new();
    collect(dist, &mut paths)?;
    paths.sort();
    let mut rust = String::from("&[\n");
    for path in paths {
        let name = path.strip_prefix(dist).expect("below dist").to_string_lossy().replace('\\', "/");
        let etag = format!("W/\"{:016x}\"", fnv1a(&fs::read(&path)?));
        writeln!(
            rust,
            "office::assets::File {{ path: {name:?}, etag: {etag:?}, raw: include_bytes!({path:?}), brotli: {}, gzip: {} }},",
            twin(&path, "br"),
            twin(&path, "gz"),
        )
        .expect("a string grows");
    }
    rust.push(']');
    Ok(rust)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let compressed = path.extension().is_some_and(|ext| ext == "br" || ext == "gz");
        if path.is_dir() {
            collect(&path, paths)?;
        } else if !hidden && !compressed {
            paths.push(path);
        }
    }
    Ok(())
}

fn twin(path: &Path, extension: &str) -> String {
    let twin = PathBuf::from(format!("{}.{extension}", path.display()));
    if twin.is_file() { format!("Some(include_bytes!({twin:?}).as_slice())") } else { "None".to_owned() }
}

/// Tells versions of one file apart; nobody can choose its input.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
