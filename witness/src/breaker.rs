//! Stops sending when the queue cannot be reached, so that a function waits for it once and not at every failure.

use std::time::Duration;
use tokio::time::Instant;

/// The first pause: a short disturbance is over by then.
const PAUSE_MIN: Duration = Duration::from_secs(30);
/// The longest pause. An environment rarely lives for more than some hours.
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// Whether reports are sent.
#[derive(Debug, Default)]
pub struct Breaker {
    /// Set after a failure: when to try again, and the pause until then.
    open: Option<(Instant, Duration)>,
}

/// What to do with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Send it. The runtime may wait for it.
    Send,
    /// Send it as a trial. The runtime does not wait.
    Try,
    /// Drop it.
    Drop,
}

impl Breaker {
    /// Says what to do with a report. A trial postpones the next one.
    pub fn ask(&mut self, now: Instant) -> Advice {
        match &mut self.open {
            None => Advice::Send,
            Some((retry_at, pause)) if now >= *retry_at => {
                *retry_at = now + *pause;
                Advice::Try
            }
            Some(_) => Advice::Drop,
        }
    }

    /// Records a failure. Returns whether it is the first since the last success.
    pub fn failed(&mut self, now: Instant) -> bool {
        let pause = self.open.map_or(PAUSE_MIN, |(_, pause)| (pause * 2).min(PAUSE_MAX));
        let is_first = self.open.is_none();
        self.open = Some((now + pause, pause));
        is_first
    }

    /// Records a success. Returns whether it ends a disturbance.
    pub fn succeeded(&mut self) -> bool {
        self.open.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_at_the_first_failure_and_tries_again_after_growing_pauses() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let mut breaker = Breaker::default();
        assert_eq!(breaker.ask(start), Advice::Send);
        assert!(breaker.failed(start));
        assert_eq!(breaker.ask(after(29)), Advice::Drop);
        assert_eq!(breaker.ask(after(30)), Advice::Try);
        assert_eq!(breaker.ask(after(31)), Advice::Drop);
        assert!(!breaker.failed(after(32)));
        assert_eq!(breaker.ask(after(91)), Advice::Drop);
        assert_eq!(breaker.ask(after(92)), Advice::Try);
        assert!(breaker.succeeded());
        assert!(!breaker.succeeded());
        assert_eq!(breaker.ask(after(93)), Advice::Send);
    }

    #[test]
    fn pauses_have_a_limit() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..20 {
            breaker.failed(start);
        }
        assert_eq!(breaker.ask(start + PAUSE_MAX - Duration::from_millis(1)), Advice::Drop);
        assert_eq!(breaker.ask(start + PAUSE_MAX), Advice::Try);
    }
}
