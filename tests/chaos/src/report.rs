//! What the runs found, by fault.

use crate::fault::Fault;
use std::collections::BTreeMap;

/// The runs of one fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Rounds under the fault; it hits each of them twice.
    pub rounds: u64,
    /// Letters that came in.
    pub letters: u64,
    /// Letters that replays sent.
    pub sends: u64,
    /// How often the fault ended the office.
    pub ended: u64,
    /// Rounds after which something was wrong.
    pub violated: u64,
}

/// The runs of all faults, and why some could not run.
#[derive(Debug, Default)]
pub struct Report {
    /// By fault.
    pub runs: BTreeMap<Fault, Runs>,
    /// Faults that this machine cannot do, each with its reason.
    pub skipped: Vec<(Fault, &'static str)>,
}

impl Report {
    /// Returns whether anything was wrong.
    pub fn is_violated(&self) -> bool {
        self.runs.values().any(|runs| runs.violated > 0)
    }

    /// Returns the table, and a line for each skipped fault in the form that `cargo ci` counts.
    pub fn text(&self) -> String {
        let line = |name: &str, cells: [&str; 5]| {
            let [rounds, letters, sends, ended, violated] = cells;
            format!("{name:<16} {rounds:>8} {letters:>8} {sends:>8} {ended:>12} {violated:>10}\n")
        };
        let mut text = line("fault", ["rounds", "letters", "sends", "ended by it", "violated"]);
        for (fault, runs) in &self.runs {
            let cells = [runs.rounds, runs.letters, runs.sends, runs.ended, runs.violated].map(|n| n.to_string());
            text += &line(fault.name(), cells.each_ref().map(String::as_str));
        }
        for (fault, reason) in &self.skipped {
            text += &format!("SKIPPED chaos {}: {reason}\n", fault.name());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_faults_are_named() {
        let runs = BTreeMap::from([(Fault::Kill, Runs { rounds: 2, letters: 30, sends: 31, ended: 0, violated: 1 })]);
        let report = Report { runs, skipped: vec![(Fault::ClockJump, "libfaketime is missing")] };
        assert!(report.is_violated());
        let lines: Vec<String> =
            report.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "fault rounds letters sends ended by it violated",
            "kill 2 30 31 0 1",
            "SKIPPED chaos clock-jump: libfaketime is missing",
        ];
        assert_eq!(lines, expected);
    }
}
