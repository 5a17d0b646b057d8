//! What `cargo ci` prints: each step when it ends, and at the end every failure, warning and skipped case.

use super::steps::Step;
use super::tally::Tally;
use crate::say;
use std::time::Duration;

/// How a step ended.
pub struct Ended {
    pub step: &'static Step,
    pub tally: Tally,
    pub ending: Ending,
    pub took: Duration,
    /// Processor time of everything that the step started, where this system tells it.
    pub processor: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Passed,
    /// Sentences that say what failed, and what to do.
    Failed(String),
    /// It needs the step of this name, which did not pass.
    NotRun(&'static str),
}

/// Prints how a step ended. The whole log follows only where it failed; `target/ci/` keeps all of them.
pub fn step(ended: &Ended, log: Option<&str>) {
    let (name, took) = (ended.step.name, say::seconds(ended.took));
    match &ended.ending {
        Ending::Passed => println!("==> {name} passed in {took}{}", ended.tally.note()),
        Ending::NotRun(need) => println!("==> {name} did not run, because `{need}` did not pass"),
        Ending::Failed(_) => {
            println!("\n==> {name} FAILED after {took}{}; its log:\n", ended.tally.note());
            println!("{}", log.unwrap_or("(there is no log)"));
            println!("==> end of the log of {name}\n");
        }
    }
    for warning in log.iter().flat_map(|log| log.lines()).filter(|line| line.starts_with(say::WARNING)) {
        println!("{warning}");
    }
}

/// Prints the end of a run: the table of times, skipped cases, failures, and one line for machines.
pub fn print(ended: &[Ended], table: &str) {
    println!("\n{table}");
    let mut total = Tally::default();
    for ended in ended {
        total.add(ended.tally.clone());
    }
    for case in &total.skipped {
        println!("skipped: {case}");
    }
    let failures: Vec<String> = ended.iter().filter_map(failure).collect();
    if failures.is_empty() {
        println!("==> every step passed");
    } else {
        println!("==> {} did not pass:", steps(failures.len()));
        failures.iter().for_each(|text| println!("\n{text}"));
        println!();
    }
    // The last line, alone, is for machines.
    println!("{}", total.line());
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn failure(ended: &Ended) -> Option<String> {
    let name = ended.step.name;
    match &ended.ending {
        Ending::Passed => None,
        Ending::NotRun(need) => Some(format!("The step `{name}` did not run, because `{need}` did not pass.")),
        Ending::Failed(what) => Some(format!(
            "The step `{name}` failed after {}. {}\nRun it again with: cargo ci --only {name}",
            say::seconds(ended.took),
            what.trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::steps::STEPS;

    #[test]
    fn a_failure_says_how_to_run_its_step_again() {
        let ended = |ending| Ended {
            step: &STEPS[0],
            tally: Tally::default(),
            ending,
            took: Duration::from_secs(2),
            processor: None,
        };
        assert_eq!(failure(&ended(Ending::Passed)), None);
        assert_eq!(
            failure(&ended(Ending::Failed("No.\n".to_owned()))).as_deref(),
            Some("The step `format` failed after 2.0 s. No.\nRun it again with: cargo ci --only format")
        );
        let not_run = failure(&ended(Ending::NotRun("build")));
        assert_eq!(not_run.as_deref(), Some("The step `format` did not run, because `build` did not pass."));
    }
}
