//! The step for the adapters for AWS: clippy and conformance suites, on servers that are started for each run.

use super::tally::{self, Tally};
use crate::failure::Outcome;
use crate::place::Place;
use crate::run;
use crate::tools::aws;
use std::process::Command;

/// The test targets that need the feature `aws`.
const TARGETS: &[&str] = &["aws_office", "aws_queue", "aws_store"];

pub fn test(place: &Place) -> Outcome<Tally> {
    aws::ensure_endpoints(place)?;
    run::open(cargo(place, "clippy").args(["--all-targets", "--", "-D", "warnings"]))?;
    let mut total =
        tally::tests(cargo(place, "test").args(["--no-fail-fast", "--package", "dlo-lambda", "--lib", "aws"]))?;
    let mut suites = cargo(place, "test");
    suites.arg("--no-fail-fast");
    for target in TARGETS {
        suites.args(["--test", target]);
    }
    total.add(tally::tests(&mut suites)?);
    Ok(total)
}

fn cargo(place: &Place, subcommand: &str) -> Command {
    let mut cargo = run::cargo(place);
    cargo.args([subcommand, "--locked", "--package", "dlo-tests", "--package", "dlo-lambda"]);
    cargo.args(["--features", "dlo-tests/aws,dlo-lambda/aws"]).env("CARGO_TARGET_DIR", &place.target);
    cargo
}
