//! The clock of an office on one machine: the system's, but never behind the monotonic clock of its process.
//!
//! A system clock that is set back would make every stored time of the running office a time in the future: leases,
//! delays, messages that become visible again. So the time since the start never shrinks; a clock that was set back takes
//! effect at the next start, where `office` and `domain::replay` take times in the future as the present. A clock that
//! jumps forward is followed at once, because a laptop that wakes up looks the same.

use crate::machine;
use domain::limits::CLOCK_SKEW_MAX;
use domain::time::{Span, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Returns a clock that starts now. Clones of it are one clock.
pub fn steady() -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    let (clock, start) = (Clock::starting(machine::now()), Instant::now());
    Arc::new(move || clock.at(machine::now(), start.elapsed()))
}

struct Clock {
    start: Timestamp,
    /// How far the system's clock was ahead of the monotonic one at the last look, milliseconds.
    ahead_ms: AtomicI64,
}

impl Clock {
    fn starting(start: Timestamp) -> Self {
        Self { start, ahead_ms: AtomicI64::new(0) }
    }

    /// Returns the time, given that of the system's clock and the time since the start. Logs a jump once.
    fn at(&self, system: Timestamp, since_start: Duration) -> Timestamp {
        let elapsed = Span::from_ms(i64::try_from(since_start.as_millis()).unwrap_or(i64::MAX));
        let monotonic = self.start.plus(elapsed);
        if let Some(by) = self.jumped(system.since(monotonic)) {
            let held = by < Span::ZERO;
            tracing::error!(by_ms = by.as_ms(), held, "the system's clock jumped, or the machine slept");
        }
        system.max(monotonic)
    }

    fn jumped(&self, ahead: Span) -> Option<Span> {
        let by_ms = ahead.as_ms().saturating_sub(self.ahead_ms.swap(ahead.as_ms(), Ordering::SeqCst));
        (by_ms.saturating_abs() > CLOCK_SKEW_MAX.as_ms()).then(|| Span::from_ms(by_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;

    #[test]
    fn time_never_falls_behind_the_time_since_the_start() {
        let at = |s| Timestamp::from_ms(1_800_000_000_000).plus(Span::from_secs(s));
        let clock = Clock::starting(at(0));
        for (system_s, since_start_s, now_s) in [
            (10, 10, 10),
            // Slewed by NTP.
            (19, 20, 20),
            (31, 30, 31),
            // Set back by two hours, and right again.
            (40 - 2 * HOUR, 40, 40),
            (50 - 2 * HOUR, 50, 50),
            (60, 60, 60),
            // Far ahead, and right again.
            (400 * 24 * HOUR, 70, 400 * 24 * HOUR),
            (80, 80, 80),
        ] {
            let now = clock.at(at(system_s), Duration::from_secs(since_start_s as u64));
            assert_eq!(now, at(now_s), "{system_s} {since_start_s}");
        }
    }

    #[test]
    fn each_jump_is_noticed_once() {
        let clock = Clock::starting(Timestamp::from_ms(0));
        for (ahead_s, by_s) in
            [(0, None), (60, None), (0, None), (-7_200, Some(-7_200)), (-7_200, None), (100, Some(7_300)), (101, None)]
        {
            assert_eq!(clock.jumped(Span::from_secs(ahead_s)), by_s.map(Span::from_secs), "{ahead_s}");
        }
    }
}
