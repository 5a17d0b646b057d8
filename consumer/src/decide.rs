//! Decides what to do with a message that failed. Pure: no clock, no queue.

use crate::strategy::{Overload, Strategy};
use domain::reading::Class;
use domain::time::Span;
use serde::{Deserialize, Serialize};

/// Why a message is dead-lettered.
///
/// ```
/// use consumer::Reason;
///
/// assert_eq!(serde_json::to_value(Reason::BudgetExhausted).unwrap(), "budget_exhausted");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The failure is permanent.
    Permanent,
    /// Three failures on three different instances.
    Poison,
    /// Its time to live or its deadline had passed before it was handled.
    Expired,
    /// The retry budget is exhausted.
    BudgetExhausted,
    /// The circuit of a dependency is open.
    CircuitOpen,
    /// All attempts failed.
    AttemptsExhausted,
}

impl Reason {
    /// Returns the reason's name, as in the stamp and in metrics.
    ///
    /// ```
    /// # use consumer::Reason;
    /// assert_eq!(Reason::AttemptsExhausted.name(), "attempts_exhausted");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Poison => "poison",
            Self::Expired => "expired",
            Self::BudgetExhausted => "budget_exhausted",
            Self::CircuitOpen => "circuit_open",
            Self::AttemptsExhausted => "attempts_exhausted",
        }
    }
}

/// A failed message and the settings of its queue, as far as the decision needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub class: Class,
    /// How often the message has been received, including this time.
    pub receive_count: u32,
    /// The redrive policy's `maxReceiveCount`; `None` without one.
    pub receives_max: Option<u32>,
    /// The remaining visibility timeout.
    pub visibility_left: Span,
    /// How long ago it was received.
    pub held_for: Span,
    /// How long it can wait and still be handled before SQS deletes it for its age; `None` if that is not known.
    pub time_left: Option<Span>,
    /// Whether there is a dead-letter queue, and the message has room for the stamp.
    pub room: bool,
    /// Whether a replay of the office sent it.
    pub replayed: bool,
    pub expired: bool,
    pub poison: bool,
    /// A dependency refused the call, because its circuit is open.
    pub circuit_open: bool,
    /// A retry budget refused another attempt.
    pub budget_exhausted: bool,
    /// The wait that the dependency asked for.
    pub retry_after: Option<Span>,
}

/// What to do with a failed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Send a stamped copy to the dead-letter queue, then delete the message.
    DeadLetter(Reason),
    /// Make the message visible again after this wait.
    Retry(Span),
}

/// Chooses between retry and dead-letter.
pub(crate) fn decide(failed: &Failed, strategy: &Strategy, entropy: u64) -> Decision {
    match reason(failed, strategy) {
        Some(reason) if failed.room => Decision::DeadLetter(reason),
        // Without room for a stamp, the queue's own redrive policy dead-letters the message after its last receive.
        // Handling it again cannot succeed, so use up the remaining receives at once.
        Some(Reason::Permanent | Reason::Poison | Reason::Expired) if failed.receives_max.is_some() => {
            Decision::Retry(Span::ZERO)
        }
        _ => Decision::Retry(wait(failed, strategy, entropy)),
    }
}

/// Returns why the message should be dead-lettered now. The first reason counts.
fn reason(failed: &Failed, strategy: &Strategy) -> Option<Reason> {
    let last = is_last(failed, strategy);
    let give_up = |overload| overload == Overload::DeadLetter || last;
    if failed.expired {
        Some(Reason::Expired)
    } else if failed.class == Class::Permanent {
        Some(Reason::Permanent)
    } else if failed.poison {
        Some(Reason::Poison)
    } else if failed.circuit_open && give_up(strategy.circuit_open) {
        Some(Reason::CircuitOpen)
    } else if failed.budget_exhausted && give_up(strategy.budget_exhausted) {
        Some(Reason::BudgetExhausted)
    } else {
        last.then_some(Reason::AttemptsExhausted)
    }
}

/// Whether there is no further attempt.
pub(crate) fn is_last(failed: &Failed, strategy: &Strategy) -> bool {
    let attempts_max = strategy.attempts_max.into_iter().chain(failed.receives_max).min();
    // SQS deletes a message that is too old without a word, and without a dead letter.
    let is_too_old = failed.time_left.is_some_and(|left| left <= Span::ZERO);
    is_too_old || attempts_max.is_some_and(|max| failed.receive_count >= max)
}

/// A wait that the dependency asked for is a minimum; a date that has passed asks for none. Jitter is added to it, or all
/// messages return with the first probe.
fn wait(failed: &Failed, strategy: &Strategy, entropy: u64) -> Span {
    let limit = strategy.wait.limit(failed.visibility_left, failed.held_for, failed.replayed);
    let limit = failed.time_left.map_or(limit, |left| limit.min(left.max(Span::ZERO)));
    let own = strategy.wait.within(limit, failed.receive_count, entropy);
    failed.retry_after.map_or(own, |asked| asked.max(Span::ZERO).plus(own)).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::Backoff;
    use crate::strategy::Wait;
    use Class::{Permanent, Transient, Unknown};
    use Decision::{DeadLetter, Retry};

    /// First receive of five, 30 s left.
    const FRESH: Failed = Failed {
        class: Transient,
        receive_count: 1,
        receives_max: Some(5),
        visibility_left: Span::from_secs(30),
        held_for: Span::ZERO,
        time_left: None,
        room: true,
        replayed: false,
        expired: false,
        poison: false,
        circuit_open: false,
        budget_exhausted: false,
        retry_after: None,
    };

    fn strategy() -> Strategy {
        let wait = Wait::Backoff(Backoff::new(Span::from_secs(2), Span::from_secs(60)));
        Strategy { wait, ..Strategy::default() }
    }

    fn after(s: i64) -> Decision {
        Retry(Span::from_secs(s))
    }

    fn check(failed: Failed, expected: Decision) {
        assert_eq!(decide(&failed, &strategy(), u64::MAX), expected, "{failed:?}");
    }

    #[test]
    fn class_receives_and_room_decide() {
        let row = |class, receives: (u32, Option<u32>), left_s, room, expected| {
            let (receive_count, receives_max) = receives;
            let visibility_left = Span::from_secs(left_s);
            check(Failed { class, receive_count, receives_max, visibility_left, room, ..FRESH }, expected);
        };
        //    class      receives      left  room   decision
        row(Permanent, (1, Some(5)), 30, true, DeadLetter(Reason::Permanent));
        row(Permanent, (5, Some(5)), 30, true, DeadLetter(Reason::Permanent));
        row(Permanent, (1, Some(5)), 30, false, after(0));
        // Without a dead-letter queue there is no room anywhere.
        row(Permanent, (1, None), 30, false, after(2));
        row(Transient, (1, Some(5)), 30, true, after(2));
        row(Transient, (2, Some(5)), 30, true, after(4));
        row(Transient, (4, Some(5)), 30, true, after(16));
        row(Transient, (4, Some(5)), 9, true, after(9));
        row(Transient, (5, Some(5)), 30, true, DeadLetter(Reason::AttemptsExhausted));
        row(Transient, (9, Some(5)), 30, true, DeadLetter(Reason::AttemptsExhausted));
        row(Transient, (1, Some(1)), 30, true, DeadLetter(Reason::AttemptsExhausted));
        row(Transient, (5, Some(5)), 30, false, after(30));
        row(Transient, (40, None), 30, false, after(30));
        row(Transient, (1, Some(5)), -1, true, after(0));
        row(Unknown, (1, Some(5)), 30, true, after(2));
        row(Unknown, (5, Some(5)), 30, true, DeadLetter(Reason::AttemptsExhausted));
    }

    #[test]
    fn no_wait_outlasts_the_queues_retention() {
        let row = |left_s, expected| {
            let time_left = Some(Span::from_secs(left_s));
            check(Failed { receive_count: 3, time_left, ..FRESH }, expected);
        };
        row(86_400, after(8));
        row(8, after(8));
        row(3, after(3));
        row(0, DeadLetter(Reason::AttemptsExhausted));
        row(-7, DeadLetter(Reason::AttemptsExhausted));
    }

    #[test]
    fn circumstances_decide_in_order() {
        check(Failed { expired: true, poison: true, ..FRESH }, DeadLetter(Reason::Expired));
        check(Failed { expired: true, class: Permanent, ..FRESH }, DeadLetter(Reason::Expired));
        check(Failed { poison: true, ..FRESH }, DeadLetter(Reason::Poison));
        check(Failed { poison: true, class: Permanent, ..FRESH }, DeadLetter(Reason::Permanent));
        check(Failed { poison: true, room: false, ..FRESH }, after(0));
        check(Failed { budget_exhausted: true, ..FRESH }, DeadLetter(Reason::BudgetExhausted));
        check(Failed { budget_exhausted: true, room: false, ..FRESH }, after(2));
        check(Failed { circuit_open: true, budget_exhausted: true, ..FRESH }, DeadLetter(Reason::BudgetExhausted));
        check(Failed { circuit_open: true, receive_count: 5, ..FRESH }, DeadLetter(Reason::CircuitOpen));
    }

    #[test]
    fn an_open_circuit_is_waited_for_with_jitter() {
        let open = Failed { circuit_open: true, retry_after: Some(Span::from_secs(20)), ..FRESH };
        check(open, after(22));
        check(Failed { visibility_left: Span::from_secs(9), ..open }, after(9));
        check(Failed { retry_after: Some(Span::from_days(400)), ..open }, after(30));
        check(Failed { retry_after: Some(Span::from_secs(-60)), ..open }, after(2));
        let dead_letter = Strategy { circuit_open: Overload::DeadLetter, ..strategy() };
        assert_eq!(decide(&open, &dead_letter, 0), DeadLetter(Reason::CircuitOpen));
    }

    #[test]
    fn a_strategy_limits_the_attempts_and_lengthens_the_waits() {
        let strategy = Strategy { attempts_max: Some(3), wait: Wait::stages(), ..strategy() };
        let decide = |failed: Failed| decide(&failed, &strategy, 0);
        assert_eq!(decide(Failed { receive_count: 2, ..FRESH }), after(60));
        assert_eq!(decide(Failed { receive_count: 2, replayed: true, ..FRESH }), after(30));
        assert_eq!(decide(Failed { receive_count: 3, ..FRESH }), DeadLetter(Reason::AttemptsExhausted));
        let sooner = Failed { receive_count: 2, receives_max: Some(2), ..FRESH };
        assert_eq!(decide(sooner), DeadLetter(Reason::AttemptsExhausted));
    }
}
