//! `cargo xtask function Intake <folder>`: builds the functions and copies one of them to where `sam build` expects it.
//! `cargo xtask function Dlo <folder>` does the same with the program `dlo`, for a release.

use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::aws::ensure_cargo_lambda;
use crate::{Work, dashboard, layer, native, progress, run};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Their logical ids in the templates, and their binaries. The last is the demo's.
const FUNCTIONS: &[(&str, &str)] =
    &[("Api", "api"), ("Intake", "intake"), ("Replay", "replay"), ("Sweep", "sweep"), ("OrdersConsumer", DEMO)];
const DEMO: &str = "orders";
const HELLO: &str = "hello";
/// The program `dlo`, for releases: built as the functions are, it runs on any Linux of their architecture.
const PROGRAM: (&str, &str) = ("Dlo", "dlo");
/// The folder of functions that are built already: those for an endpoint on this machine, where they run.
pub const BUILT: &str = "DLO_FUNCTIONS_BUILT";

pub fn read(args: &[String]) -> Outcome<Work> {
    let [id, folder] = args else {
        return Err(Failure::new("Usage: cargo xtask function <id in the template> <folder>."));
    };
    let (id, folder) = (id.clone(), PathBuf::from(folder));
    if layer::ids().any(|layer| layer == id) {
        return Ok(Box::new(move |paths| layer::build(paths, &id, &folder).map(|()| ExitCode::SUCCESS)));
    }
    if id == PROGRAM.0 {
        return Ok(Box::new(move |paths| copy(&for_lambda(paths, PROGRAM.1)?, &folder.join(PROGRAM.1))));
    }
    let Some((_, name)) = FUNCTIONS.iter().find(|(known, _)| *known == id) else {
        let known: Vec<&str> = FUNCTIONS.iter().map(|(id, _)| *id).chain(layer::ids()).chain([PROGRAM.0]).collect();
        return Err(Failure::new(format!("There is no function `{id}`; there are {}.", known.join(", "))));
    };
    Ok(Box::new(move |paths| {
        let built = match std::env::var_os(BUILT) {
            Some(folder) => PathBuf::from(folder).join(name),
            None => for_lambda(paths, name)?,
        };
        copy(&built, &folder.join("bootstrap"))
    }))
}

fn copy(built: &Path, target: &Path) -> Outcome<ExitCode> {
    at("copy", built, std::fs::copy(built, target)).map(|_| ExitCode::SUCCESS)
}

/// All of the office at once: they share nearly all of what is compiled, and the next call finds its own done.
const OFFICE: &[&str] = &["--package", "dlo-functions", "--bins"];

fn for_lambda(paths: &Paths, name: &str) -> Outcome<PathBuf> {
    let template = if name == DEMO { "infra/demo.yaml" } else { "infra/template.yaml" };
    let mut cargo = cargo_lambda(paths, &chosen_architecture(paths, template)?)?;
    if name != DEMO {
        dashboard::ensure(paths)?;
    }
    if name == DEMO || name == PROGRAM.1 {
        cargo.args(["--package", "dlo", "--features", "aws", "--bin", name]);
    } else {
        cargo.args(OFFICE);
    }
    run::open(&mut cargo)?;
    Ok(paths.target.join("lambda").join(name).join("bootstrap"))
}

/// The variable that chooses another architecture than the template's default. `sam build` does not tell the build which
/// value its parameter has.
const ARCHITECTURE: &str = "ARCHITECTURE";

/// Returns the flag of cargo-lambda for an architecture of Lambda.
fn flag(architecture: &str) -> Option<&'static str> {
    match architecture {
        "x86_64" => Some("--x86-64"),
        "arm64" => Some("--arm64"),
        _ => None,
    }
}

/// Returns the default of a template's parameter `Architecture`.
fn default_architecture(template: &str) -> Option<&str> {
    let parameter = template.split_once("\n  Architecture:\n")?.1;
    parameter.lines().find_map(|line| line.strip_prefix("    Default: "))
}

/// Returns the architecture of this machine, in Lambda's words.
fn own_architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" }
}

/// Returns the architecture to build for: what the variable says, or the default of the template's parameter.
fn chosen_architecture(paths: &Paths, template: &str) -> Outcome<String> {
    if let Ok(chosen) = std::env::var(ARCHITECTURE) {
        return Ok(chosen);
    }
    let file = paths.root.join(template);
    let text = at("read", &file, std::fs::read_to_string(&file))?;
    let missing = || Failure::new(format!("The parameter Architecture of {template} has no default."));
    default_architecture(&text).map(str::to_owned).ok_or_else(missing)
}

/// Cargo as it builds for Lambda.
fn cargo_lambda(paths: &Paths, architecture: &str) -> Outcome<Command> {
    let architecture = flag(architecture).ok_or_else(|| {
        Failure::new(format!("Lambda has no architecture `{architecture}`."))
            .remedy(format!("Set {ARCHITECTURE} to arm64 or x86_64, or leave it out."))
    })?;
    let programs = ensure_cargo_lambda(paths)?;
    let mut cargo = run::cargo(paths);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&inherited)));
    cargo.env("PATH", path.unwrap_or(inherited)).env("CARGO_TARGET_DIR", &paths.target);
    cargo.args(["lambda", "build", "--locked", "--release", architecture]);
    Ok(cargo)
}

/// The office's functions as for Lambda, but for this machine's architecture, so that they run here, and the smallest
/// function there is: their names and files.
pub fn build_all(paths: &Paths) -> Outcome<Vec<(&'static str, PathBuf)>> {
    dashboard::ensure(paths)?;
    run::open(cargo_lambda(paths, own_architecture())?.args(OFFICE))?;
    let hello = ["--package", "dlo-functions", "--example", HELLO];
    run::open(cargo_lambda(paths, own_architecture())?.args(hello))?;
    let names = FUNCTIONS.iter().map(|(_, name)| *name).filter(|name| *name != DEMO);
    let file = |name: &'static str| (name, paths.target.join("lambda").join(name).join("bootstrap"));
    Ok(std::iter::once(HELLO).chain(names).map(file).collect())
}

/// Builds all functions for this machine, the demo's too, and the witness, in one call: two would compile what they share
/// twice, with other features each. Returns their folder.
pub fn build_here(paths: &Paths) -> Outcome<PathBuf> {
    dashboard::ensure(paths)?;
    let mut build = native::plain(paths, "build");
    build.args([
        "--profile",
        "demo",
        "--package",
        "dlo-functions",
        "--package",
        "dlo",
        "--package",
        "dlo-witness",
        "--features",
        "dlo/aws",
        "--bins",
    ]);
    progress::watched(&mut build)?;
    Ok(paths.target.join("demo"))
}

/// Copies the functions that the step `build` of `cargo ci` has compiled, without debug information: they would be
/// four times as large with it. Returns their folder.
pub fn strip_built(paths: &Paths) -> Outcome<PathBuf> {
    let folder = paths.target.join("aws-functions");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    for (_, name) in FUNCTIONS {
        let (built, stripped) = (paths.target.join("debug").join(name), folder.join(name));
        let mut strip = Command::new("strip");
        if run::captured(strip.arg("-o").arg(&stripped).arg(&built)).is_err() {
            at("copy", &built, std::fs::copy(&built, &stripped))?;
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::{default_architecture, flag};

    #[test]
    fn functions_are_built_for_what_their_template_says() {
        for template in [include_str!("../../infra/template.yaml"), include_str!("../../infra/demo.yaml")] {
            assert_eq!(default_architecture(template), Some("arm64"));
            assert_eq!(template.matches("Architectures: [!Ref Architecture]").count(), 1, "one place uses it");
            let (_, allowed) = template.split_once("    AllowedValues: [arm64, x86_64]").expect("the parameter");
            assert!(!allowed.is_empty() && ["arm64", "x86_64"].iter().all(|value| flag(value).is_some()));
        }
        assert!(flag("riscv64").is_none());
        assert!(default_architecture("Parameters:\n  Other:\n    Default: arm64\n").is_none());
    }

    #[test]
    fn functions_for_lambda_survive_a_panic() {
        let manifest = include_str!("../../Cargo.toml");
        let release = manifest.split("\n[").find(|section| section.starts_with("profile.release]"));
        let says = release.is_some_and(|release| release.lines().any(|line| line == "panic = \"unwind\""));
        assert!(says, "where the profile says nothing cargo-lambda builds with panic = abort");
    }
}
