//! The system's clock and random numbers, and the runtime's spans.

use domain::time::{Span, Timestamp};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn system_now() -> Timestamp {
    from_system(SystemTime::now())
}

/// Without random numbers from the system, waits half of the ceiling: jitter only spreads retries.
pub(crate) fn system_entropy() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}

/// Converts a span for the runtime; a negative span becomes zero.
pub(crate) fn to_duration(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.as_ms()).unwrap_or(0))
}

/// A time that never goes back, made of one that may: NTP, an administrator or a paused machine sets clocks back and
/// forth. A jump forward is time that has passed; after a jump back, time goes on from where it was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Onward {
    latest: Option<Timestamp>,
    /// How far the clock is behind the time that it showed before it went back.
    behind: Span,
}

impl Onward {
    /// Returns the time that goes with what the clock shows now.
    pub(crate) fn peek(&self, now: Timestamp) -> Timestamp {
        let shown = now.plus(self.behind);
        self.latest.map_or(shown, |latest| shown.max(latest))
    }

    /// Does the same, and keeps it as the latest.
    pub(crate) fn advance(&mut self, now: Timestamp) -> Timestamp {
        let time = self.peek(now);
        (self.latest, self.behind) = (Some(time), time.since(now));
        time
    }
}

/// Converts the runtime's moment; one before 1970 becomes 1970.
pub(crate) fn from_system(moment: SystemTime) -> Timestamp {
    let since_epoch = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_whatever_the_clock_does() {
        let mut onward = Onward::default();
        //  the clock, s      0  7  90_000  10  11  5  6  100
        let shown = [0, 7, 90_000, 10, 11, 5, 6, 100];
        let times = shown.map(|s| onward.advance(Timestamp::from_ms(s * 1_000)).as_ms() / 1_000);
        assert_eq!(times, [0, 7, 90_000, 90_000, 90_001, 90_001, 90_002, 90_096]);
        assert_eq!(onward.peek(Timestamp::from_ms(3_000)).as_ms(), 90_096_000);
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let mut onward = Onward::default();
        let ends = [i64::MAX, i64::MIN, 0, i64::MAX].map(|ms| onward.advance(Timestamp::from_ms(ms)).as_ms());
        assert!(ends.is_sorted(), "{ends:?}");
    }
}
