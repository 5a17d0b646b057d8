//! `cargo xtask function Intake <folder>`: builds the functions and puts one of them where `sam build` wants it.

use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::tools::aws;
use crate::{dashboard, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Their logical ids in the templates, and their binaries. The last is the demo's.
const FUNCTIONS: &[(&str, &str)] =
    &[("Api", "api"), ("Intake", "intake"), ("Replay", "replay"), ("Sweep", "sweep"), ("OrdersConsumer", DEMO)];
const DEMO: &str = "orders";
/// Set for an endpoint on this machine: functions run here, so they are built as everything else here, in less time.
pub const HERE: &str = "DLO_FUNCTIONS_RUN_HERE";

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    let [id, folder] = args else {
        return Err(Failure::new("Usage: cargo xtask function <id in the template> <folder>."));
    };
    let Some((_, name)) = FUNCTIONS.iter().find(|(known, _)| known == id) else {
        let known: Vec<&str> = FUNCTIONS.iter().map(|(id, _)| *id).collect();
        return Err(Failure::new(format!("There is no function `{id}`; there are {}.", known.join(", "))));
    };
    let built = if std::env::var_os(HERE).is_some() { here(place, name)? } else { for_lambda(place, name)? };
    let target = PathBuf::from(folder).join("bootstrap");
    std::fs::copy(&built, &target)
        .map_err(|cause| Failure::new(format!("{} could not be copied: {cause}.", built.display())))?;
    Ok(ExitCode::SUCCESS)
}

/// All of the office at once: they share nearly all of what is compiled, and the next call finds its own done.
const OFFICE: &[&str] = &["--package", "dlo-lambda", "--features", "aws", "--bins"];

fn for_lambda(place: &Place, name: &str) -> Outcome<PathBuf> {
    let programs = aws::ensure_cargo_lambda(place)?;
    let mut cargo = run::cargo(place);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &place.target);
    cargo.args(["lambda", "build", "--locked", "--release"]);
    if name == DEMO {
        cargo.args(["--package", "dlo-local", "--features", "aws", "--bin", DEMO]);
    } else {
        dashboard::ensure(place)?;
        cargo.args(OFFICE);
    }
    run::open(&mut cargo)?;
    Ok(place.target.join("lambda").join(name).join("bootstrap"))
}

fn here(place: &Place, name: &str) -> Outcome<PathBuf> {
    build_here(place)?;
    Ok(place.target.join("demo").join(name))
}

/// All functions, the demo's too, in one call: two would compile what they share twice, with other features each.
pub fn build_here(place: &Place) -> Outcome<()> {
    dashboard::ensure(place)?;
    let mut cargo = run::cargo(place);
    cargo.args(["build", "--locked", "--profile", "demo", "--package", "dlo-lambda", "--package", "dlo-local"]);
    cargo.args(["--features", "dlo-lambda/aws,dlo-local/aws", "--bins"]).env("CARGO_TARGET_DIR", &place.target);
    crate::progress::watched(&mut cargo)
}
