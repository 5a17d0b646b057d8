//! A Rust compiler that can build for wasm32-unknown-unknown: the active one, or the toolchain `wasm`.
//!
//! rust-toolchain.toml does not list the target: where rustup cannot download it, such a file makes every cargo call in
//! the checkout fail.

use super::find;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// The name under which the fallback links Debian's compiler into rustup.
const FALLBACK: &str = "wasm";
const DEBIAN: &str = include_str!("wasm_debian.sh");

pub struct WasmRust {
    /// `None` where the active toolchain has the target.
    toolchain: Option<&'static str>,
    pub version: String,
}

impl WasmRust {
    pub fn select(&self, command: &mut Command) {
        if let Some(name) = self.toolchain {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
    }

    /// Returns the rustc of this toolchain.
    pub fn rustc(&self, paths: &Paths) -> Command {
        let mut rustc = run::cleaned(Command::new("rustc"), paths);
        self.select(&mut rustc);
        rustc
    }
}

pub fn ensure(paths: &Paths) -> Outcome<WasmRust> {
    if let Some(found) = present(paths) {
        return Ok(found);
    }
    let added = say::phase(&format!("adding the target {TARGET}: the dashboard is WebAssembly"), || {
        say::note("by `rustup target add`, once; about 20 MB");
        progress::watched(run::cleaned(Command::new("rustup"), paths).args(["target", "add", TARGET]))
    });
    let Err(refused) = added else {
        return present(paths)
            .ok_or_else(|| fallback_impossible("rustup added the target, but the compiler lacks it."));
    };
    say::note("rustup could not download it; building it from Debian's Rust sources instead");
    build_from_debian(paths).map_err(|failure| merge(failure, refused))?;
    present(paths).ok_or_else(|| fallback_impossible("The toolchain `wasm` was built, but does not work."))
}

fn present(paths: &Paths) -> Option<WasmRust> {
    [None, Some(FALLBACK)].into_iter().find_map(|toolchain| {
        let found = WasmRust { toolchain, version: asked(paths, toolchain, &["--version"])? };
        has_std(&sysroot(paths, toolchain)?).then_some(found)
    })
}

fn sysroot(paths: &Paths, toolchain: Option<&'static str>) -> Option<PathBuf> {
    asked(paths, toolchain, &["--print", "sysroot"]).map(PathBuf::from)
}

fn asked(paths: &Paths, toolchain: Option<&'static str>, args: &[&str]) -> Option<String> {
    let mut rustc = WasmRust { toolchain, version: String::new() }.rustc(paths);
    run::captured(rustc.args(args)).ok().map(|text| text.trim().to_owned())
}

fn has_std(sysroot: &Path) -> bool {
    let lib = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let Ok(files) = std::fs::read_dir(lib) else {
        return false;
    };
    files.flatten().any(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

/// Debian carries the sources of the standard library, and a compiler of the same version.
fn build_from_debian(paths: &Paths) -> Outcome<()> {
    let root = run::captured(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if find::on_path("apt-get").is_none() || !root {
        return Err(fallback_impossible("That needs Debian's apt-get and root."));
    }
    say::phase(&format!("building {TARGET} from Debian's packages rustc-web and rust-web-src"), || {
        say::note("once; 200 MB of packages and 1 to 2 minutes on two cores");
        let mut bash = run::cleaned(Command::new("bash"), paths);
        if let Some(sysroot) = sysroot(paths, None) {
            bash.env("RUSTUP_SYSROOT", sysroot);
        }
        progress::watched(bash.args(["-c", DEBIAN]))
    })
}

fn fallback_impossible(what: &str) -> Failure {
    Failure::new(format!("This Rust cannot build for {TARGET}. {what}")).remedy(format!(
        "Run `rustup target add {TARGET}` where there is a network, or link a toolchain that has the target: \
         `rustup toolchain link {FALLBACK} <folder>`. Then start again."
    ))
}

/// Keeps the first refusal in sight: the network may be all that is wrong.
fn merge(mut failure: Failure, refused: Failure) -> Failure {
    let logs = [refused.log, failure.log].into_iter().flatten();
    failure.log = Some(logs.collect::<Vec<_>>().join("\n"));
    failure
}
