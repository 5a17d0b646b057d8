//! Counts test results from what the test harness prints, while passing its output on.

use crate::failure::{Failure, Outcome};
use crate::run::shown;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    pub fn note(self) -> String {
        if self == Tally::default() { String::new() } else { format!(", {} tests", self.passed) }
    }

    /// `test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
    fn read(line: &str) -> Option<Tally> {
        let counts = line.trim_start().strip_prefix("test result: ")?;
        let number_before = |word: &str| {
            let (before, _) = counts.split_once(word)?;
            before.split_whitespace().next_back()?.parse().ok()
        };
        Some(Tally { passed: number_before(" passed")?, failed: number_before(" failed")? })
    }
}

/// Runs a test command to its end, whatever fails in it.
pub fn tests(command: &mut Command) -> Outcome<Tally> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    let mut total = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            total.add(Tally::read(&line).unwrap_or_default());
        }
    }
    let status = child.wait().map_err(|cause| Failure::new(format!("Lost sight of {}: {cause}.", shown(command))))?;
    if !status.success() && total.failed == 0 {
        // It did not compile, or a test process died without a word.
        return Err(Failure::new(format!("{} failed ({status}).", shown(command))));
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_harness_and_nothing_else() {
        for (line, tally) in [
            (
                "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                Some(Tally { passed: 12, failed: 0 }),
            ),
            (
                "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 filtered out",
                Some(Tally { passed: 1, failed: 2 }),
            ),
            ("test result_of_a_name ... ok", None),
            ("running 3 tests", None),
        ] {
            assert_eq!(Tally::read(line), tally, "{line}");
        }
    }

    #[test]
    fn a_crash_without_a_result_is_a_failure() {
        assert!(tests(Command::new("sh").args(["-c", "echo running; exit 101"])).is_err());
        let counted =
            tests(Command::new("sh").args(["-c", "echo 'test result: FAILED. 1 passed; 1 failed;'; exit 101"]));
        assert_eq!(counted.expect("counted"), Tally { passed: 1, failed: 1 });
    }
}
