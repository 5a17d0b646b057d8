//! The steps for native crates: format, clippy, tests, the simulation.

use super::built::{self, Program};
use super::lints;
use super::tally::{self, Tally};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tools::axe;
use crate::tools::browser::Browser;
use crate::{dashboard, demo, docs, native, run, say};
use std::process::Command;

/// Test programs with a step of their own: they start processes, endpoints or a browser, and mostly wait for them.
const PROCESS: &[(&str, &str)] = &[("dlo-tests", "process")];
pub const AWS: &[(&str, &str)] = &[("dlo-tests", "aws")];
pub const STACK: &[(&str, &str)] = &[("dlo-tests", "stack"), ("dlo-browser", "stack")];
pub const WITNESS: &[(&str, &str)] = &[("dlo-witness", "lambda")];
const BROWSER: &[(&str, &str)] = &[("dlo-browser", "story"), ("dlo-browser", "issuer")];
/// Seeds that every run of `cargo ci` simulates.
const SEEDS: &str = "10000";

pub fn format(paths: &Paths) -> Outcome<Tally> {
    run::open(run::cargo(paths).args(["fmt", "--all", "--", "--check"]))?;
    Ok(Tally::default())
}

/// Fails on every warning of the native crates.
pub fn clippy(paths: &Paths) -> Outcome<Tally> {
    built::ensure(paths)?;
    ensure_one_machine(paths)?;
    lints::check_native(paths)?;
    Ok(Tally::default())
}

/// What takes long about the step `build`. It runs beside the dashboard's build, of which few programs need the files.
pub fn crates(paths: &Paths) -> Outcome<Tally> {
    built::build(paths)?;
    Ok(Tally::default())
}

pub fn build(paths: &Paths) -> Outcome<Tally> {
    dashboard_if_it_builds(paths)?;
    built::build(paths)?;
    Ok(Tally::default())
}

/// The programs that run without AWS. One call: two would compile what they share with other features.
pub fn one_machine(paths: &Paths) -> Outcome<Tally> {
    native::refuse_sdk_in_dlo(paths)?;
    dashboard_if_it_builds(paths)?;
    let mut cargo = demo::cargo(paths, &["--package", "dlo", "--package", "dlo-simulation", "--bins"]);
    lints::compile(paths, &mut cargo, lints::Of::OneMachine)?;
    Ok(Tally::default())
}

/// Builds the dashboard, unless this run has seen that it does not build: most tests need none of its files, and those
/// that do need its step.
fn dashboard_if_it_builds(paths: &Paths) -> Outcome<()> {
    if super::has_failed("dashboard") {
        say::warning("The dashboard does not build. The programs embed what `dashboard/dist` has from before.");
        return Ok(());
    }
    dashboard::ensure(paths).map(drop)
}

/// Every test program without a step of its own.
pub fn test(paths: &Paths) -> Outcome<Tally> {
    let programs = built::ensure(paths)?;
    let has_step = |program: &Program| {
        let steps = [PROCESS, AWS, STACK, WITNESS, BROWSER].into_iter().flatten();
        steps.into_iter().any(|(package, target)| program.package == *package && program.target == *target)
    };
    let own: Vec<&Program> = programs.iter().filter(|program| !has_step(program)).collect();
    built::run_all(&own, |_| Ok(()))
}

pub fn doc_test(paths: &Paths) -> Outcome<Tally> {
    let mut cargo = native::cargo(paths, "test");
    // As the step `build` compiled what the examples use.
    lints::by_clippy(paths, &mut cargo)?;
    tally::tests(cargo.args(["--no-fail-fast", "--doc"]))
}

/// The documents' links and commands; the short commands are run.
pub fn docs(paths: &Paths) -> Outcome<Tally> {
    built::ensure(paths)?;
    ensure_one_machine(paths)?;
    let folder = paths.target.join("debug");
    let steps: Vec<&str> = super::STEPS.iter().map(|step| step.name).collect();
    let xtask = |args: &[String]| crate::read(args).map(drop);
    docs::check(paths, &docs::Known { xtask: &xtask, steps: &steps, dlo: &folder.join("dlo") })?;
    docs::run_short(paths, &folder).map(Tally::passed)
}

/// Tests that start and kill the real program.
pub fn process(paths: &Paths) -> Outcome<Tally> {
    let programs = built::ensure(paths)?;
    ensure_one_machine(paths)?;
    built::run_all(&built::chosen(&programs, PROCESS)?, |command| {
        command.env("DLO_BIN", paths.dlo());
        Ok(())
    })
}

pub fn browser(paths: &Paths) -> Outcome<Tally> {
    let browser = Browser::ensure(paths)?;
    axe::ensure(paths)?;
    let programs = built::ensure(paths)?;
    ensure_one_machine(paths)?;
    built::run_all(&built::chosen(&programs, BROWSER)?, |command| {
        browser.export(command);
        // Two Chromiums on two cores miss each other's deadlines.
        command.env("DLO_BIN", paths.dlo()).env("RUST_TEST_THREADS", "1");
        Ok(())
    })
}

pub fn model(paths: &Paths) -> Outcome<Tally> {
    simulate(paths, &["--model"])
}

pub fn simulation(paths: &Paths) -> Outcome<Tally> {
    simulate(paths, &["--seeds", SEEDS])
}

fn simulate(paths: &Paths, args: &[&str]) -> Outcome<Tally> {
    ensure_one_machine(paths)?;
    let mut simulate = run::cleaned(Command::new(paths.demo_program("simulate")), paths);
    run::open(simulate.args(args))?;
    Ok(Tally::passed(1))
}

pub fn ensure_one_machine(paths: &Paths) -> Outcome<()> {
    if super::is_done("one-machine") { Ok(()) } else { one_machine(paths).map(drop) }
}
