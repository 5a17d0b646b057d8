//! wasm-opt: makes the dashboard's download about a tenth smaller. A build works without it.

use super::npm;
use crate::paths::Paths;
use crate::say;
use std::path::PathBuf;

/// The npm package binaryen. Exactly one version: every other makes files of other sizes.
pub const VERSION: &str = "132.0.0";

/// Returns its path, or `None` where npm cannot install it.
pub fn ensure(paths: &Paths) -> Option<PathBuf> {
    let why = "wasm-opt: it makes the dashboard's download smaller";
    match npm::ensure(paths, "binaryen", VERSION, why) {
        Ok(_) => Some(paths.tools.join("npm/node_modules/.bin/wasm-opt")),
        Err(failure) => {
            say::warning(&format!("{} The dashboard works; its download is about a tenth bigger.", failure.what));
            None
        }
    }
}
