//! axe-core: the rules of accessibility that the browser tests hold every page to.

use super::npm;
use crate::failure::Outcome;
use crate::paths::Paths;

const VERSION: &str = "4.14.1";

/// Installs it where it is missing or another version. The tests read it from there.
pub fn ensure(paths: &Paths) -> Outcome<()> {
    npm::ensure(paths, "axe-core", VERSION, "axe-core: the browser tests check accessibility with it").map(drop)
}
