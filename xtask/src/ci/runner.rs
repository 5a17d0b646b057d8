//! Runs steps side by side, one per track, each in a process of its own with its output in `target/ci/<step>.log`.
//!
//! Each track has a priority of its own.

use super::report::{self, Ended, Ending};
use super::steps::Step;
use super::tally::Tally;
use super::times;
use super::{DONE, FAILED, ONE_STEP};
use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::say;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often the steps that run are named.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Runs the steps to their end and returns how each ended, in the order in which they ended.
pub fn run(paths: &Paths, steps: &[&'static Step]) -> Outcome<Vec<Ended>> {
    let mut run =
        Run { paths, program: own_copy(paths)?, waiting: steps.to_vec(), running: Vec::new(), ended: Vec::new() };
    let (tell, ends) = mpsc::channel();
    loop {
        run.start_all(&tell)?;
        if run.running.is_empty() {
            // A step that waits for ever must not vanish from a green run.
            let [] = run.waiting.as_slice() else {
                return fail(format!("The step `{}` needs a step that is not part of this run.", run.waiting[0].name));
            };
            return Ok(run.ended);
        }
        match ends.recv_timeout(HEARTBEAT) {
            Ok((name, exited_well)) => run.end(name, exited_well),
            Err(RecvTimeoutError::Timeout) => run.show(),
            // `tell` lives as long as this loop.
            Err(RecvTimeoutError::Disconnected) => return Ok(run.ended),
        }
    }
}

/// Compiling the tests may replace this very program while it runs.
fn own_copy(paths: &Paths) -> Outcome<PathBuf> {
    let own = std::env::current_exe().map_err(|cause| Failure::new(format!("This program has no path: {cause}.")))?;
    at("create", &paths.ci(), std::fs::create_dir_all(paths.ci()))?;
    let copy = paths.ci().join("xtask");
    at("copy", &own, std::fs::copy(&own, &copy))?;
    Ok(copy)
}

struct Run<'a> {
    paths: &'a Paths,
    program: PathBuf,
    waiting: Vec<&'static Step>,
    running: Vec<Running>,
    ended: Vec<Ended>,
}

struct Running {
    step: &'static Step,
    started: Instant,
}

/// What may happen to a step that waits.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Start,
    Wait,
    /// It needs a step that failed or did not run.
    GiveUp(&'static str),
}

impl Run<'_> {
    fn start_all(&mut self, tell: &Sender<(&'static str, bool)>) -> Outcome<()> {
        let mut at = 0;
        while at < self.waiting.len() {
            let step = self.waiting[at];
            match self.next(step) {
                Next::Wait => at += 1,
                Next::Start => {
                    self.waiting.remove(at);
                    self.start(step, tell.clone())?;
                }
                Next::GiveUp(need) => {
                    self.waiting.remove(at);
                    let (tally, ending) = (Tally::default(), Ending::NotRun(need));
                    let ended = Ended { step, tally, ending, took: Duration::ZERO, processor: None };
                    report::step(&ended, None);
                    self.ended.push(ended);
                    // Those that need this one may stand earlier in the list only by mistake; look again anyway.
                    at = 0;
                }
            }
        }
        Ok(())
    }

    fn next(&self, step: &Step) -> Next {
        let ending = |need: &str| self.ended.iter().find(|ended| ended.step.name == need).map(|ended| &ended.ending);
        let is_open = |need: &str| {
            let waits = self.waiting.iter().any(|step| step.name == need);
            waits || self.running.iter().any(|running| running.step.name == need)
        };
        let failed = |need: &&&'static str| ending(need).is_some_and(|ending| *ending != Ending::Passed);
        if let Some(need) = step.needs.iter().find(failed) {
            return Next::GiveUp(need);
        }
        let track_is_busy = self.running.iter().any(|running| running.step.track == step.track);
        let waits = step.needs.iter().chain(step.after).any(|earlier| is_open(earlier));
        if track_is_busy || waits { Next::Wait } else { Next::Start }
    }

    fn start(&mut self, step: &'static Step, tell: Sender<(&'static str, bool)>) -> Outcome<()> {
        println!("    {} has started: {}", step.name, step.what);
        let (log, result) = (log_file(self.paths, step), result_file(self.paths, step));
        // A result of an earlier run must not pass for this one's.
        let _ = std::fs::remove_file(&result);
        let output = at("write", &log, File::create(&log))?;
        let errors = at("write", &log, output.try_clone())?;
        let mut command = match step.track.nice() {
            None => Command::new(&self.program),
            Some(priority) => {
                let mut nice = Command::new("nice");
                nice.args(["-n", priority]).arg(&self.program);
                nice
            }
        };
        command.args(["ci", ONE_STEP, step.name]).arg(&result);
        command.env(DONE, self.ended_well(true)).env(FAILED, self.ended_well(false));
        let spawned = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let mut child = spawned.map_err(|cause| Failure::new(format!("Could not start a step: {cause}.")))?;
        self.running.push(Running { step, started: Instant::now() });
        std::thread::spawn(move || {
            let exited_well = child.wait().is_ok_and(|status| status.success());
            let _ = tell.send((step.name, exited_well));
        });
        Ok(())
    }

    /// The steps that have passed, or those that have not.
    fn ended_well(&self, well: bool) -> String {
        let those = self.ended.iter().filter(|ended| (ended.ending == Ending::Passed) == well);
        those.map(|ended| ended.step.name).collect::<Vec<_>>().join(",")
    }

    fn end(&mut self, name: &str, exited_well: bool) {
        let Some(at) = self.running.iter().position(|running| running.step.name == name) else { return };
        let Running { step, started } = self.running.remove(at);
        let written = std::fs::read_to_string(result_file(self.paths, step)).ok();
        let (processor, rest) = written.as_deref().map(times::read_processor).unwrap_or_default();
        let (tally, ending) = judged(rest, exited_well);
        let ended = Ended { step, tally, ending, took: started.elapsed(), processor };
        report::step(&ended, std::fs::read_to_string(log_file(self.paths, step)).ok().as_deref());
        self.ended.push(ended);
    }

    fn show(&self) {
        let names = self.running.iter().map(|r| format!("{} ({})", r.step.name, say::seconds(r.started.elapsed())));
        println!("    running: {}", names.collect::<Vec<_>>().join(", "));
    }
}

/// What a step's process has said: passed only if it wrote a whole result without a failure, and exited well.
fn judged(written: Option<&str>, exited_well: bool) -> (Tally, Ending) {
    let Some((tally, failure)) = written.and_then(|text| text.split_once("\n\n")) else {
        return (Tally::failed(1), Ending::Failed("Its process ended without a result.".to_owned()));
    };
    let tally = Tally::parse(tally);
    let what = match (failure, tally.failed) {
        ("", 0) if exited_well => return (tally, Ending::Passed),
        ("", 0) => "Its process failed after it had written its result.".to_owned(),
        ("", failed) => format!("{failed} of its tests failed."),
        (failure, _) => failure.to_owned(),
    };
    (tally, Ending::Failed(what))
}

fn log_file(paths: &Paths, step: &Step) -> PathBuf {
    paths.ci().join(format!("{}.log", step.name))
}

fn result_file(paths: &Paths, step: &Step) -> PathBuf {
    paths.ci().join(format!("{}.result", step.name))
}

#[cfg(test)]
mod tests {
    use super::super::steps::Track;
    use super::*;

    const fn step(name: &'static str, needs: &'static [&'static str], track: Track) -> Step {
        let run = |_: &Paths| Ok(Tally { passed: 0, failed: 0, skipped: Vec::new() });
        Step { name, what: "", run, needs, after: &[], track }
    }

    #[test]
    fn a_step_passes_only_with_a_whole_result_and_a_good_exit() {
        for (written, exited_well, passes) in [
            (Some("test result: 3 passed; 0 failed;\n\n"), true, true),
            (Some("test result: 3 passed; 0 failed;\n\n"), false, false),
            (Some("test result: 3 passed; 1 failed;\n\n"), true, false),
            (Some("test result: 3 passed; 0 failed;\n\nNo."), true, false),
            (Some("test result: 3 passed; 0 failed;"), true, false),
            (Some(""), true, false),
            (None, true, false),
        ] {
            assert_eq!(judged(written, exited_well).1 == Ending::Passed, passes, "{written:?} {exited_well}");
        }
    }

    static BUILD: Step = step("build", &[], Track::First);
    static CLIPPY: Step = step("clippy", &[], Track::First);
    static STACK: Step = step("stack", &["build"], Track::Wait);
    static TESTS: Step = Step { after: &["build"], ..step("tests", &[], Track::Fill) };

    fn run<'a>(paths: &'a Paths, waiting: &[&'static Step], running: &[&'static Step]) -> Run<'a> {
        let running = running.iter().map(|step| Running { step, started: Instant::now() });
        let (program, running) = (PathBuf::new(), running.collect());
        Run { paths, program, waiting: waiting.to_vec(), running, ended: Vec::new() }
    }

    #[test]
    fn a_step_starts_when_its_track_is_free_and_its_needs_have_passed() {
        let paths = Paths { root: "/".into(), target: "/".into(), tools: "/".into() };
        let mut all = run(&paths, &[&CLIPPY, &STACK, &TESTS], &[&BUILD]);
        let next = |all: &Run<'_>| [&CLIPPY, &STACK, &TESTS].map(|step| all.next(step));
        assert_eq!(next(&all), [Next::Wait, Next::Wait, Next::Wait]);
        all.running.clear();
        let took = Duration::ZERO;
        all.ended.push(Ended { step: &BUILD, tally: Tally::default(), ending: Ending::Passed, took, processor: None });
        assert_eq!(next(&all), [Next::Start, Next::Start, Next::Start]);
        assert_eq!((all.ended_well(true), all.ended_well(false)), ("build".to_owned(), String::new()));
        all.ended[0].ending = Ending::Failed("no".to_owned());
        assert_eq!(next(&all), [Next::Start, Next::GiveUp("build"), Next::Start]);
        assert_eq!((all.ended_well(true), all.ended_well(false)), (String::new(), "build".to_owned()));
        // A step that was not chosen is not waited for: the one that needs it makes what it lacks.
        assert_eq!(run(&paths, &[&STACK], &[]).next(&STACK), Next::Start);
    }
}
