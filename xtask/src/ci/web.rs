//! The steps for the dashboard: clippy and tests on wasm32, release build, budget.

use super::tally::{self, Tally};
use crate::dashboard::{self, budget};
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::run;
use crate::tools::WebTools;
use crate::tools::browser::Browser;
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGE: &str = "dlo-dashboard";
/// Seconds. The runner's own limit of 20 is short for a cold Chromium on two busy cores.
const RUNNER_TIMEOUT: &str = "120";

pub fn clippy(place: &Place) -> Outcome<Tally> {
    let tools = WebTools::ensure(place)?;
    let mut cargo = if tools.rust.has_clippy(place) {
        let mut cargo = tools.cargo(place);
        cargo.args(["clippy", "--locked", "--package", PACKAGE, "--target", TARGET]);
        cargo
    } else {
        // A toolchain without clippy: the same sources, checked for this machine.
        let mut cargo = run::cargo(place);
        cargo.args(["clippy", "--locked", "--package", PACKAGE]);
        cargo.env("CARGO_TARGET_DIR", place.dashboard_target());
        cargo
    };
    run::open(cargo.args(["--all-targets", "--", "-D", "warnings"]))?;
    Ok(Tally::default())
}

pub fn build(place: &Place) -> Outcome<Tally> {
    dashboard::ensure(place)?;
    Ok(Tally::default())
}

pub fn budget(place: &Place) -> Outcome<Tally> {
    dashboard::ensure(place)?;
    let sizes = budget::measure(&place.dist())?;
    sizes.print();
    sizes.within()?;
    Ok(Tally::default())
}

/// The logic runs natively, the components in Chromium.
pub fn components(place: &Place) -> Outcome<Tally> {
    let mut total = Tally::default();
    if place.root.join("dashboard/src/lib.rs").is_file() {
        let mut native = run::cargo(place);
        native.args(["test", "--locked", "--no-fail-fast", "--package", PACKAGE, "--lib"]);
        total.add(tally::tests(native.env("CARGO_TARGET_DIR", &place.target))?);
    }
    total.add(tally::tests(&mut in_chromium(place)?)?);
    Ok(total)
}

fn in_chromium(place: &Place) -> Outcome<Command> {
    let tools = WebTools::ensure(place)?;
    let browser = Browser::ensure(place)?;
    let runner = tools.bindgen.path.with_file_name("wasm-bindgen-test-runner");
    if !runner.is_file() {
        return Err(Failure::new(format!("{} is missing; it comes with wasm-bindgen-cli.", runner.display()))
            .remedy("Remove that wasm-bindgen, or run `cargo install wasm-bindgen-cli` again."));
    }
    let mut cargo = tools.cargo(place);
    cargo
        .args(["test", "--locked", "--no-fail-fast", "--package", PACKAGE, "--target", TARGET, "--tests"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .env("WASM_BINDGEN_TEST_TIMEOUT", RUNNER_TIMEOUT)
        .env("WASM_BINDGEN_TEST_ONLY_WEB", "1");
    browser.export(&mut cargo);
    Ok(cargo)
}
