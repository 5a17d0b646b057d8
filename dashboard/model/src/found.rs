//! Failures at an unknown time: of letters that lay in their queue before the office read it.

use crate::money::counted;
use domain::group::GroupCounts;
use domain::time::Timestamp;

/// Says how many failures have no known time; `None` if all have one.
pub fn undated(counts: &GroupCounts) -> Option<String> {
    let failures = || counted(counts.undated, "failure", "failures");
    (counts.undated > 0).then(|| format!("{} at an unknown time, before the office read the queue", failures()))
}

/// The last failure of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastFailure {
    /// When it failed. If that is not known, it failed before.
    pub at: Timestamp,
    /// Whether the time is known.
    pub is_known: bool,
}

impl LastFailure {
    /// The words before the time. "Before 9 min ago" is hard to read, so a time that is not known is shown as an absolute one.
    pub fn words(self) -> &'static str {
        if self.is_known { "last failure " } else { "last failure before " }
    }
}

/// Returns the last failure; `None` if there is none.
pub fn last_failure(counts: &GroupCounts) -> Option<LastFailure> {
    let at = counts.last_death_until()?;
    Some(LastFailure { at, is_known: counts.last_died_at == Some(at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_failure_at_an_unknown_time_was_before_its_reading() {
        let at = Timestamp::from_ms;
        let rows = [
            (None, None, None),
            (Some(5), None, Some((5, "last failure "))),
            (Some(5), Some(9), Some((9, "last failure before "))),
            (Some(9), Some(5), Some((9, "last failure "))),
        ];
        for (last, undated, expected) in rows {
            let counts =
                GroupCounts { last_died_at: last.map(at), last_undated_at: undated.map(at), ..GroupCounts::default() };
            let found = last_failure(&counts).map(|last| (last.at, last.words()));
            assert_eq!(found, expected.map(|(ms, words)| (at(ms), words)), "{last:?} {undated:?}");
        }
    }

    #[test]
    fn failures_without_a_time_are_counted_in_words() {
        let words = |n| undated(&GroupCounts { undated: n, ..GroupCounts::default() });
        assert_eq!(words(0), None);
        let one = "1 failure at an unknown time, before the office read the queue";
        assert_eq!(words(1).as_deref(), Some(one));
        assert!(words(1_075).is_some_and(|words| words.starts_with("1,075 failures at")), "grouped");
    }
}
