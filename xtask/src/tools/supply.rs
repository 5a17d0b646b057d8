//! cargo-deny: what the office is built from, checked against `deny.toml`.

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
