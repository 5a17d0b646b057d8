//! `cargo xtask simulate`: the office under simulated faults, by seeds.

use crate::failure::{Outcome, fail};
use crate::paths::Paths;
use crate::{native, run};
use std::process::ExitCode;

pub fn command(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    let mut cargo = native::plain(paths, "run");
    cargo.args(["--quiet", "--profile", "demo", "--package", "dlo-simulation", "--bin", "simulate", "--"]);
    match run::open(cargo.args(args)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) => fail("The simulation found a broken promise, or it does not compile; see above."),
    }
}
