//! axe-core: the rules of accessibility that the browser tests hold every page to.

use super::npm::{self, Package};
use crate::failure::Outcome;
use crate::paths::Paths;

const PACKAGE: Package = Package {
    name: "axe-core",
    version: "4.14.1",
    integrity: "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
};

/// Installs it where it is missing or another version. The tests read it from there.
pub fn ensure(paths: &Paths) -> Outcome<()> {
    npm::ensure(paths, &PACKAGE, "axe-core: the browser tests check accessibility with it").map(drop)
}
