//! Schemathesis: calls an API with inputs that it derives from its OpenAPI document.

use super::pypi::{self, Python};
use crate::failure::Outcome;
use crate::paths::Paths;
use std::path::PathBuf;

const PYTHON: Python = Python { folder: "schemathesis", pins: include_str!("pinned/schemathesis.txt") };

/// Returns the program. Installs it where it is missing or another version.
pub fn ensure(paths: &Paths) -> Outcome<PathBuf> {
    let programs = pypi::ensure(paths, &PYTHON, "Schemathesis: it calls the API with generated inputs")?;
    Ok(programs.join("schemathesis"))
}
