//! Whether the clock can be trusted, and since when the office reads its queues: rules over a record that each sweep writes.
//!
//! A process cannot tell a right clock from a wrong one. But sweeps run each minute, so a clock that is far ahead of the
//! last sweep, or behind it, has jumped, or the office was off. Then nothing is forgotten until sweeps have run without
//! a gap for a while.
//!
//! The time of a letter's reading is its time of death only if the office read the queue when the letter arrived there. So
//! sweeps note when they first know of each dead-letter queue, and begin anew after a gap.

use crate::id::QueueArn;
use crate::limits::{CLOCK_SKEW_MAX, CLOCK_TRIAL, DATED_WITHIN, SWEEP_GAP_MAX};
use crate::time::{Span, Timestamp};
use alloc::collections::{BTreeMap, BTreeSet};
use serde::{Deserialize, Serialize};

/// The clock, as the sweeps have seen it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// When the last sweep ran.
    pub swept_at: Timestamp,
    /// Since when sweeps have run without a gap, and without the clock going back.
    pub steady_since: Timestamp,
    /// Since when the office reads each of its dead-letter queues. `None` if an older version wrote the record: it did not
    /// note that, and read them since `steady_since` at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_since: Option<BTreeMap<QueueArn, Timestamp>>,
}

/// A difference between a sweep and the one before that no sweep explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockJump {
    /// The clock went back by this much.
    Back(Span),
    /// No sweep ran for this long: the office was off, or the clock jumped forward.
    Forward(Span),
}

impl ClockRecord {
    /// Returns the record after a sweep that knows of these dead-letter queues, and the jump since the sweep before. The first
    /// sweep ever has none.
    pub fn after(before: Option<&Self>, queues: BTreeSet<QueueArn>, now: Timestamp) -> (Self, Option<ClockJump>) {
        let since = |queue: &QueueArn| Self::reads_since(before, queue, now);
        let reads_since = Some(queues.into_iter().map(|queue| (queue.clone(), since(&queue))).collect());
        let anew = Self { swept_at: now, steady_since: now, reads_since };
        let Some(before) = before else { return (anew, None) };
        let gap = now.since(before.swept_at);
        if gap > SWEEP_GAP_MAX {
            return (anew, Some(ClockJump::Forward(gap)));
        }
        if before.swept_at > now.plus(CLOCK_SKEW_MAX) {
            return (anew, Some(ClockJump::Back(before.swept_at.since(now))));
        }
        // Two sweeps at once, on clocks that differ a little.
        (Self { swept_at: now.max(before.swept_at), steady_since: before.steady_since, ..anew }, None)
    }

    /// Returns since when the office reads a dead-letter queue, by the record of the last sweep: since now if no sweep knows
    /// of the queue, or none has run for a while.
    pub fn reads_since(record: Option<&Self>, queue: &QueueArn, now: Timestamp) -> Timestamp {
        let since = match record.filter(|record| now.since(record.swept_at) <= DATED_WITHIN) {
            None => now,
            Some(Self { reads_since: None, steady_since, .. }) => *steady_since,
            Some(Self { reads_since: Some(queues), .. }) => queues.get(queue).copied().unwrap_or(now),
        };
        since.min(now)
    }

    /// Whether the clock has run steadily for long enough to delete by it.
    pub fn may_forget(&self, now: Timestamp) -> bool {
        now.since(self.steady_since) >= CLOCK_TRIAL
    }
}

/// Returns whether a stored time is less than a span ago. One that is still to come is not recent: a clock that was ahead
/// stored it, and what waits until it is past would wait for as long as the clock was ahead.
pub fn is_recent(at: Timestamp, within: Span, now: Timestamp) -> bool {
    let age = now.since(at);
    age < within && at <= now.plus(CLOCK_SKEW_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const DAY: i64 = 24 * 3_600;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_ms(1_800_000_000_000).plus(Span::from_secs(s))
    }

    #[test]
    fn nothing_is_forgotten_until_the_clock_was_steady_for_a_day() {
        let back = |s| Some(ClockJump::Back(Span::from_secs(s)));
        let forward = |s| Some(ClockJump::Forward(Span::from_secs(s)));
        let rows = [
            // the last sweep, steady since, now, the jump, steady since after, whether letters may be forgotten
            (0, -2 * DAY, 60, None, -2 * DAY, true),
            (0, -DAY + 61, 60, None, -DAY + 61, false),
            (0, -2 * DAY, DAY, None, -2 * DAY, true),
            (0, -2 * DAY, DAY + 1, forward(DAY + 1), DAY + 1, false),
            (0, -2 * DAY, 400 * DAY, forward(400 * DAY), 400 * DAY, false),
            // Two processes whose clocks differ.
            (0, -2 * DAY, -60, None, -2 * DAY, true),
            (0, -2 * DAY, -61, back(61), -61, false),
            (400 * DAY, 399 * DAY, 60, back(400 * DAY - 60), 60, false),
        ];
        for (swept, steady, now, jump, after, forgets) in rows {
            let before = ClockRecord { swept_at: at(swept), steady_since: at(steady), reads_since: None };
            let (record, found) = ClockRecord::after(Some(&before), BTreeSet::new(), at(now));
            assert_eq!((found, record.steady_since), (jump, at(after)), "{swept} {now}");
            assert_eq!(record.may_forget(at(now)), forgets, "{swept} {now}");
        }
        let (first, jump) = ClockRecord::after(None, BTreeSet::new(), at(0));
        assert_eq!((jump, first.may_forget(at(DAY - 1)), first.may_forget(at(DAY))), (None, false, true));
    }

    fn queues(names: &[&str]) -> BTreeSet<QueueArn> {
        names.iter().map(|name| QueueArn::from(*name)).collect()
    }

    #[test]
    fn a_queue_is_read_since_the_first_sweep_that_knows_it() {
        let since =
            |record: &ClockRecord, name: &str, now| ClockRecord::reads_since(Some(record), &name.into(), at(now));
        assert_eq!(ClockRecord::reads_since(None, &"a".into(), at(5)), at(5), "before the first sweep");
        let (record, _) = ClockRecord::after(None, queues(&["a"]), at(10));
        let (record, _) = ClockRecord::after(Some(&record), queues(&["a"]), at(70));
        let (record, _) = ClockRecord::after(Some(&record), queues(&["a", "b"]), at(130));
        let (record, _) = ClockRecord::after(Some(&record), queues(&["a", "b"]), at(190));
        assert_eq!(["a", "b", "c"].map(|name| since(&record, name, 191)), [at(10), at(130), at(191)]);
        // A quarter of an hour without a sweep is no gap. What came in a longer one has nobody read.
        assert_eq!([1_090, 1_091].map(|now| since(&record, "a", now)), [at(10), at(1_091)]);
        let (later, jump) = ClockRecord::after(Some(&record), queues(&["a"]), at(1_091));
        assert_eq!((since(&later, "a", 1_092), later.steady_since, jump), (at(1_091), at(10), None));
        // The clock went back: the letters that come now are sent before the time that was noted.
        let (back, _) = ClockRecord::after(Some(&record), queues(&["a"]), at(-3_600));
        assert_eq!(since(&back, "a", -3_600), at(-3_600));
    }

    #[test]
    fn an_office_that_an_older_version_ran_has_read_its_queues_before() {
        let old: ClockRecord =
            serde_json::from_str(&format!(r#"{{"swept_at":{},"steady_since":{}}}"#, at(0).as_ms(), at(-DAY).as_ms()))
                .expect("the record of an older version");
        assert_eq!(ClockRecord::reads_since(Some(&old), &"a".into(), at(30)), at(-DAY));
        let (record, _) = ClockRecord::after(Some(&old), queues(&["a"]), at(60));
        assert_eq!(ClockRecord::reads_since(Some(&record), &"a".into(), at(61)), at(-DAY));
        assert_eq!(ClockRecord::reads_since(Some(&record), &"attached later".into(), at(61)), at(61));
    }
}
