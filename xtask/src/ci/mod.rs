//! `cargo ci`: every check. A step that fails keeps no other from running, unless that one needs it; the end lists all
//! failures and the time of each step.

mod api;
mod aws;
mod built;
mod features;
mod fuzz;
mod lints;
mod report;
mod runner;
mod rust;
mod screenshots;
mod steps;
mod supply;
mod tally;
mod times;
mod web;
mod witness;

use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::{Work, disk, say};
pub use api::read as read_call_api;
pub use features::all as check_features;
pub use fuzz::read as read_search;
use report::{Ended, Ending};
pub use screenshots::read as read_screenshots;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use steps::{STEPS, Step};
pub use tally::Tally;

/// For the process of one step: the steps of this run that have passed, separated by commas.
const DONE: &str = "DLO_CI_DONE";
/// The same for those that have failed or did not run.
const FAILED: &str = "DLO_CI_FAILED";
/// How the runner starts the process of one step: `ci --step <name> <result file>`.
const ONE_STEP: &str = "--step";

pub fn read(args: &[String]) -> Outcome<Work> {
    match args {
        [flag] if flag == "--list" => Ok(Box::new(|_| list())),
        [flag, name, file] if flag == ONE_STEP => {
            let (step, file) = (find(name)?, PathBuf::from(file));
            Ok(Box::new(move |paths| as_process(paths, step, &file)))
        }
        _ => {
            let (chosen, is_all) = (choose(args)?, args.is_empty());
            Ok(Box::new(move |paths| command(paths, &chosen, is_all)))
        }
    }
}

fn list() -> Outcome<ExitCode> {
    for step in STEPS {
        println!("{:<12} {}", step.name, step.what);
    }
    Ok(ExitCode::SUCCESS)
}

fn command(paths: &Paths, chosen: &[&'static Step], is_all: bool) -> Outcome<ExitCode> {
    // A target directory that was checked before has most of its bulk already.
    let checked_before = paths.target.join("demo").is_dir();
    let room = if checked_before || !is_all { disk::FRESH_BYTES } else { disk::EVERY_CHECK_BYTES };
    disk::check(&paths.root, room)?;
    let started = Instant::now();
    let ended = match chosen {
        [step] => vec![alone(paths, step)],
        steps => runner::run(paths, steps)?,
    };
    let table = times::kept(paths, &ended, started.elapsed(), is_all)?;
    report::print(&ended, &table);
    let passed = ended.iter().all(|ended| matches!(ended.ending, Ending::Passed));
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether a step has passed earlier in this run, so that its product need not be made again.
fn is_done(name: &str) -> bool {
    is_named(DONE, name)
}

/// Whether a step has failed earlier in this run, so that it would fail again.
fn has_failed(name: &str) -> bool {
    is_named(FAILED, name)
}

fn is_named(variable: &str, name: &str) -> bool {
    // Only the runner's own processes may believe it: a variable left in a shell would hide stale programs.
    let is_step = std::env::args().any(|argument| argument == ONE_STEP);
    is_step && std::env::var(variable).is_ok_and(|steps| steps.split(',').any(|step| step == name))
}

fn find(name: &str) -> Outcome<&'static Step> {
    STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
        Failure::new(format!("There is no step `{name}`.")).remedy("List the steps with: cargo ci --list")
    })
}

/// Reads the steps that the arguments name.
fn choose(args: &[String]) -> Outcome<Vec<&'static Step>> {
    if args.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    let mut chosen = Vec::new();
    for pair in args.chunks(2) {
        match pair {
            [flag, name] if flag == "--only" => chosen.push(find(name)?),
            _ => return fail("Usage: cargo ci [--list | --only <step>]"),
        }
    }
    Ok(chosen)
}

/// Reads `[--minutes N]`. Returns `None` if the arguments are anything else.
fn minutes(args: &[String], default: u64) -> Option<u64> {
    match args {
        [] => Some(default),
        [flag, minutes] if flag == "--minutes" => minutes.parse().ok(),
        _ => None,
    }
}

/// Runs one step in this process, with its output on the terminal.
fn alone(paths: &Paths, step: &'static Step) -> Ended {
    println!("==> {}: {}", step.name, step.what);
    let started = Instant::now();
    let (tally, ending) = match (step.run)(paths) {
        Ok(tally) if tally.failed > 0 => {
            let what = format!("{} of its tests failed.", tally.failed);
            (tally, Ending::Failed(what))
        }
        Ok(tally) => (tally, Ending::Passed),
        Err(failure) => {
            say::failure(&failure);
            // A step without tests still counts: a red run must not end with "0 failed".
            (Tally::failed(1), Ending::Failed(failure.sentences()))
        }
    };
    Ended { step, tally, ending, took: started.elapsed(), processor: times::processor() }
}

/// Runs one step for the runner, which reads the result from a file.
fn as_process(paths: &Paths, step: &'static Step, result: &Path) -> Outcome<ExitCode> {
    let ended = alone(paths, step);
    let failure = match &ended.ending {
        Ending::Failed(what) => what.as_str(),
        _ => "",
    };
    let text = format!("{}{}\n{failure}", times::written_processor(ended.processor), ended.tally.written());
    at("write", result, std::fs::write(result, text))?;
    Ok(if failure.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
}
