//! The steps of `cargo ci`, in the order in which they start.

use super::tally::Tally;
use super::{api, aws, features, fuzz, rust, supply, web, witness};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tidy;

pub struct Step {
    pub name: &'static str,
    pub what: &'static str,
    pub run: fn(&Paths) -> Outcome<Tally>,
    /// Steps that must have passed before.
    pub needs: &'static [&'static str],
    pub lane: Lane,
}

/// One step of each lane runs at a time, beside those of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Compiles or computes what other steps wait for.
    First,
    /// The dashboard, which other steps wait for, too: its last crate takes one core for minutes.
    Dashboard,
    /// What nobody waits for, in the time that the other lanes leave.
    Fill,
    /// Installs, or starts a browser: two on two cores miss each other's deadlines.
    Browser,
    /// Starts programs and mostly waits for them.
    Wait,
}

impl Lane {
    /// The priority that its steps run at, as `nice` has it: tests that run beside compilers meet their deadlines.
    pub fn nice(self) -> Option<&'static str> {
        match self {
            Lane::First | Lane::Dashboard => Some("10"),
            Lane::Fill => Some("19"),
            Lane::Browser | Lane::Wait => None,
        }
    }
}

/// Each step builds or installs what it needs, so that it also runs alone.
pub const STEPS: &[Step] = &[
    step("format", "cargo fmt --check", rust::format, &[], Lane::First),
    step("tidy", "the rules of this repository that a machine can check", run_tidy, &[], Lane::First),
    step("crates", "compiles everything native, without the dashboard's files", rust::crates, &[], Lane::First),
    step("dashboard", "the dashboard's release build", web::build, &[], Lane::Dashboard),
    step("tools", "installs what the later steps need", web::tools, &[], Lane::Browser),
    step("budget", "the dashboard's first-load bytes", web::budget, &["dashboard"], Lane::Fill),
    step("fuzz", "the readers of letters, on a fixed seed", fuzz::fixed, &[], Lane::Fill),
    step("clippy-web", "clippy on the dashboard", web::clippy, &[], Lane::Fill),
    step("trunk", "Trunk.toml, where Trunk is installed", web::trunk, &["dashboard"], Lane::Fill),
    step("components", "the dashboard's components in headless Chromium", web::components, &["tools"], Lane::Fill),
    step("template", "the templates: linters, rights, idle costs, runbooks", aws::templates, &["tools"], Lane::Wait),
    step("supply", "licences, sources, duplicates, advisories, SBOM", supply::check, &["tools"], Lane::Wait),
    step("build", "compiles what embeds the dashboard", rust::build, &["crates", "dashboard"], Lane::First),
    step(
        "one-machine",
        "compiles `dlo` without AWS, and the simulation",
        rust::one_machine,
        &["dashboard"],
        Lane::First,
    ),
    step("clippy", "what clippy said of everything native", rust::clippy, &["build", "one-machine"], Lane::First),
    step("stack", "the deployed stack, on an endpoint of this machine", aws::stack, &["build", "tools"], Lane::Browser),
    step("aws", "the adapters for AWS, on endpoints of this machine", aws::adapters, &["build", "tools"], Lane::Wait),
    step("test", "unit, property and conformance tests", rust::test, &["build"], Lane::First),
    step("docs", "the documents' links and commands", rust::docs, &["build", "one-machine"], Lane::First),
    step("doc-test", "the examples in the documentation", rust::doc_test, &["build"], Lane::First),
    step("witness", "the layer behind real runtimes", witness::layer, &["build", "tools"], Lane::Wait),
    step("process", "the real program, killed at any moment", rust::process, &["build", "one-machine"], Lane::Wait),
    step(
        "schemathesis",
        "the API, called with inputs generated from its document",
        api::fixed,
        &["build", "one-machine", "tools"],
        Lane::Wait,
    ),
    step("browser", "the story in a real browser", rust::browser, &["build", "one-machine", "tools"], Lane::Browser),
    step("features", "each feature of the published crates alone", features::cheap, &["build"], Lane::Fill),
    step("model", "every state of the replay's model", rust::model, &["one-machine"], Lane::Fill),
    step("simulation", "10,000 seeds of simulated faults", rust::simulation, &["one-machine"], Lane::Fill),
];

const fn step(
    name: &'static str,
    what: &'static str,
    run: fn(&Paths) -> Outcome<Tally>,
    needs: &'static [&'static str],
    lane: Lane,
) -> Step {
    Step { name, what, run, needs, lane }
}

fn run_tidy(paths: &Paths) -> Outcome<Tally> {
    tidy::check(paths)?;
    Ok(Tally::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_needs_only_earlier_ones() {
        for (at, step) in STEPS.iter().enumerate() {
            for need in step.needs {
                assert!(STEPS[..at].iter().any(|earlier| earlier.name == *need), "{} needs {need}", step.name);
            }
            assert_eq!(STEPS.iter().filter(|other| other.name == step.name).count(), 1, "{}", step.name);
        }
    }
}
