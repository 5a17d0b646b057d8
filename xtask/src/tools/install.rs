//! `cargo install` into `target/tools`, tuned for a short wait instead of a fast tool.

use super::find::{self, Found};
use super::network;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::progress;
use crate::{run, say};
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

/// With the versions that its authors locked; with newer ones where this machine's registry lacks those.
fn compile(paths: &Paths, recipe: &Recipe, version: &str) -> Outcome<()> {
    let wanted = format!("{} {version} from crates.io", recipe.package);
    let result = match progress::watched(command(paths, recipe, version).arg("--locked")) {
        Err(failure) if lacks_locked_versions(&failure) => {
            say::note("a version that it locks is not available here: taking the nearest that is");
            progress::watched(&mut command(paths, recipe, version))
        }
        result => result,
    };
    result.map_err(|failure| network::explain(failure, &wanted))
}

fn lacks_locked_versions(failure: &Failure) -> bool {
    failure.log.as_deref().is_some_and(|log| log.contains("failed to select a version for the requirement"))
}

fn command(paths: &Paths, recipe: &Recipe, version: &str) -> Command {
    let mut command = run::cargo(paths);
    command
        .args(["install", recipe.package, "--version", version, "--root"])
        .arg(&paths.tools)
        .args(recipe.features)
        // Compiled for a short wait: measured for trunk, 2 min 18 s instead of 5 min, and it runs a second longer.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_TARGET_DIR", paths.tools.join("build"))
        .env_remove("RUSTFLAGS");
    command
}

/// The object files of the tools are of no further use and take a gigabyte.
pub fn remove_leftovers(paths: &Paths) {
    let build = paths.tools.join("build");
    if build.is_dir() && std::fs::remove_dir_all(&build).is_err() {
        say::note("target/tools/build could not be removed; it is not needed any more");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_version_that_is_gone_is_told_apart_from_a_broken_build() {
        for (log, gone) in [
            (
                "error: failed to select a version for the requirement `webpki-roots = \"^1.0.10\"` (locked to 1.0.11)",
                true,
            ),
            ("error[E0432]: unresolved import", false),
        ] {
            assert_eq!(lacks_locked_versions(&Failure::new("failed").log(log)), gone, "{log}");
        }
    }
}
