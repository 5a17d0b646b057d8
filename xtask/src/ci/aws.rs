//! The step for the adapters for AWS: clippy and conformance suites, on servers that are started for each run.

use super::tally::{self, Tally};
use crate::aws::cargo;
use crate::failure::Outcome;
use crate::place::Place;
use crate::run;
use crate::tools::aws;
use std::process::Command;

/// The test targets that need the feature `aws`.
const TARGETS: &[&str] = &["aws_consumers", "aws_office", "aws_open", "aws_queue", "aws_store"];

/// What the templates are.
const TEMPLATES: &[&str] = &["infra/template.yaml", "infra/demo.yaml"];

pub fn templates(place: &Place) -> Outcome<Tally> {
    let programs = aws::ensure_sam(place)?;
    for template in TEMPLATES {
        let mut lint = run::cleaned(Command::new(programs.join("cfn-lint")), place);
        run::open(lint.arg(template))?;
        let mut validate = run::cleaned(Command::new(programs.join("sam")), place);
        // A region decides which resources exist; nothing is asked of it.
        validate.env("AWS_REGION", "us-east-1").env("SAM_CLI_TELEMETRY", "0");
        run::open(validate.args(["validate", "--lint", "--template-file", template]))?;
    }
    Ok(Tally::default())
}

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

pub fn stack(place: &Place) -> Outcome<Tally> {
    crate::aws::check(place, tally::tests)
}
