//! Builds the layer `witness` for Lambda, as `sam build` asks for it.

use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::run;
use crate::tools::aws::ensure_cargo_lambda;
use std::path::Path;

/// The logical ids in `infra/witness.yaml`, and the target of each. The older managed runtimes (Amazon Linux 2) have
/// glibc 2.26: a program that needs a newer one does not start there, and Lambda then fails the function.
const LAYERS: &[(&str, &str)] =
    &[("WitnessX86", "x86_64-unknown-linux-gnu.2.26"), ("WitnessArm", "aarch64-unknown-linux-gnu.2.26")];
const PROGRAM: &str = "dlo-witness";

/// Returns the logical ids.
pub fn ids() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().map(|(id, _)| *id)
}

/// Builds a layer into a folder.
pub fn build(paths: &Paths, id: &str, folder: &Path) -> Outcome<()> {
    let layer = LAYERS.iter().find(|(known, _)| *known == id);
    let (_, target) = *layer.ok_or_else(|| Failure::new(format!("There is no layer `{id}`.")))?;
    let programs = ensure_cargo_lambda(paths)?;
    let mut cargo = run::cargo(paths);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &paths.target);
    cargo.args(["lambda", "build", "--locked", "--profile", "witness", "--target", target]);
    run::open(cargo.args(["--package", PROGRAM, "--bin", PROGRAM]))?;
    // Lambda starts every program in this folder of a layer as an extension.
    let extensions = folder.join("extensions");
    at("create", &extensions, std::fs::create_dir_all(&extensions))?;
    let built = paths.target.join("lambda").join(PROGRAM).join("bootstrap");
    at("copy", &built, std::fs::copy(&built, extensions.join(PROGRAM)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_run_on_the_oldest_managed_runtime() {
        let template = include_str!("../../infra/witness.yaml");
        for (id, target) in LAYERS {
            assert!(template.contains(&format!("\n  {id}:\n")), "{id}");
            assert!(target.ends_with(".2.26"), "{target}: Amazon Linux 2 has glibc 2.26");
        }
    }
}
