//! Whether the clock can be trusted: a rule over a record that each sweep writes.
//!
//! A process cannot tell a right clock from a wrong one. But sweeps run each minute, so a clock that is far ahead of the
//! last sweep, or behind it, has jumped, or the office was off. Then nothing is forgotten until sweeps have run without
//! a gap for a while.

use crate::limits::{CLOCK_SKEW_MAX, CLOCK_TRIAL, SWEEP_GAP_MAX};
use crate::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

/// The clock, as the sweeps have seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// When the last sweep ran.
    pub swept_at: Timestamp,
    /// Since when sweeps have run without a gap, and without the clock going back.
    pub steady_since: Timestamp,
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
    /// Returns the record after a sweep, and the jump since the sweep before. The first sweep ever has none.
    pub fn after(before: Option<&Self>, now: Timestamp) -> (Self, Option<ClockJump>) {
        let anew = Self { swept_at: now, steady_since: now };
        let Some(before) = before else { return (anew, None) };
        let gap = now.since(before.swept_at);
        if gap > SWEEP_GAP_MAX {
            return (anew, Some(ClockJump::Forward(gap)));
        }
        if before.swept_at > now.plus(CLOCK_SKEW_MAX) {
            return (anew, Some(ClockJump::Back(before.swept_at.since(now))));
        }
        // Two sweeps at once, on clocks that differ a little.
        (Self { swept_at: now.max(before.swept_at), ..*before }, None)
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
            let before = ClockRecord { swept_at: at(swept), steady_since: at(steady) };
            let (record, found) = ClockRecord::after(Some(&before), at(now));
            assert_eq!((found, record.steady_since), (jump, at(after)), "{swept} {now}");
            assert_eq!(record.may_forget(at(now)), forgets, "{swept} {now}");
        }
        let (first, jump) = ClockRecord::after(None, at(0));
        assert_eq!((jump, first.may_forget(at(DAY - 1)), first.may_forget(at(DAY))), (None, false, true));
    }
}
