//! Builds the layer `witness` for Lambda, as `sam build` asks for it.

use crate::failure::{Outcome, at};
use crate::paths::Paths;
use crate::run;
use crate::tools::aws::ensure_cargo_lambda;
use std::path::Path;

/// The logical ids in `infra/witness.yaml`, and the flag of cargo-lambda for each one's architecture.
const LAYERS: &[(&str, &str)] = &[("WitnessX86", "--x86-64"), ("WitnessArm", "--arm64")];
const PROGRAM: &str = "dlo-witness";

/// Returns the logical ids.
pub fn ids() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().map(|(id, _)| *id)
}

/// Builds a layer into a folder. Returns `None` if the id is no layer's.
pub fn build(paths: &Paths, id: &str, folder: &Path) -> Option<Outcome<()>> {
    let (_, architecture) = LAYERS.iter().find(|(known, _)| *known == id)?;
    Some(copy(paths, architecture, folder))
}

fn copy(paths: &Paths, architecture: &str, folder: &Path) -> Outcome<()> {
    let programs = ensure_cargo_lambda(paths)?;
    let mut cargo = run::cargo(paths);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &paths.target);
    cargo.args(["lambda", "build", "--locked", "--profile", "witness", architecture]);
    run::open(cargo.args(["--package", PROGRAM, "--bin", PROGRAM]))?;
    // Lambda starts every program in this folder of a layer as an extension.
    let target = folder.join("extensions");
    at("create", &target, std::fs::create_dir_all(&target))?;
    let built = paths.target.join("lambda").join(PROGRAM).join("bootstrap");
    at("copy", &built, std::fs::copy(&built, target.join(PROGRAM)))?;
    Ok(())
}
