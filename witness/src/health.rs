//! Whether the queue is in order, so that a function waits for one that is not once, and not at every failure.

use std::time::Duration;
use tokio::time::Instant;

/// The first pause: a short disturbance is over by then.
const PAUSE_MIN: Duration = Duration::from_secs(30);
/// The longest pause. An environment rarely lives for more than some hours.
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// What is known of the queue.
#[derive(Debug, Default)]
pub struct Health {
    /// Set while calls fail: the time from the last failure to the next try.
    out: Option<Duration>,
    /// Set while calls take longer than the runtime waits: when it may wait again, and the pause until then.
    slow: Option<(Instant, Duration)>,
    /// Whether people were informed of the disturbance.
    is_announced: bool,
}

impl Health {
    /// Whether calls fail.
    pub fn is_out(&self) -> bool {
        self.out.is_some()
    }

    /// Whether calls succeed, in time.
    pub fn is_good(&self) -> bool {
        self.out.is_none() && self.slow.is_none()
    }

    /// Whether the runtime may wait for the queue.
    pub fn is_worth_waiting(&self, now: Instant) -> bool {
        self.out.is_none() && self.slow.is_none_or(|(again_at, _)| now >= again_at)
    }

    /// How long to wait before the queue is tried again; `None` unless calls fail.
    pub fn pause(&self) -> Option<Duration> {
        self.out
    }

    /// Records a call that failed. Returns whether people are to be informed.
    pub fn failed(&mut self) -> bool {
        self.out = Some(longer(self.out));
        !std::mem::replace(&mut self.is_announced, true)
    }

    /// Records that the runtime has waited in vain, `long` enough or not to call the queue slow. Returns whether people are
    /// to be told.
    pub fn was_late(&mut self, now: Instant, long: bool) -> bool {
        let pause = longer(self.slow.map(|(_, pause)| pause));
        self.slow = Some((now + pause, pause));
        long && !std::mem::replace(&mut self.is_announced, true)
    }

    /// Records a call that succeeded, in time or not. Returns whether it ends a disturbance that people were informed of.
    pub fn succeeded(&mut self, is_in_time: bool) -> bool {
        self.out = None;
        if is_in_time {
            self.slow = None;
        }
        self.is_good() && std::mem::take(&mut self.is_announced)
    }
}

fn longer(pause: Option<Duration>) -> Duration {
    pause.map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_end_with_a_success() {
        let mut health = Health::default();
        assert_eq!((health.is_out(), health.pause()), (false, None));
        assert!(health.failed());
        for seconds in [30, 60, 120, 240, 480, 900, 900, 900] {
            assert_eq!(health.pause(), Some(Duration::from_secs(seconds)));
            assert!(!health.failed());
        }
        assert!(health.succeeded(true));
        assert!(!health.succeeded(true));
        assert!(health.is_good());
        assert!(health.failed());
        assert_eq!(health.pause(), Some(PAUSE_MIN));
    }

    #[test]
    fn a_slow_queue_is_waited_for_again_after_growing_pauses() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let mut health = Health::default();
        assert!(!health.was_late(start, false) && !health.is_good());
        assert!(!health.succeeded(true) && health.is_good(), "nobody was informed");
        assert!(health.was_late(start, true));
        for (seconds, is_worth) in [(0, false), (29, false), (30, true)] {
            assert_eq!(health.is_worth_waiting(after(seconds)), is_worth, "{seconds}");
        }
        assert!(!health.succeeded(false), "late successes end nothing");
        assert!(!health.was_late(after(30), true));
        assert!(!health.is_worth_waiting(after(89)) && health.is_worth_waiting(after(90)));
        assert!(!health.failed(), "people know");
        assert!(!health.is_worth_waiting(after(90)));
        assert!(!health.succeeded(false) && health.is_worth_waiting(after(90)));
        assert!(health.succeeded(true) && health.is_good());
        assert!(health.was_late(after(99), true));
    }
}
