//! The steps for native crates: format, clippy, tests, browser tests.

use super::tally::{self, Tally};
use super::targets::Targets;
use crate::failure::Outcome;
use crate::place::Place;
use crate::tools::axe;
use crate::tools::browser::Browser;
use crate::{dashboard, demo, run};
use std::process::Command;

pub fn format(place: &Place) -> Outcome<Tally> {
    run::open(run::cargo(place).args(["fmt", "--all", "--", "--check"]))?;
    Ok(Tally::default())
}

pub fn clippy(place: &Place) -> Outcome<Tally> {
    run::open(cargo(place, "clippy").args(["--all-targets", "--", "-D", "warnings"]))?;
    Ok(Tally::default())
}

/// Everything but the browser tests. One call for all crates: another selection of crates would
/// have other features, and compile the dependencies again.
pub fn test(place: &Place) -> Outcome<Tally> {
    let targets = Targets::find(place)?;
    let mut cargo = test_command(place)?;
    cargo.args(["--lib", "--bins"]);
    named(&mut cargo, &targets.other);
    tally::tests(&mut cargo)
}

pub fn doc_test(place: &Place) -> Outcome<Tally> {
    tally::tests(cargo(place, "test").args(["--no-fail-fast", "--doc"]))
}

pub fn browser(place: &Place) -> Outcome<Tally> {
    let targets = Targets::find(place)?;
    if targets.browser.is_empty() {
        return Ok(Tally::default());
    }
    let browser = Browser::ensure(place)?;
    axe::ensure(place)?;
    let mut cargo = test_command(place)?;
    browser.export(&mut cargo);
    named(&mut cargo, &targets.browser);
    // Two Chromiums on two cores miss each other's deadlines.
    let mut total = tally::tests(cargo.env("RUST_TEST_THREADS", "1"))?;
    // Issuers are a matter of the office on AWS.
    let mut cargo = crate::aws::cargo(place, "test");
    browser.export(&mut cargo);
    total.add(tally::tests(cargo.args(["--test", "browser_issuer"]).env("RUST_TEST_THREADS", "1"))?);
    Ok(total)
}

/// `cargo test`, with the office that the process tests start.
fn test_command(place: &Place) -> Outcome<Command> {
    dashboard::ensure(place)?;
    demo::build_office(place)?;
    let mut cargo = cargo(place, "test");
    cargo.arg("--no-fail-fast").env("DLO_BIN", place.dlo());
    Ok(cargo)
}

fn named(cargo: &mut Command, targets: &[String]) {
    for target in targets {
        cargo.args(["--test", target]);
    }
}

/// In ci the lock file decides: a change that forgot it must fail.
fn cargo(place: &Place, subcommand: &str) -> Command {
    let mut cargo = run::cargo(place);
    cargo.args([subcommand, "--locked"]).env("CARGO_TARGET_DIR", &place.target);
    cargo
}
