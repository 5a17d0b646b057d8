//! wasm-opt: makes the dashboard's download about a tenth smaller. Helpful, never required.

use super::find::{self, Found};
use super::{install, npm};
use crate::paths::Paths;
use crate::say;

/// The oldest that understands what today's Rust emits (bulk memory, sign extension, reference types).
const OLDEST: u32 = 116;
const NPM_BINARYEN: &str = "132.0.0";
const CRATE: &str = "0.116.1";

const RECIPE: install::Recipe = install::Recipe {
    package: "wasm-opt",
    binary: "wasm-opt",
    why: "makes the dashboard smaller",
    minutes: "5 to 8 minutes on two cores",
    features: &[],
};

pub fn ensure(paths: &Paths) -> Option<Found> {
    let look = || find::program(paths, "wasm-opt", recent_enough);
    if let Some(found) = look() {
        return Some(found);
    }
    let from_npm = say::phase("installing wasm-opt: it makes the dashboard's download smaller", || {
        say::note("from the npm package binaryen into target/tools, once; about 10 seconds");
        npm::install(paths, "binaryen", NPM_BINARYEN)
    });
    if from_npm.is_ok()
        && let Some(found) = look()
    {
        return Some(found);
    }
    say::note("npm could not provide it; trying to compile it");
    let compiled = install::ensure(paths, &RECIPE, CRATE);
    compiled.ok().or_else(look).or_else(|| {
        say::note("wasm-opt is not available: the dashboard works, and its download is about a tenth bigger");
        None
    })
}

fn recent_enough(version: &str) -> bool {
    // The crate numbers itself 0.116.1, binaryen itself 116.
    let number = version.trim_start_matches("0.").split('.').next().unwrap_or_default();
    number.parse::<u32>().is_ok_and(|number| number >= OLDEST)
}

#[cfg(test)]
mod tests {
    #[test]
    fn old_releases_are_not_used() {
        for (version, good) in [("132", true), ("116", true), ("0.116.1", true), ("108", false), ("", false)] {
            assert_eq!(super::recent_enough(version), good, "{version}");
        }
    }
}
