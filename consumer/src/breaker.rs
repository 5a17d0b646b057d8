//! A circuit breaker: stops calls to a dependency that keeps failing. Pure: the caller passes the time.
//!
//! Closed: calls pass, failures are counted. Open: calls are refused. Half-open: one probe at a time passes; its result
//! closes the circuit or opens it again. (Nygard, "Release It!"; Resilience4j's `CircuitBreaker`.)
//!
//! Nobody waits for somebody else's probe: while it runs, other calls are refused at once. They are asked to return when
//! a dependency that works would have answered, which is after a tenth of [`BreakerPolicy::call_max`]. If the probe has
//! taken longer than that, the dependency probably hangs: then they are asked to return when the probe counts as lost,
//! because each earlier return would use up one of a message's receives.
//!
//! **Clocks** may jump. A jump forward is time that has passed: an open circuit gets its probe. After a jump back time
//! goes on from where it was, so it neither keeps a circuit open nor lets old failures count for longer.

use crate::clock::Onward;
pub use domain::notice::CircuitState;
use domain::time::{Span, Timestamp};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// The part of `call_max` within which a dependency that works answers a probe: one in this many.
const ANSWERED_WITHIN: i64 = 10;

/// The limits of a [`Breaker`].
///
/// ```
/// use consumer::breaker::BreakerPolicy;
/// use domain::time::Span;
///
/// let policy = BreakerPolicy { failures_max: 3, ..BreakerPolicy::default() };
/// assert_eq!(policy.window, Span::from_mins(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// The number of failures within the window that opens the circuit, at least 1. Default: 5.
    pub failures_max: u32,
    /// The window in which failures count. A success does not reset it. Default: 5 min.
    pub window: Span,
    /// How long the circuit stays open before a probe. Default: 30 s, half of Resilience4j's 60 s: messages wait for it.
    pub open_for: Span,
    /// Successful probes that close the circuit, at least 1. Default: 1.
    pub probes: u32,
    /// How long a call or probe may take. A probe without a result counts as lost after this time. Default: 30 s.
    pub call_max: Span,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self {
            failures_max: 5,
            window: Span::from_mins(5),
            open_for: Span::from_secs(30),
            probes: 1,
            call_max: Span::from_secs(30),
        }
    }
}

/// The permission for one call; give it back with [`Breaker::record`] or [`Breaker::cancel`].
///
/// ```
/// use consumer::breaker::{Breaker, BreakerPolicy};
/// use domain::time::Timestamp;
///
/// let mut breaker = Breaker::new(BreakerPolicy::default());
/// let permit = breaker.permit(Timestamp::from_ms(0)).unwrap();
/// breaker.record(permit, true, Timestamp::from_ms(9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Permit {
    generation: u64,
}

/// The circuit is open, or half-open with a probe in progress: the call must not be made.
///
/// ```
/// use consumer::breaker::Refused;
/// use domain::time::Span;
///
/// assert_eq!(Refused { retry_after: Span::from_secs(3) }.to_string(), "the circuit is open for another 3000 ms");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuit is open for another {} ms", .retry_after.as_ms())]
pub struct Refused {
    /// How long to wait before the next call: until the next probe may pass, or until the result of the current probe
    /// is likely to be known. At most `open_for` or `call_max`.
    pub retry_after: Span,
}

#[derive(Clone, Debug)]
enum State {
    /// The times of the last failures, at most `failures_max`.
    Closed(VecDeque<Timestamp>),
    Open {
        since: Timestamp,
    },
    HalfOpen {
        /// When the current probe began.
        probing_since: Option<Timestamp>,
        successes: u32,
    },
}

/// A circuit breaker for one dependency.
///
/// ```
/// use consumer::breaker::{Breaker, BreakerPolicy, CircuitState};
/// use domain::time::Timestamp;
///
/// let at = |s: i64| Timestamp::from_ms(s * 1000);
/// let mut breaker = Breaker::new(BreakerPolicy::default());
/// for s in 0..5 {
///     let permit = breaker.permit(at(s)).unwrap();
///     breaker.record(permit, false, at(s));
/// }
/// assert_eq!(breaker.state(at(5)), CircuitState::Open);
/// assert!(breaker.permit(at(5)).is_err());
///
/// let probe = breaker.permit(at(40)).unwrap();
/// breaker.record(probe, true, at(41));
/// assert_eq!(breaker.state(at(41)), CircuitState::Closed);
/// ```
#[derive(Clone, Debug)]
pub struct Breaker {
    policy: BreakerPolicy,
    state: State,
    /// Counts the changes of state and the probes, so that the late result of a call changes no later state, and that of
    /// a lost probe is not taken for the next one's.
    generation: u64,
    onward: Onward,
}

impl Breaker {
    /// Returns a closed circuit.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy};
    /// let breaker = Breaker::new(BreakerPolicy::default());
    /// # let _ = breaker;
    /// ```
    pub fn new(policy: BreakerPolicy) -> Self {
        Self { policy, state: State::Closed(VecDeque::new()), generation: 0, onward: Onward::default() }
    }

    /// Asks for permission to call.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy};
    /// # use domain::time::Timestamp;
    /// assert!(Breaker::new(BreakerPolicy::default()).permit(Timestamp::from_ms(0)).is_ok());
    /// ```
    pub fn permit(&mut self, now: Timestamp) -> Result<Permit, Refused> {
        let now = self.onward.advance(now);
        if let State::Open { since } = self.state {
            let retry_after = since.plus(self.policy.open_for).since(now);
            if retry_after > Span::ZERO {
                return Err(Refused { retry_after });
            }
            self.change(State::HalfOpen { probing_since: None, successes: 0 });
        }
        if let State::HalfOpen { probing_since, .. } = &mut self.state {
            let call_max = self.policy.call_max;
            let left_of = |whole: Span| probing_since.map_or(Span::ZERO, |since| since.plus(whole).since(now));
            let (left, answered_in) = (left_of(call_max), left_of(Span::from_ms(call_max.as_ms() / ANSWERED_WITHIN)));
            if left > Span::ZERO {
                let retry_after = if answered_in > Span::ZERO { answered_in } else { left };
                return Err(Refused { retry_after });
            }
            *probing_since = Some(now);
            self.generation += 1;
        }
        Ok(Permit { generation: self.generation })
    }

    /// Records the result of a permitted call. `healthy`: the dependency answered, even if it refused the request.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy, CircuitState};
    /// # use domain::time::Timestamp;
    /// let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
    /// let permit = breaker.permit(Timestamp::from_ms(0)).unwrap();
    /// breaker.record(permit, false, Timestamp::from_ms(9));
    /// assert_eq!(breaker.state(Timestamp::from_ms(9)), CircuitState::Open);
    /// ```
    pub fn record(&mut self, permit: Permit, healthy: bool, now: Timestamp) {
        let now = self.onward.advance(now);
        if permit.generation != self.generation {
            return;
        }
        match (&mut self.state, healthy) {
            (State::Closed(_), true) | (State::Open { .. }, _) => {}
            (State::Closed(failures), false) => {
                let window = self.policy.window;
                // The oldest are in front, because time never goes back: each failure leaves once, however many there are.
                while failures.front().is_some_and(|at| now.since(*at) >= window) {
                    failures.pop_front();
                }
                failures.push_back(now);
                if failures.len() >= self.policy.failures_max.max(1) as usize {
                    self.change(State::Open { since: now });
                }
            }
            (State::HalfOpen { .. }, false) => self.change(State::Open { since: now }),
            (State::HalfOpen { probing_since, successes }, true) => {
                *probing_since = None;
                *successes += 1;
                self.generation += 1;
                if *successes >= self.policy.probes.max(1) {
                    self.change(State::Closed(VecDeque::new()));
                }
            }
        }
    }

    /// Gives back a permit whose call was not made or was cancelled: the circuit learns nothing.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy};
    /// # use domain::time::Timestamp;
    /// let mut breaker = Breaker::new(BreakerPolicy::default());
    /// let permit = breaker.permit(Timestamp::from_ms(0)).unwrap();
    /// breaker.cancel(permit);
    /// ```
    pub fn cancel(&mut self, permit: Permit) {
        if let State::HalfOpen { probing_since, .. } = &mut self.state
            && permit.generation == self.generation
        {
            *probing_since = None;
        }
    }

    /// Returns the state. An open circuit whose time has passed is half-open.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy, CircuitState};
    /// # use domain::time::Timestamp;
    /// assert_eq!(Breaker::new(BreakerPolicy::default()).state(Timestamp::from_ms(7)), CircuitState::Closed);
    /// ```
    pub fn state(&self, now: Timestamp) -> CircuitState {
        let now = self.onward.peek(now);
        match &self.state {
            State::Closed(_) => CircuitState::Closed,
            State::Open { since } if now.since(*since) < self.policy.open_for => CircuitState::Open,
            State::Open { .. } | State::HalfOpen { .. } => CircuitState::HalfOpen,
        }
    }

    /// Returns the policy.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy};
    /// assert_eq!(Breaker::new(BreakerPolicy::default()).policy().failures_max, 5);
    /// ```
    pub fn policy(&self) -> &BreakerPolicy {
        &self.policy
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.generation += 1;
    }
}
