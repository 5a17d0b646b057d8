//! The steps for the dashboard: clippy and tests on wasm32, release build, budget.

use super::lints;
use super::tally::{self, Tally};
use crate::dashboard::{self, PACKAGE, TARGET, budget};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::tools::WebTools;
use crate::tools::browser::Browser;
use crate::tools::{self, aws, axe, lambda_runtimes, schemathesis, simulator};
use crate::{run, say};
use std::process::Command;

/// Seconds. The runner's own limit of 20 is short for a cold Chromium on two busy cores.
const RUNNER_TIMEOUT: &str = "120";

/// Compiles the dashboard's programs and tests with clippy, and fails on every warning.
pub fn clippy(paths: &Paths) -> Outcome<Tally> {
    let tools = WebTools::ensure(paths)?;
    match lints::driver(tools.rust.rustc(paths)) {
        Ok(driver) => {
            let mut cargo = tools.cargo(paths);
            cargo.args(["build", "--locked", "--package", PACKAGE, "--target", TARGET, "--bins", "--tests"]);
            lints::compile(paths, cargo.env(lints::WRAPPER, driver), lints::Of::Dashboard)?;
        }
        // A toolchain without clippy: the same sources, compiled for this machine.
        Err(_) => {
            let mut cargo = run::cargo(paths);
            cargo.args(["build", "--locked", "--package", PACKAGE, "--bins", "--tests"]);
            cargo.env("CARGO_TARGET_DIR", paths.dashboard_target());
            lints::by_clippy(paths, &mut cargo)?;
            lints::compile(paths, &mut cargo, lints::Of::Dashboard)?;
        }
    }
    let mut bundler = dashboard::bundler_build(paths, dashboard::FOR_TESTS);
    lints::by_clippy(paths, &mut bundler)?;
    lints::compile(paths, &mut bundler, lints::Of::Bundler)?;
    lints::check_web(paths)?;
    Ok(Tally::default())
}

pub fn build(paths: &Paths) -> Outcome<Tally> {
    dashboard::ensure_before_tests(paths)?;
    Ok(Tally::default())
}

/// Installs what steps of the waiting track need, while others compile. One that is missing keeps no other away: only the
/// steps that use it fail.
pub fn tools(paths: &Paths) -> Outcome<Tally> {
    let installed = [
        Browser::ensure(paths).map(drop),
        aws::ensure_sam(paths).map(drop),
        aws::ensure_checkov(paths).map(drop),
        simulator::ensure(paths).map(drop),
        aws::ensure_endpoints(paths).map(drop),
        axe::ensure(paths).map(drop),
        schemathesis::ensure(paths).map(drop),
        lambda_runtimes::ensure(paths).map(drop),
    ];
    let failures: Vec<Failure> = installed.into_iter().filter_map(Result::err).collect();
    failures.iter().skip(1).for_each(say::failure);
    failures.into_iter().next().map_or(Ok(Tally::default()), Err)
}

pub fn budget(paths: &Paths) -> Outcome<Tally> {
    if !super::is_done("dashboard") {
        dashboard::ensure(paths)?;
    }
    if !tools::wasm_opt_is_there(paths) {
        return Err(Failure::new("The budget cannot be checked without wasm-opt, which comes from npm.")
            .remedy("Install Node.js 18 or newer with npm, then start again."));
    }
    let sizes = budget::measure(&paths.dist())?;
    sizes.print();
    sizes.within()?;
    Ok(Tally::default())
}

/// `trunk serve` is for people who write pages; this shows that Trunk.toml still works, where Trunk is installed.
pub fn trunk(paths: &Paths) -> Outcome<Tally> {
    let Some(trunk) = tools::on_path("trunk") else {
        return Ok(Tally::skipped("trunk build", "Trunk is not installed here"));
    };
    let tools = WebTools::ensure(paths)?;
    let mut build = tools.prepared(run::cleaned(Command::new(trunk), paths), paths);
    run::open(build.args(["build", "--dist"]).arg(paths.dashboard_target().join("trunk")))?;
    Ok(Tally::passed(1))
}

/// The dashboard's components, in Chromium. The model behind them is tested with the native crates.
pub fn components(paths: &Paths) -> Outcome<Tally> {
    tally::tests(&mut in_chromium(paths)?)
}

fn in_chromium(paths: &Paths) -> Outcome<Command> {
    let tools = WebTools::ensure(paths)?;
    let browser = Browser::ensure(paths)?;
    let bundler = dashboard::bundler_for_tests(paths)?;
    let mut cargo = tools.cargo(paths);
    // As the step `clippy-web` compiled them.
    if let Ok(driver) = lints::driver(tools.rust.rustc(paths)) {
        cargo.env(lints::WRAPPER, driver);
    }
    cargo
        .args(["test", "--locked", "--no-fail-fast", "--package", PACKAGE, "--target", TARGET, "--tests"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", format!("{} test", bundler.display()))
        .env("WASM_BINDGEN_TEST_TIMEOUT", RUNNER_TIMEOUT)
        .env("WASM_BINDGEN_TEST_ONLY_WEB", "1");
    browser.export(&mut cargo);
    Ok(cargo)
}
