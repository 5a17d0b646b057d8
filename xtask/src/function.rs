//! `cargo xtask function Intake <folder>`: builds the functions and puts one of them where `sam build` wants it.

use crate::aws;
use crate::failure::{Failure, Outcome, at};
use crate::place::Place;
use crate::tools::aws::ensure_cargo_lambda;
use crate::{dashboard, progress, run};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Their logical ids in the templates, and their binaries. The last is the demo's.
const FUNCTIONS: &[(&str, &str)] =
    &[("Api", "api"), ("Intake", "intake"), ("Replay", "replay"), ("Sweep", "sweep"), ("OrdersConsumer", DEMO)];
const DEMO: &str = "orders";
const HELLO: &str = "hello";
/// The folder of functions that are built already: those for an endpoint on this machine, where they run.
pub const BUILT: &str = "DLO_FUNCTIONS_BUILT";

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    let [id, folder] = args else {
        return Err(Failure::new("Usage: cargo xtask function <id in the template> <folder>."));
    };
    let Some((_, name)) = FUNCTIONS.iter().find(|(known, _)| known == id) else {
        let known: Vec<&str> = FUNCTIONS.iter().map(|(id, _)| *id).collect();
        return Err(Failure::new(format!("There is no function `{id}`; there are {}.", known.join(", "))));
    };
    let built = match std::env::var_os(BUILT) {
        Some(folder) => PathBuf::from(folder).join(name),
        None => for_lambda(place, name)?,
    };
    let target = PathBuf::from(folder).join("bootstrap");
    std::fs::copy(&built, &target)
        .map_err(|cause| Failure::new(format!("{} could not be copied: {cause}.", built.display())))?;
    Ok(ExitCode::SUCCESS)
}

/// All of the office at once: they share nearly all of what is compiled, and the next call finds its own done.
const OFFICE: &[&str] = &["--package", "dlo-lambda", "--features", "aws", "--bins"];

fn for_lambda(place: &Place, name: &str) -> Outcome<PathBuf> {
    let mut cargo = cargo_lambda(place, if name == DEMO { "infra/demo.yaml" } else { "infra/template.yaml" })?;
    if name == DEMO {
        cargo.args(["--package", "dlo-local", "--features", "aws", "--bin", DEMO]);
    } else {
        dashboard::ensure(place)?;
        cargo.args(OFFICE);
    }
    run::open(&mut cargo)?;
    Ok(place.target.join("lambda").join(name).join("bootstrap"))
}

/// As cargo-lambda takes it: what is built is what the template says that it runs on.
fn architecture(template: &str) -> Option<&'static str> {
    match template.lines().find_map(|line| line.trim().strip_prefix("Architectures: "))? {
        "[x86_64]" => Some("--x86-64"),
        "[arm64]" => Some("--arm64"),
        _ => None,
    }
}

/// Cargo as it builds for the functions of a template.
fn cargo_lambda(place: &Place, template: &str) -> Outcome<Command> {
    let file = place.root.join(template);
    let text = at("read", &file, std::fs::read_to_string(&file))?;
    let architecture = architecture(&text)
        .ok_or_else(|| Failure::new(format!("{template} says neither `Architectures: [x86_64]` nor `[arm64]`.")))?;
    let programs = ensure_cargo_lambda(place)?;
    let mut cargo = run::cargo(place);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &place.target);
    cargo.args(["lambda", "build", "--locked", "--release", architecture]);
    Ok(cargo)
}

/// The office's functions as they are deployed, and the smallest function there is: their names and files.
pub fn build_all(place: &Place) -> Outcome<Vec<(&'static str, PathBuf)>> {
    for_lambda(place, "intake")?;
    let hello = ["--package", "dlo-lambda", "--features", "aws", "--example", HELLO];
    run::open(cargo_lambda(place, "infra/template.yaml")?.args(hello))?;
    let names = FUNCTIONS.iter().map(|(_, name)| *name).filter(|name| *name != DEMO);
    let file = |name: &'static str| (name, place.target.join("lambda").join(name).join("bootstrap"));
    Ok(std::iter::once(HELLO).chain(names).map(file).collect())
}

/// All functions for this machine, the demo's too, in one call: two would compile what they share twice, with other
/// features each. Gives their folder.
pub fn build_here(place: &Place) -> Outcome<PathBuf> {
    dashboard::ensure(place)?;
    let mut build = run::cargo(place);
    build.args(["build", "--locked", "--profile", "demo", "--package", "dlo-lambda", "--package", "dlo-local"]);
    build.args(["--features", "dlo-lambda/aws,dlo-local/aws", "--bins"]).env("CARGO_TARGET_DIR", &place.target);
    progress::watched(&mut build)?;
    Ok(place.target.join("demo"))
}

/// The same as the tests for AWS are built, which have compiled nearly all of it. They are slower, and would be four
/// times as large with what a debugger wants to know.
pub fn build_for_tests(place: &Place, tests: &[&str]) -> Outcome<PathBuf> {
    dashboard::ensure(place)?;
    let mut build = aws::cargo(place, "build");
    build.arg("--bins");
    for test in tests {
        build.args(["--test", test]);
    }
    progress::watched(&mut build)?;
    let folder = place.target.join("aws-functions");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    for (_, name) in FUNCTIONS {
        let (built, stripped) = (place.target.join("debug").join(name), folder.join(name));
        let mut strip = Command::new("strip");
        if run::captured(strip.arg("-o").arg(&stripped).arg(&built)).is_err() {
            at("copy", &built, std::fs::copy(&built, &stripped))?;
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::architecture;

    #[test]
    fn functions_are_built_for_what_their_template_says() {
        for (line, expected) in [
            ("    Architectures: [x86_64]", Some("--x86-64")),
            ("      Architectures: [arm64]", Some("--arm64")),
            ("    Architectures: [!Ref Architecture]", None),
            ("    Runtime: provided.al2023", None),
        ] {
            assert_eq!(architecture(&format!("Globals:\n{line}\n    MemorySize: 256\n")), expected, "{line}");
        }
        for template in [include_str!("../../infra/template.yaml"), include_str!("../../infra/demo.yaml")] {
            assert_eq!(template.matches("Architectures:").count(), 1, "one place says it");
            assert!(architecture(template).is_some());
        }
    }

    #[test]
    fn functions_for_lambda_survive_a_panic() {
        let manifest = include_str!("../../Cargo.toml");
        let release = manifest.split("\n[").find(|section| section.starts_with("profile.release]"));
        let says = release.is_some_and(|release| release.lines().any(|line| line == "panic = \"unwind\""));
        assert!(says, "where the profile says nothing cargo-lambda builds with panic = abort");
    }
}
