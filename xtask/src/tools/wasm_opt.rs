//! wasm-opt: makes the dashboard's download about a tenth smaller. A build works without it.

use super::npm::{self, Package};
use crate::paths::Paths;
use crate::say;
use std::path::PathBuf;

/// The npm package binaryen. Exactly one version: every other makes files of other sizes.
pub const VERSION: &str = "132.0.0";

const PACKAGE: Package = Package {
    name: "binaryen",
    version: VERSION,
    integrity: "sha512-4Usg7yEvwO3FMso3Oov6qkOOHSod1IEv+boKkh77kTljM+eNBouqCTbqWswGzbG+vDNO/b/v2C4gfEh1WgB9Lg==",
};

/// Returns its path, or `None` where npm cannot install it.
pub fn ensure(paths: &Paths) -> Option<PathBuf> {
    let why = "wasm-opt: it makes the dashboard's download smaller";
    match npm::ensure(paths, &PACKAGE, why) {
        Ok(_) => Some(paths.tools.join("npm/node_modules/.bin/wasm-opt")),
        Err(failure) => {
            say::warning(&format!("{} The dashboard works; its download is about a tenth bigger.", failure.what));
            None
        }
    }
}
