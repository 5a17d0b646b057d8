//! `cargo xtask simulate`: the office under simulated faults, by seeds.

use crate::failure::{Failure, Outcome, fail};
use crate::paths::Paths;
use crate::{Work, native, run};
use std::process::ExitCode;

/// How the program reads its arguments.
#[path = "../../tests/simulation/src/arguments.rs"]
mod arguments;

pub fn read(args: &[String]) -> Outcome<Work> {
    arguments::read(args).map_err(Failure::new)?;
    let args = args.to_vec();
    Ok(Box::new(move |paths| command(paths, &args)))
}

fn command(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    let mut cargo = native::plain(paths, "run");
    cargo.args(["--quiet", "--profile", "demo", "--package", "dlo-simulation", "--bin", "simulate", "--"]);
    match run::open(cargo.args(args)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) => fail("The simulation found a broken promise, or it does not compile; see above."),
    }
}
