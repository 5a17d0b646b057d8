//! Failures at an unknown time: of letters that lay in their queue before the office read it.

use crate::money::counted;
use domain::group::GroupCounts;
use domain::time::Timestamp;

/// Says how many failures have no known time; `None` if all have one.
pub fn undated(counts: &GroupCounts) -> Option<String> {
    let failures = || counted(counts.undated, "failure", "failures");
    (counts.undated > 0).then(|| format!("{} at an unknown time, before the office read the queue", failures()))
}

/// Returns the words before the time of the last failure, and the time.
pub fn last_failure(counts: &GroupCounts) -> Option<(&'static str, Timestamp)> {
    let last = counts.last_death_until()?;
    let is_known = counts.last_died_at == Some(last);
    Some((if is_known { "last failure " } else { "last failure before " }, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_failure_at_an_unknown_time_was_before_its_reading() {
        let at = Timestamp::from_ms;
        let rows = [
            (None, None, None),
            (Some(5), None, Some(("last failure ", 5))),
            (Some(5), Some(9), Some(("last failure before ", 9))),
            (Some(9), Some(5), Some(("last failure ", 9))),
        ];
        for (last, undated, expected) in rows {
            let counts =
                GroupCounts { last_died_at: last.map(at), last_undated_at: undated.map(at), ..GroupCounts::default() };
            assert_eq!(last_failure(&counts), expected.map(|(words, ms)| (words, at(ms))), "{last:?} {undated:?}");
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
