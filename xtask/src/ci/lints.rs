//! What clippy says of the crates, found while they are compiled.
//!
//! `cargo clippy` would check every dependency that the tests then compile: the AWS SDK twice, and Leptos. Here
//! `clippy-driver` takes rustc's place for the crates of the workspace. It compiles them without optimisation on the way,
//! as the profile `dev` does anyway; so programs in other profiles are compiled by rustc, and only its own warnings count.

use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::run;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The compilations: all native crates with AWS, the native programs without it, the dashboard, its bundler.
#[derive(Clone, Copy)]
pub enum Of {
    Everything,
    OneMachine,
    Dashboard,
    Bundler,
}

/// What cargo compiles the crates of the workspace with, in rustc's place.
pub const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";
const NATIVE: &[Of] = &[Of::Everything, Of::OneMachine];
const WEB: &[Of] = &[Of::Dashboard, Of::Bundler];

/// Lets clippy compile the crates of the workspace.
pub fn by_clippy(paths: &Paths, cargo: &mut Command) -> Outcome<()> {
    cargo.env(WRAPPER, driver(run::cleaned(Command::new("rustc"), paths))?);
    Ok(())
}

/// Returns the clippy of the toolchain of this `rustc`.
pub fn driver(mut rustc: Command) -> Outcome<PathBuf> {
    let sysroot = run::captured(rustc.args(["--print", "sysroot"]))?;
    let driver =
        PathBuf::from(sysroot.trim()).join("bin").join(format!("clippy-driver{}", std::env::consts::EXE_SUFFIX));
    if !driver.is_file() {
        return Err(Failure::new(format!("There is no clippy: {} is missing.", driver.display()))
            .remedy("Install it with: rustup component add clippy"));
    }
    Ok(driver)
}

/// Compiles with `cargo`, shows what the compiler says, and keeps its warnings for the step `clippy`. Returns cargo's
/// messages, one a line. A warning fails nothing here: the tests run in spite of it.
pub fn compile(paths: &Paths, cargo: &mut Command, of: Of) -> Outcome<Vec<Value>> {
    cargo.args(["--message-format", "json"]);
    let mut messages = Vec::new();
    let mut warnings = String::new();
    let ended = run::lines_of(cargo, |line| {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        // A library is compiled for its tests once more, and warned of once more.
        if let Some(text) = said(&message).filter(|text| !warnings.contains(*text)) {
            print!("{text}");
            warnings.push_str(text);
        }
        messages.push(message);
    });
    at("create", &paths.ci(), std::fs::create_dir_all(paths.ci()))?;
    at("write", &file(paths, of), std::fs::write(file(paths, of), &warnings))?;
    ended.map(|()| messages)
}

/// Fails if a compilation of native crates left warnings.
pub fn check_native(paths: &Paths) -> Outcome<()> {
    check(paths, NATIVE)
}

/// Fails if a compilation of the dashboard or its bundler left warnings.
pub fn check_web(paths: &Paths) -> Outcome<()> {
    check(paths, WEB)
}

fn check(paths: &Paths, all_of: &[Of]) -> Outcome<()> {
    let mut all = String::new();
    for &of in all_of {
        all.push_str(&at("read", &file(paths, of), std::fs::read_to_string(file(paths, of)))?);
    }
    print!("{all}");
    if all.is_empty() { Ok(()) } else { fail("The compiler or clippy warns. What they say stands above.") }
}

fn file(paths: &Paths, of: Of) -> PathBuf {
    paths.ci().join(match of {
        Of::Everything => "warnings",
        Of::OneMachine => "warnings-one-machine",
        Of::Dashboard => "warnings-dashboard",
        Of::Bundler => "warnings-bundler",
    })
}

/// What the compiler says in a message of cargo. Cargo passes on no warnings of dependencies.
fn said(message: &Value) -> Option<&str> {
    if message["reason"] != "compiler-message" {
        return None;
    }
    message["message"]["rendered"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_a_compiler_says_is_a_warning() {
        let warning =
            json!({"reason": "compiler-message", "message": {"level": "warning", "rendered": "warning: x\n"}});
        assert_eq!(said(&warning), Some("warning: x\n"));
        assert_eq!(said(&json!({"reason": "compiler-artifact", "executable": null})), None);
        assert_eq!(said(&json!({"reason": "build-finished", "success": true})), None);
    }
}
