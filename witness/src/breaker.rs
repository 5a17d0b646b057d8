//! Whether the queue is in order, so that a function waits for one that is not once, and not at every failure.

use std::time::Duration;

/// The first pause: a short disturbance is over by then.
const PAUSE_MIN: Duration = Duration::from_secs(30);
/// The longest pause. An environment rarely lives for more than some hours.
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// Open while the queue is out of order.
#[derive(Debug, Default)]
pub struct Breaker {
    /// The time from the last failure to the next try.
    pause: Option<Duration>,
}

impl Breaker {
    /// Whether the queue is out of order.
    pub fn is_open(&self) -> bool {
        self.pause.is_some()
    }

    /// How long to wait before the queue is tried again; `None` while it is in order.
    pub fn pause(&self) -> Option<Duration> {
        self.pause
    }

    /// Records a failure. Returns whether it is the first since the last success.
    pub fn failed(&mut self) -> bool {
        let is_first = !self.is_open();
        self.pause = Some(self.pause.map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX)));
        is_first
    }

    /// Records a success. Returns whether it ends a disturbance.
    pub fn succeeded(&mut self) -> bool {
        self.pause.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_end_with_a_success() {
        let mut breaker = Breaker::default();
        assert_eq!((breaker.is_open(), breaker.pause()), (false, None));
        assert!(breaker.failed());
        for seconds in [30, 60, 120, 240, 480, 900, 900, 900] {
            assert_eq!(breaker.pause(), Some(Duration::from_secs(seconds)));
            assert!(!breaker.failed());
        }
        assert!(breaker.succeeded());
        assert!(!breaker.succeeded());
        assert!(!breaker.is_open());
        assert!(breaker.failed());
        assert_eq!(breaker.pause(), Some(PAUSE_MIN));
    }
}
