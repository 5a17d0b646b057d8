//! `cargo xtask package`: whether the crates that others may use can be published.
//!
//! Each is packaged as for a registry, with those of the others that it needs beside it, and compiled from its package.
//! Then each is checked with each of its features alone. Nothing is uploaded.

use crate::failure::{Outcome, at, fail};
use crate::paths::Paths;
use crate::publishable::{Publishable, publishable};
use crate::{ci, native, run, say};
use std::process::ExitCode;

/// The largest package that the registry of Rust's crates takes, bytes.
const PACKAGE_BYTES_MAX: u64 = 10 * 1024 * 1024;
pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    let crates = publishable(paths)?;
    let mut cargo = native::plain(paths, "package");
    // A change that is being written is checked too.
    cargo.arg("--allow-dirty");
    for one in &crates {
        cargo.args(["--package", &one.name]);
    }
    say::phase("packaging, and compiling from the packages", || run::open(&mut cargo))?;
    say::phase("checking each feature alone", || ci::check_features(paths, &crates))?;
    for Publishable { name, version, .. } in &crates {
        let file = paths.target.join("package").join(format!("{name}-{version}.crate"));
        let bytes = at("read", &file, std::fs::metadata(&file))?.len();
        if bytes > PACKAGE_BYTES_MAX {
            return fail(format!("The package of {name} has {bytes} bytes; {PACKAGE_BYTES_MAX} are allowed."));
        }
        say::note(&format!("{name} {version}: {}", say::kilobytes(bytes)));
    }
    Ok(ExitCode::SUCCESS)
}
