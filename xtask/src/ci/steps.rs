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
    /// Steps that must have ended before, whether they passed or not.
    pub after: &'static [&'static str],
    pub track: Track,
}

/// One step of each track runs at a time, beside those of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// Compiles or computes what other steps wait for.
    First,
    /// The dashboard, which other steps wait for, too: its last crate takes one core for minutes.
    Dashboard,
    /// What nobody waits for, in the time that the other tracks leave.
    Fill,
    /// Installs, or starts a browser: two on two cores miss each other's deadlines.
    Browser,
    /// Starts programs and mostly waits for them.
    Wait,
}

impl Track {
    /// The priority that its steps run at, as `nice` has it: tests that run beside compilers meet their deadlines.
    pub fn nice(self) -> Option<&'static str> {
        match self {
            Track::First | Track::Dashboard => Some("10"),
            Track::Fill => Some("19"),
            Track::Browser | Track::Wait => None,
        }
    }
}

/// Each step builds or installs what it needs, so that it also runs alone.
///
/// A step needs only what it cannot do without. The tests of native crates go on where the dashboard does not build or a
/// tool is missing.
pub const STEPS: &[Step] = &[
    step("format", "cargo fmt --check", rust::format, Track::First),
    step("tidy", "the rules of this repository that a machine can check", run_tidy, Track::First),
    step("crates", "compiles everything native, without the dashboard's files", rust::crates, Track::First),
    step("dashboard", "the dashboard's release build", web::build, Track::Dashboard),
    step("tools", "installs what the later steps need", web::tools, Track::Browser),
    step("budget", "the dashboard's first-load bytes", web::budget, Track::Fill).needs(&["dashboard"]),
    step("fuzz", "the readers of letters, on a fixed seed", fuzz::fixed, Track::Fill),
    step("clippy-web", "clippy on the dashboard", web::clippy, Track::Fill),
    step("trunk", "Trunk.toml, where Trunk is installed", web::trunk, Track::Fill).needs(&["dashboard"]),
    step("components", "the dashboard's components in headless Chromium", web::components, Track::Fill)
        .after(&["tools"]),
    step("template", "the templates: linters, rights, idle costs, runbooks", aws::templates, Track::Wait)
        .after(&["tools"]),
    step("supply", "licences, sources, duplicates, advisories, SBOM", supply::check, Track::Wait).after(&["tools"]),
    step("build", "compiles what embeds the dashboard", rust::build, Track::First)
        .needs(&["crates"])
        .after(&["dashboard"]),
    step("one-machine", "compiles `dlo` without AWS, and the simulation", rust::one_machine, Track::First)
        .after(&["dashboard"]),
    step("clippy", "what clippy said of everything native", rust::clippy, Track::First)
        .needs(&["build", "one-machine"]),
    step("stack", "the deployed stack, on an endpoint of this machine", aws::stack, Track::Browser)
        .needs(&["build", "dashboard"])
        .after(&["tools"]),
    step("aws", "the adapters for AWS, on endpoints of this machine", aws::adapters, Track::Wait)
        .needs(&["build"])
        .after(&["tools"]),
    step("test", "unit, property and conformance tests", rust::test, Track::First).needs(&["build"]),
    step("docs", "the documents' links and commands", rust::docs, Track::First).needs(&["build", "one-machine"]),
    step("doc-test", "the examples in the documentation", rust::doc_test, Track::First).needs(&["build"]),
    step("witness", "the layer behind real runtimes", witness::layer, Track::Wait).needs(&["build"]).after(&["tools"]),
    step("process", "the real program, killed at any moment", rust::process, Track::Wait)
        .needs(&["build", "one-machine"]),
    step("schemathesis", "the API, called with inputs generated from its document", api::fixed, Track::Wait)
        .needs(&["build", "one-machine"])
        .after(&["tools"]),
    step("browser", "the story in a real browser", rust::browser, Track::Browser)
        .needs(&["build", "one-machine", "dashboard"])
        .after(&["tools"]),
    step("features", "each feature of the published crates alone", features::cheap, Track::Fill).after(&["build"]),
    step("model", "every state of the replay's model", rust::model, Track::Fill).needs(&["one-machine"]),
    step("simulation", "10,000 seeds of simulated faults", rust::simulation, Track::Fill).needs(&["one-machine"]),
];

const fn step(name: &'static str, what: &'static str, run: fn(&Paths) -> Outcome<Tally>, track: Track) -> Step {
    Step { name, what, run, needs: &[], after: &[], track }
}

impl Step {
    const fn needs(self, needs: &'static [&'static str]) -> Step {
        Step { needs, ..self }
    }

    const fn after(self, after: &'static [&'static str]) -> Step {
        Step { after, ..self }
    }
}

fn run_tidy(paths: &Paths) -> Outcome<Tally> {
    tidy::check(paths)?;
    Ok(Tally::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_waits_only_for_earlier_ones() {
        for (at, step) in STEPS.iter().enumerate() {
            for need in step.needs.iter().chain(step.after) {
                assert!(STEPS[..at].iter().any(|earlier| earlier.name == *need), "{} needs {need}", step.name);
            }
            assert_eq!(STEPS.iter().filter(|other| other.name == step.name).count(), 1, "{}", step.name);
        }
    }

    /// The steps that do not run if this one fails.
    fn lost(failed: &'static str) -> Vec<&'static str> {
        let mut lost = vec![failed];
        for step in STEPS {
            if step.needs.iter().any(|need| lost.contains(need)) {
                lost.push(step.name);
            }
        }
        lost.split_off(1)
    }

    #[test]
    fn a_failure_keeps_only_what_needs_it_from_running() {
        assert_eq!(lost("dashboard"), ["budget", "trunk", "stack", "browser"]);
        assert_eq!(
            lost("one-machine"),
            ["clippy", "docs", "process", "schemathesis", "browser", "model", "simulation"]
        );
        for step in ["format", "tidy", "tools", "template", "supply", "fuzz", "clippy", "test"] {
            assert!(lost(step).is_empty(), "{step}");
        }
    }
}
