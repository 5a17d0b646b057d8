//! What programs and dry runs say, in words.

use crate::money::{count, counted};
use domain::fix::Fix;
use domain::transform::{DryCounts, DryRun, ProgramFault};

/// What a program would do, in one line.
pub fn counts(counts: DryCounts) -> String {
    let change = counted(counts.changed, "changes", "change");
    let stay = counted(counts.unchanged, "stays as it is", "stay as they are");
    let fail = counted(counts.failed, "fails and would be skipped", "fail and would be skipped");
    let rest = [(counts.unchanged, stay), (counts.failed, fail)];
    let rest = rest.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words);
    [change].into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

/// What is wrong with a program, and where.
pub fn fault(fault: &ProgramFault) -> String {
    format!("Line {}, column {}: {}", fault.line, fault.column, fault.message)
}

/// How far a dry run is, in one line. `waiting` is how many letters wait now.
pub fn dry_run(run: &DryRun, waiting: i64) -> String {
    let tried = run.counts.total();
    if run.is_whole() {
        let which = if run.filter.is_none() { "" } else { " of a filter" };
        return format!("Dry run over {}{which}: {}.", counted(tried, "letter", "letters"), counts(run.counts));
    }
    format!("{} of {} tried: {}.", count(tried), count(waiting.max(0).unsigned_abs().max(tried)), counts(run.counts))
}

/// How letters go out under a fix, where that is not as they lay.
pub fn sent_as(fix: &Fix) -> Option<String> {
    fix.transform.as_ref().map(|named| format!("sent as changed by {}; the originals are kept", named.label()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_letter_is_told_where_there_is_one() {
        for (changed, unchanged, failed, words) in [
            (1, 0, 0, "1 changes"),
            (1_200, 1, 1, "1,200 change, 1 stays as it is, 1 fails and would be skipped"),
            (0, 3, 2, "0 change, 3 stay as they are, 2 fail and would be skipped"),
        ] {
            assert_eq!(counts(DryCounts { changed, unchanged, failed }), words);
        }
    }

    #[test]
    fn a_dry_run_says_how_far_it_is_and_never_more_than_all() {
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
        assert_eq!(dry_run(&run, 1_000), "200 of 1,000 tried: 200 change.");
        assert_eq!(dry_run(&run, 7), "200 of 200 tried: 200 change.");
        run.next = None;
        assert_eq!(dry_run(&run, 7), "Dry run over 200 letters: 200 change.");
        run.filter.replays_max = Some(0);
        assert_eq!(dry_run(&run, 7), "Dry run over 200 letters of a filter: 200 change.");
    }
}
