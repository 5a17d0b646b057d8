//! The steps for the dashboard: clippy and tests on wasm32, release build, budget.

use super::tally::{self, Tally};
use crate::dashboard::{self, budget};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::run;
use crate::tools::WebTools;
use crate::tools::browser::Browser;
use crate::tools::{aws, axe};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGE: &str = "dlo-dashboard";
/// Seconds. The runner's own limit of 20 is short for a cold Chromium on two busy cores.
const RUNNER_TIMEOUT: &str = "120";

pub fn clippy(paths: &Paths) -> Outcome<Tally> {
    let tools = WebTools::ensure(paths)?;
    let mut cargo = if tools.rust.has_clippy(paths) {
        let mut cargo = tools.cargo(paths);
        cargo.args(["clippy", "--locked", "--package", PACKAGE, "--target", TARGET]);
        cargo
    } else {
        // A toolchain without clippy: the same sources, checked for this machine.
        let mut cargo = run::cargo(paths);
        cargo.args(["clippy", "--locked", "--package", PACKAGE]);
        cargo.env("CARGO_TARGET_DIR", paths.dashboard_target());
        cargo
    };
    run::open(cargo.args(["--all-targets", "--", "-D", "warnings"]))?;
    Ok(Tally::default())
}

pub fn build(paths: &Paths) -> Outcome<Tally> {
    dashboard::ensure(paths)?;
    Ok(Tally::default())
}

/// Installs what steps of the waiting lane need, while others compile.
pub fn tools(paths: &Paths) -> Outcome<Tally> {
    Browser::ensure(paths)?;
    aws::ensure_sam(paths)?;
    aws::ensure_endpoints(paths)?;
    axe::ensure(paths)?;
    Ok(Tally::default())
}

pub fn budget(paths: &Paths) -> Outcome<Tally> {
    if !super::is_done("dashboard") {
        dashboard::ensure(paths)?;
    }
    let sizes = budget::measure(&paths.dist())?;
    sizes.print();
    sizes.within()?;
    Ok(Tally::default())
}

/// The dashboard's components, in Chromium. The model behind them is tested with the native crates.
pub fn components(paths: &Paths) -> Outcome<Tally> {
    tally::tests(&mut in_chromium(paths)?)
}

fn in_chromium(paths: &Paths) -> Outcome<Command> {
    let tools = WebTools::ensure(paths)?;
    let browser = Browser::ensure(paths)?;
    let runner = tools.bindgen.path.with_file_name("wasm-bindgen-test-runner");
    if !runner.is_file() {
        return Err(Failure::new(format!("{} is missing; it comes with wasm-bindgen-cli.", runner.display()))
            .remedy("Remove that wasm-bindgen, or run `cargo install wasm-bindgen-cli` again."));
    }
    let mut cargo = tools.cargo(paths);
    cargo
        .args(["test", "--locked", "--no-fail-fast", "--package", PACKAGE, "--target", TARGET, "--tests"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .env("WASM_BINDGEN_TEST_TIMEOUT", RUNNER_TIMEOUT)
        .env("WASM_BINDGEN_TEST_ONLY_WEB", "1");
    browser.export(&mut cargo);
    Ok(cargo)
}
