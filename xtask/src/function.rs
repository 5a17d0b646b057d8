//! `cargo xtask function Intake <folder>`: builds the functions and puts one of them where `sam build` wants it.

use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::tools::aws;
use crate::{dashboard, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Their logical ids in the template; in lower case, their binaries.
const FUNCTIONS: &[&str] = &["Api", "Intake", "Replay", "Sweep"];
/// Set for an endpoint on this machine: functions run here, so they are built as everything else here, in less time.
const HERE: &str = "DLO_FUNCTIONS_RUN_HERE";

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    let [id, folder] = args else {
        return Err(Failure::new("Usage: cargo xtask function <id in the template> <folder>."));
    };
    if !FUNCTIONS.contains(&id.as_str()) {
        return Err(Failure::new(format!("There is no function `{id}`; there are {}.", FUNCTIONS.join(", "))));
    }
    dashboard::ensure(place)?;
    let name = id.to_lowercase();
    let built = if std::env::var_os(HERE).is_some() { here(place, &name)? } else { for_lambda(place, &name)? };
    let target = PathBuf::from(folder).join("bootstrap");
    std::fs::copy(&built, &target)
        .map_err(|cause| Failure::new(format!("{} could not be copied: {cause}.", built.display())))?;
    Ok(ExitCode::SUCCESS)
}

/// All of them at once: they share nearly all of what is compiled, and the next call finds its own done.
const ALL: &[&str] = &["--package", "dlo-lambda", "--features", "aws", "--bins"];

fn for_lambda(place: &Place, name: &str) -> Outcome<PathBuf> {
    let programs = aws::ensure_cargo_lambda(place)?;
    let mut cargo = run::cargo(place);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &place.target);
    run::open(cargo.args(["lambda", "build", "--locked", "--release"]).args(ALL))?;
    Ok(place.target.join("lambda").join(name).join("bootstrap"))
}

fn here(place: &Place, name: &str) -> Outcome<PathBuf> {
    let mut cargo = run::cargo(place);
    cargo.env("CARGO_TARGET_DIR", &place.target);
    run::open(cargo.args(["build", "--locked", "--profile", "demo"]).args(ALL))?;
    Ok(place.target.join("demo").join(name))
}
