//! Describes transforms, their errors and their dry runs.

use crate::money::{count, counted};
use domain::fix::Fix;
use domain::transform::{DryCounts, DryRun, ProgramFault};

/// Describes a program's effect on some letters in one line.
pub fn counts(counts: DryCounts) -> String {
    let parts = [
        (counts.changed, "changed", true),
        (counts.unchanged, "unchanged", false),
        (counts.failed, "failed and would be skipped", false),
    ];
    let parts = parts.into_iter().filter(|(n, _, always)| *n > 0 || *always);
    parts.map(|(n, word, _)| format!("{} {word}", count(n))).collect::<Vec<_>>().join(", ")
}

/// Describes a program's error with its position.
pub fn fault(fault: &ProgramFault) -> String {
    format!("Line {}, column {}: {}", fault.line, fault.column, fault.message)
}

/// Describes a dry run's progress in one line. `waiting` is the number of letters that wait now.
pub fn dry_run(run: &DryRun, waiting: i64) -> String {
    let tried = run.counts.total();
    if run.is_whole() {
        let (one, many) =
            if run.filter.is_none() { ("letter", "letters") } else { ("filtered letter", "filtered letters") };
        return format!("Dry run over {}: {}.", counted(tried, one, many), counts(run.counts));
    }
    format!("{} of {} tried: {}.", count(tried), count(waiting.max(0).unsigned_abs().max(tried)), counts(run.counts))
}

/// Describes how a fix changes letters before they are sent. Returns `None` without a transform.
pub fn sent_as(fix: &Fix) -> Option<String> {
    fix.transform.as_ref().map(|named| format!("changed by {} before sending; originals are kept", named.label()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_zero_are_left_out() {
        for (changed, unchanged, failed, words) in [
            (1, 0, 0, "1 changed"),
            (1_200, 1, 1, "1,200 changed, 1 unchanged, 1 failed and would be skipped"),
            (0, 3, 2, "0 changed, 3 unchanged, 2 failed and would be skipped"),
        ] {
            assert_eq!(counts(DryCounts { changed, unchanged, failed }), words);
        }
    }

    #[test]
    fn a_dry_run_never_claims_more_than_all_letters() {
        let mut run = DryRun {
            group: "g".into(),
            transform: domain::transform::TransformRef { version: 1, program_hash: "00".into() },
            filter: domain::filter::LetterFilter::default(),
            revision: 1,
            by: "otto".into(),
            began_at: domain::time::Timestamp::from_ms(0),
            at: domain::time::Timestamp::from_ms(0),
            counts: DryCounts { changed: 200, unchanged: 0, failed: 0 },
            failures: Vec::new(),
            next: Some("letters:1:a".into()),
        };
        assert_eq!(dry_run(&run, 1_000), "200 of 1,000 tried: 200 changed.");
        assert_eq!(dry_run(&run, 7), "200 of 200 tried: 200 changed.");
        run.next = None;
        assert_eq!(dry_run(&run, 7), "Dry run over 200 letters: 200 changed.");
        run.filter.replays_max = Some(0);
        assert_eq!(dry_run(&run, 7), "Dry run over 200 filtered letters: 200 changed.");
    }
}
