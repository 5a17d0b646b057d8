//! cargo-deny: what the office is built from, checked against `deny.toml`. cargo-semver-checks: what it publishes.

use super::find::Found;
use super::install::{self, Recipe};
use crate::failure::Outcome;
use crate::paths::Paths;

const DENY_VERSION: &str = "0.20.2";
const DENY: Recipe = Recipe {
    package: "cargo-deny",
    binary: "cargo-deny",
    why: "checks the licences, sources, versions and advisories of all dependencies",
    minutes: "3 to 4 minutes on two cores",
    features: &["--no-default-features"],
};

pub fn ensure_deny(paths: &Paths) -> Outcome<Found> {
    let found = install::ensure(paths, &DENY, DENY_VERSION)?;
    install::remove_leftovers(paths, &DENY);
    Ok(found)
}

const SEMVER_CHECKS_VERSION: &str = "0.51.0";
const SEMVER_CHECKS: Recipe = Recipe {
    package: "cargo-semver-checks",
    binary: "cargo-semver-checks",
    why: "compares the public items of a crate with those of its last release",
    minutes: "3 to 4 minutes on two cores",
    features: &[],
};

pub fn ensure_semver_checks(paths: &Paths) -> Outcome<Found> {
    let found = install::ensure(paths, &SEMVER_CHECKS, SEMVER_CHECKS_VERSION)?;
    install::remove_leftovers(paths, &SEMVER_CHECKS);
    Ok(found)
}
