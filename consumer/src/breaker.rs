//! A circuit breaker: stops calls to a dependency that keeps failing. Pure: the caller passes the time.
//!
//! Closed: calls pass, failures are counted. Open: calls are refused. Half-open: one probe at a time passes; its result
//! closes the circuit or opens it again. (Nygard, "Release It!"; Resilience4j's `CircuitBreaker`.)
//!
//! Nobody waits for somebody else's probe: while it runs, other calls are refused at once. They are asked to return when
//! a dependency that works would have answered, which is after a tenth of [`BreakerPolicy::call_max`]. If the probe has
//! taken longer than that, the dependency probably hangs: then they are asked to return when the probe counts as lost,
//! because each earlier return would use up one of a message's receives.

pub use domain::notice::CircuitState;
use domain::time::{Span, Timestamp};
use std::collections::VecDeque;

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
    /// Counts the changes of state, so that the late result of a call does not change a later state.
    generation: u64,
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
        Self { policy, state: State::Closed(VecDeque::new()), generation: 0 }
    }

    /// Asks for permission to call.
    ///
    /// ```
    /// # use consumer::breaker::{Breaker, BreakerPolicy};
    /// # use domain::time::Timestamp;
    /// assert!(Breaker::new(BreakerPolicy::default()).permit(Timestamp::from_ms(0)).is_ok());
    /// ```
    pub fn permit(&mut self, now: Timestamp) -> Result<Permit, Refused> {
        if let State::Open { since } = self.state {
            let retry_after = since.plus(self.policy.open_for).since(now);
            // A clock that went back must not keep the circuit open for longer than a whole period.
            if retry_after > Span::ZERO && retry_after <= self.policy.open_for {
                return Err(Refused { retry_after });
            }
            self.change(State::HalfOpen { probing_since: None, successes: 0 });
        }
        if let State::HalfOpen { probing_since, .. } = &mut self.state {
            let call_max = self.policy.call_max;
            let left_of = |whole: Span| probing_since.map_or(Span::ZERO, |since| since.plus(whole).since(now));
            let (left, answered_in) = (left_of(call_max), left_of(Span::from_ms(call_max.as_ms() / ANSWERED_WITHIN)));
            if left > Span::ZERO && left <= call_max {
                let retry_after = if answered_in > Span::ZERO { answered_in } else { left };
                return Err(Refused { retry_after });
            }
            *probing_since = Some(now);
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
        if permit.generation != self.generation {
            return;
        }
        match (&mut self.state, healthy) {
            (State::Closed(_), true) | (State::Open { .. }, _) => {}
            (State::Closed(failures), false) => {
                let window = self.policy.window;
                failures.retain(|at| now.since(*at) < window);
                failures.push_back(now);
                if failures.len() >= self.policy.failures_max.max(1) as usize {
                    self.change(State::Open { since: now });
                }
            }
            (State::HalfOpen { .. }, false) => self.change(State::Open { since: now }),
            (State::HalfOpen { probing_since, successes }, true) => {
                *probing_since = None;
                *successes += 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use CircuitState::{Closed, HalfOpen, Open};
    use proptest::prelude::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_ms(s * 1000)
    }

    /// A call at a second: `+` healthy, `-` failed, `x` refused.
    fn play(policy: BreakerPolicy, calls: &[(i64, char, CircuitState)]) {
        let mut breaker = Breaker::new(policy);
        for (s, call, state) in calls {
            match (breaker.permit(at(*s)), call) {
                (Ok(permit), '+' | '-') => breaker.record(permit, *call == '+', at(*s)),
                (Err(_), 'x') => {}
                (permit, call) => panic!("at {s} s: {permit:?} for {call}"),
            }
            assert_eq!(breaker.state(at(*s)), *state, "at {s} s");
        }
    }

    #[test]
    fn the_states_follow_the_calls() {
        let policy = BreakerPolicy { failures_max: 3, ..BreakerPolicy::default() };
        play(policy, &[(0, '-', Closed), (1, '+', Closed), (2, '-', Closed), (3, '-', Open), (4, 'x', Open)]);
        play(policy, &[(0, '-', Closed), (1, '-', Closed), (301, '-', Closed), (302, '-', Closed), (303, '-', Open)]);
        let one = BreakerPolicy { failures_max: 1, ..policy };
        play(one, &[(0, '-', Open), (29, 'x', Open), (30, '+', Closed), (31, '-', Open)]);
        play(one, &[(0, '-', Open), (30, '-', Open), (59, 'x', Open), (60, '+', Closed)]);
        let two = BreakerPolicy { probes: 2, ..one };
        play(two, &[(0, '-', Open), (30, '+', HalfOpen), (31, '+', Closed)]);
    }

    #[test]
    fn one_probe_at_a_time() {
        let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let permit = breaker.permit(at(0)).unwrap();
        breaker.record(permit, false, at(0));
        let probe = breaker.permit(at(30)).unwrap();
        assert!(breaker.permit(at(31)).is_err());
        breaker.cancel(probe);
        let lost = breaker.permit(at(32)).unwrap();
        let next = breaker.permit(at(62)).expect("a probe without a result is lost after the longest call");
        breaker.record(next, true, at(63));
        breaker.record(lost, false, at(64));
        assert_eq!(breaker.state(at(64)), Closed);
    }

    #[test]
    fn while_a_probe_runs_others_return_when_an_answer_is_likely_or_the_probe_is_lost() {
        let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let permit = breaker.permit(at(0)).unwrap();
        breaker.record(permit, false, at(0));
        let probe = breaker.permit(at(30)).unwrap();
        for (s, retry_after_s) in [(30, 3), (31, 2), (32, 1), (33, 27), (34, 26), (59, 1)] {
            let refused = Refused { retry_after: Span::from_secs(retry_after_s) };
            assert_eq!(breaker.permit(at(s)), Err(refused), "at {s} s");
        }
        breaker.record(probe, true, at(59));
        assert!(breaker.permit(at(59)).is_ok(), "nobody waits longer than the probe takes");
        let instant = BreakerPolicy { failures_max: 1, call_max: Span::from_ms(9), ..BreakerPolicy::default() };
        let mut breaker = Breaker::new(instant);
        let permit = breaker.permit(at(0)).unwrap();
        breaker.record(permit, false, at(0));
        let _probe = breaker.permit(at(30)).unwrap();
        assert_eq!(breaker.permit(at(30)), Err(Refused { retry_after: Span::from_ms(9) }), "a tenth is no time");
    }

    #[test]
    fn late_results_change_nothing() {
        let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let (slow, fast) = (breaker.permit(at(0)).unwrap(), breaker.permit(at(0)).unwrap());
        breaker.record(fast, false, at(1));
        breaker.record(slow, true, at(2));
        assert_eq!(breaker.state(at(2)), Open);
    }

    #[test]
    fn a_clock_that_went_back_does_not_keep_it_open() {
        let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let permit = breaker.permit(at(10_000)).unwrap();
        breaker.record(permit, false, at(10_000));
        assert!(breaker.permit(at(0)).is_ok());
    }

    proptest! {
        #[test]
        fn an_open_circuit_passes_one_call_per_period_at_most(waits in proptest::collection::vec(0_i64..20, 1..200)) {
            let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
            let (mut now, mut passed) = (0, Vec::new());
            for wait in waits {
                now += wait;
                if let Ok(permit) = breaker.permit(at(now)) {
                    breaker.record(permit, false, at(now));
                    passed.push(now);
                }
            }
            prop_assert!(passed.windows(2).all(|pair| pair[1] - pair[0] >= 30));
        }
    }
}
