//! `cargo xtask simulate`: the office in bad weather, by seeds.

use crate::failure::{Outcome, fail};
use crate::place::Place;
use crate::{dashboard, run};
use std::process::ExitCode;

/// Seeds that every run of `cargo ci` tells.
pub const CI_SEEDS: &str = "10000";

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    // `dlo` carries the dashboard, and the simulation is built with it.
    dashboard::ensure(place)?;
    let mut cargo = run::cargo(place);
    cargo.args(["run", "--quiet", "--profile", "demo", "--package", "dlo-tests", "--bin", "simulate", "--"]);
    cargo.args(args).env("CARGO_TARGET_DIR", &place.target);
    match run::open(&mut cargo) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) => fail("The simulation has broken a promise, or could not be built; see above."),
    }
}

pub fn ci(place: &Place) -> Outcome<crate::ci::Tally> {
    command(place, &["--model".into()])?;
    command(place, &["--seeds".into(), CI_SEEDS.into()])?;
    Ok(crate::ci::Tally { passed: 2, failed: 0 })
}
