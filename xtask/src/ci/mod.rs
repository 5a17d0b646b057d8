//! `cargo ci`: every check in order, each with its time; the first that fails says how to run it again.

mod aws;
mod fuzz;
mod rust;
mod tally;
mod targets;
mod web;

use crate::failure::{Failure, Outcome, fail};
use crate::place::Place;
use crate::{disk, say, simulate, tidy};
use std::process::ExitCode;
use std::time::Instant;
pub use tally::Tally;

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Place) -> Outcome<Tally>,
}

/// Cheap ones first. Each step builds or installs what it needs, so that it also runs alone.
const STEPS: &[Step] = &[
    Step { name: "format", what: "cargo fmt --check", run: rust::format },
    Step { name: "tidy", what: "the rules that a machine can check", run: run_tidy },
    Step { name: "clippy", what: "clippy on everything native, warnings are errors", run: rust::clippy },
    Step { name: "clippy-web", what: "clippy on the dashboard", run: web::clippy },
    Step { name: "dashboard", what: "the dashboard's release build", run: web::build },
    Step { name: "budget", what: "its first-load bytes", run: web::budget },
    Step { name: "test", what: "unit, property, conformance and process tests", run: rust::test },
    Step {
        name: "simulation",
        what: "every state of the replay's model, and 10,000 seeds of bad weather",
        run: simulate::ci,
    },
    Step {
        name: "fuzz",
        what: "the readers of letters, fuzzed for 20 s each where there is a nightly",
        run: fuzz::short,
    },
    Step { name: "doc-test", what: "the examples in the documentation", run: rust::doc_test },
    Step {
        name: "components",
        what: "the dashboard's own tests, natively and in headless Chromium",
        run: web::components,
    },
    Step { name: "template", what: "cfn-lint and sam validate on what is deployed", run: aws::templates },
    Step { name: "aws", what: "the adapters for AWS, on endpoints of this machine", run: aws::test },
    Step {
        name: "stack",
        what: "the story through the deployed stack, on an endpoint of this machine",
        run: aws::stack,
    },
    Step { name: "browser", what: "the story in a real browser, one test at a time", run: rust::browser },
];

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    if args == ["--list"] {
        for step in STEPS {
            println!("{:<12} {}", step.name, step.what);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(args)?;
    // Whatever was checked here before has left most of its bulk.
    let checked_before = place.target.join("demo").is_dir();
    let room = if checked_before || !args.is_empty() { disk::FRESH_BYTES } else { disk::EVERY_CHECK_BYTES };
    disk::check(&place.root, room)?;
    let started = Instant::now();
    let (tally, result) = run_all(place, &chosen);
    if let Err(failure) = &result {
        say::failure(failure);
    } else {
        println!("==> every step passed in {}", say::seconds(started.elapsed()));
    }
    // The last line, alone, is for machines.
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(args: &[String]) -> Outcome<Vec<&'static Step>> {
    if args.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    let mut chosen = Vec::new();
    for pair in args.chunks(2) {
        let [flag, name] = pair else {
            return fail("Usage: cargo ci [--list | --only <step>]");
        };
        let step = STEPS.iter().find(|step| flag == "--only" && step.name == name);
        chosen.push(step.ok_or_else(|| {
            Failure::new(format!("`{flag} {name}` is not a step.")).remedy("`cargo ci --list` shows them.")
        })?);
    }
    Ok(chosen)
}

fn run_all(place: &Place, steps: &[&Step]) -> (Tally, Outcome<()>) {
    let mut total = Tally::default();
    for step in steps {
        println!("\n==> {}: {}", step.name, step.what);
        let started = Instant::now();
        let result = (step.run)(place);
        let took = say::seconds(started.elapsed());
        let tally = match result {
            Ok(tally) => tally,
            Err(failure) => {
                // A step that is no test still counts: nobody may read "0 failed" under a red run.
                total.failed += 1;
                return (total, Err(again(failure, step, &took)));
            }
        };
        total.add(tally);
        if tally.failed > 0 {
            let failure = Failure::new(format!("{} of its tests failed.", tally.failed));
            return (total, Err(again(failure, step, &took)));
        }
        println!("    {} passed in {took}{}", step.name, tally.note());
    }
    (total, Ok(()))
}

fn again(mut failure: Failure, step: &Step, took: &str) -> Failure {
    failure.what = format!("The step `{}` failed after {took}. {}", step.name, failure.what);
    let rerun = format!("Run it again with: cargo ci --only {}", step.name);
    failure.remedy = Some(failure.remedy.map_or(rerun.clone(), |remedy| format!("{remedy}\n{rerun}")));
    failure
}

fn run_tidy(place: &Place) -> Outcome<Tally> {
    tidy::check(place)?;
    Ok(Tally::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(args: &[&str]) -> Outcome<Vec<&'static str>> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        choose(&args).map(|steps| steps.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_are_chosen_by_name() {
        assert_eq!(names(&[]).expect("all").len(), STEPS.len());
        assert_eq!(names(&["--only", "tidy", "--only", "test"]).expect("two"), ["tidy", "test"]);
        for wrong in [&["--only"][..], &["--only", "nothing"], &["tidy"]] {
            assert!(names(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_failing_step_stops_the_run_and_counts() {
        let red = Step { name: "red", what: "fails", run: |_| fail("No.") };
        let never = Step { name: "never", what: "must not run", run: |_| panic!("ran") };
        let place = Place { root: "/".into(), target: "/".into(), tools: "/".into() };
        let (tally, result) = run_all(&place, &[&red, &never]);
        assert_eq!(tally, Tally { passed: 0, failed: 1 });
        let failure = result.expect_err("red");
        assert_eq!(failure.remedy.as_deref(), Some("Run it again with: cargo ci --only red"));
    }
}
