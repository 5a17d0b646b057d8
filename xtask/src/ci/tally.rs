//! Counts test results from what the test harness prints, while passing its output on.

use crate::failure::{Failure, Outcome};
use crate::run::shown;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// What a step counts: tests that passed, tests that failed, and the names of those that could not run here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    /// Each with its reason: `name: reason`.
    pub skipped: Vec<String>,
}

/// What a test prints about a case that cannot run here: `SKIPPED <name>: <reason>`.
const SKIPPED: &str = "SKIPPED ";

impl Tally {
    pub fn passed(passed: u64) -> Tally {
        Tally { passed, ..Tally::default() }
    }

    pub fn failed(failed: u64) -> Tally {
        Tally { failed, ..Tally::default() }
    }

    pub fn skipped(name: &str, reason: &str) -> Tally {
        Tally { skipped: vec![format!("{name}: {reason}")], ..Tally::default() }
    }

    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
    }

    /// The last line of a run, which machines read.
    pub fn line(&self) -> String {
        format!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len())
    }

    pub fn note(&self) -> String {
        if *self == Tally::default() { String::new() } else { format!(", {}", self.line()) }
    }

    /// Reads one line of the test harness, or one that names a skipped case.
    fn read(line: &str) -> Option<Tally> {
        match line.trim_start().strip_prefix(SKIPPED) {
            Some(case) => Some(Tally { skipped: vec![case.trim_end().to_owned()], ..Tally::default() }),
            None => Tally::read_result(line),
        }
    }

    /// `test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
    fn read_result(line: &str) -> Option<Tally> {
        let counts = line.trim_start().strip_prefix("test result: ")?;
        let number_before = |word: &str| {
            let (before, _) = counts.split_once(word)?;
            before.split_whitespace().next_back()?.parse().ok()
        };
        Some(Tally { passed: number_before(" passed")?, failed: number_before(" failed")?, skipped: Vec::new() })
    }

    /// The harness counts a test that skips its case as passed: it is counted once, as skipped.
    fn corrected(mut self) -> Tally {
        self.skipped.sort();
        self.skipped.dedup();
        self.passed = self.passed.saturating_sub(self.skipped.len() as u64);
        self
    }

    /// One fact per line, for the process that runs the steps.
    pub fn written(&self) -> String {
        let skipped: String = self.skipped.iter().map(|case| format!("{SKIPPED}{case}\n")).collect();
        format!("test result: {} passed; {} failed;\n{skipped}", self.passed, self.failed)
    }

    /// Reads what `written` returned.
    pub fn parse(text: &str) -> Tally {
        let mut total = Tally::default();
        text.lines().filter_map(Tally::read).for_each(|tally| total.add(tally));
        total
    }
}

/// After its end a command's output is waited for this long: a process that it left behind may hold the pipe for ever.
const LINGER: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

/// Runs a test command to its end, whatever fails in it.
pub fn tests(command: &mut Command) -> Outcome<Tally> {
    let started = |cause| Failure::new(format!("Could not start {}: {cause}.", shown(command)));
    // One pipe for both, so that a test binary's name stands above its results.
    let (reader, writer) = std::io::pipe().map_err(started)?;
    let errors = writer.try_clone().map_err(started)?;
    let spawned = command.stdin(Stdio::null()).stdout(writer).stderr(errors).spawn();
    // The command keeps its ends of the pipe until it is given others.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned.map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    let (total, results, status) = follow(&mut child, &lines(reader))
        .map_err(|cause| Failure::new(format!("Lost sight of {}: {cause}.", shown(command))))?;
    let mut total = total.corrected();
    if status.success() && results == 0 {
        return Err(Failure::new(format!("{} printed no test result.", shown(command))));
    }
    if status.success() || total.failed > 0 {
        return Ok(total);
    }
    if total.passed == 0 {
        // It did not even compile.
        return Err(Failure::new(format!("{} failed ({status}).", shown(command))));
    }
    // A test process died without a result.
    total.failed = 1;
    Ok(total)
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads what a test command prints until it has ended and its output is read. Returns how many results it printed, too.
fn follow(child: &mut Child, lines: &Receiver<String>) -> std::io::Result<(Tally, u32, ExitStatus)> {
    let (mut total, mut results) = (Tally::default(), 0);
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                // The lines that its own tests feed it must not reach the run that counts those tests.
                if !cfg!(test) {
                    println!("{line}");
                }
                results += u32::from(Tally::read_result(&line).is_some());
                total.add(Tally::read(&line).unwrap_or_default());
            }
            Err(RecvTimeoutError::Disconnected) => return Ok((total, results, child.wait()?)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // Its last lines may still be in the pipe when it has ended, so they are waited for from that moment on.
        match ended {
            Some((status, since)) if since.elapsed() >= LINGER => return Ok((total, results, status)),
            Some(_) => {}
            None => ended = child.try_wait()?.map(|status| (status, Instant::now())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64) -> Tally {
        Tally { passed, failed, ..Tally::default() }
    }

    #[test]
    fn reads_the_harness_and_nothing_else() {
        for (line, tally) in [
            (
                "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                Some(counts(12, 0)),
            ),
            ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 filtered out", Some(counts(1, 2))),
            ("SKIPPED store::fifo: no FIFO here", Some(Tally::skipped("store::fifo", "no FIFO here"))),
            ("test result_of_a_name ... ok", None),
            ("running 3 tests", None),
        ] {
            assert_eq!(Tally::read(line), tally, "{line}");
        }
    }

    #[test]
    fn a_tally_survives_a_file() {
        let mut tally = counts(3, 1);
        tally.add(Tally::skipped("fuzz", "no nightly compiler"));
        assert_eq!(Tally::parse(&tally.written()), tally);
        assert_eq!(tally.line(), "3 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_crash_without_a_result_is_a_failure() {
        let run = |script: &str| tests(Command::new("sh").args(["-c", script])).ok();
        for (script, tally) in [
            ("echo running; exit 101", None),
            ("echo 'test result: FAILED. 1 passed; 1 failed;'; exit 101", Some(counts(1, 1))),
            ("echo 'test result: ok. 3 passed; 0 failed;'; exit 101", Some(counts(3, 1))),
            ("echo 'test result: ok. 3 passed; 0 failed;' >&2", Some(counts(3, 0))),
        ] {
            assert_eq!(run(script), tally, "{script}");
        }
    }

    #[test]
    fn a_skipped_case_counts_once_and_not_as_passed() {
        let script =
            "echo 'SKIPPED a: not here'; echo 'SKIPPED a: not here'; echo 'test result: ok. 3 passed; 0 failed;'";
        let tally = tests(Command::new("sh").args(["-c", script])).expect("counted");
        assert_eq!(tally.line(), "2 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_result_after_a_long_silence_counts() {
        // Longer than the output of an ended command is waited for.
        let mut command = Command::new("sh");
        command.args(["-c", "echo running; sleep 2.3; echo 'test result: ok. 1 passed; 0 failed;'"]);
        assert_eq!(tests(&mut command).ok(), Some(Tally { passed: 1, ..Tally::default() }));
        assert!(tests(Command::new("sh").args(["-c", "echo running"])).is_err(), "no result is no success");
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_run() {
        let started = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 8 & echo 'test result: ok. 1 passed; 0 failed;'"]);
        assert_eq!(tests(&mut command).ok(), Some(counts(1, 0)));
        assert!(started.elapsed() < Duration::from_secs(7));
    }
}
