//! `cargo install` into `target/tools`, tuned for a short wait instead of a fast tool.

use super::find::{self, Found};
use super::network;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::progress;
use crate::{run, say};
use std::path::PathBuf;
use std::process::Command;

pub struct Recipe {
    pub package: &'static str,
    pub binary: &'static str,
    pub why: &'static str,
    pub minutes: &'static str,
    pub features: &'static [&'static str],
}

/// Finds the binary in exactly this version, or installs it.
pub fn ensure(paths: &Paths, recipe: &Recipe, version: &str) -> Outcome<Found> {
    let look = || find::program(paths, recipe.binary, |found| found == version);
    if let Some(found) = look() {
        return Ok(found);
    }
    say::phase(&format!("installing {} {version}: it {}", recipe.package, recipe.why), || {
        say::note(&format!("from crates.io into target/tools, once; {}", recipe.minutes));
        compile(paths, recipe, version)
    })?;
    look().ok_or_else(|| {
        Failure::new(format!("{} {version} was installed, but does not start.", recipe.package))
            .remedy("Remove the folder target/tools, then start again.")
    })
}

/// With the versions that its authors locked, and no others: what a check says must not depend on the day.
fn compile(paths: &Paths, recipe: &Recipe, version: &str) -> Outcome<()> {
    let wanted = format!("{} {version} from crates.io", recipe.package);
    progress::watched(&mut command(paths, recipe, version)).map_err(|failure| {
        let failure = failure.remedy(format!(
            "Where this machine's registry lacks a version that {0} locks, install {0} {version} by another way, and put it on PATH.",
            recipe.package
        ));
        network::explain(failure, &wanted)
    })
}

fn command(paths: &Paths, recipe: &Recipe, version: &str) -> Command {
    let mut command = run::cargo(paths);
    command
        .args(["install", recipe.package, "--locked", "--version", version, "--root"])
        .arg(&paths.tools)
        .args(recipe.features)
        // Compiled for a short wait: measured for trunk, 2 min 18 s instead of 5 min, and it runs a second longer.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_TARGET_DIR", build(paths, recipe))
        .env_remove("RUSTFLAGS");
    command
}

/// The object files of a tool are of no further use and take up to a gigabyte.
pub fn remove_leftovers(paths: &Paths, recipe: &Recipe) {
    let build = build(paths, recipe);
    if build.is_dir() && std::fs::remove_dir_all(&build).is_err() {
        say::note(&format!("{} could not be removed; it is not needed any more", build.display()));
    }
}

/// A folder for each tool: steps of `cargo ci` install side by side.
fn build(paths: &Paths, recipe: &Recipe) -> PathBuf {
    paths.tools.join("build").join(recipe.package)
}
