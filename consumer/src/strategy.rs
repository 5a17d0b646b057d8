//! What to do with failed messages of one type: attempts, waits, time to live, and which dead-letter queue.

use crate::backoff::{Backoff, between};
use domain::id::QueueArn;
use domain::limits::VISIBILITY_S_MAX;
use domain::time::Span;

/// The waits of [`Wait::stages`]: a glitch is over in seconds, a deployment in minutes, an outage in hours.
const STAGES_S: [i64; 7] = [10, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600];
/// The jitter of a stage: up to this share is added, percent.
const STAGE_JITTER_PCT: i64 = 10;
/// The longest wait by visibility.
const VISIBILITY_MAX: Span = Span::from_secs(VISIBILITY_S_MAX);

/// How long a failed message waits before its next receive.
///
/// ```
/// use consumer::strategy::Wait;
/// use domain::time::Span;
///
/// assert_eq!(Wait::stages().after(2, 0), Span::from_mins(1));
/// assert_eq!(Wait::stages().after(99, u64::MAX), Span::from_secs(12 * 3600), "as long as SQS allows");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Exponential, never longer than what is left of the queue's own visibility timeout.
    ///
    /// So a message is never away for longer than without this crate, and the office's observation window for replayed
    /// letters (visibility timeout × `maxReceiveCount`) holds.
    Backoff(Backoff),
    /// One wait for each receive, the last one for all further ones, up to 12 h, plus up to a tenth as jitter. Longer
    /// than the queue's own visibility timeout if it says so, except for messages that a replay sent.
    Stages(Vec<Span>),
}

impl Wait {
    /// Returns the stages 10 s, 1 min, 5 min, 15 min, 1 h, 4 h and 12 h.
    ///
    /// ```
    /// # use consumer::strategy::Wait;
    /// # use domain::time::Span;
    /// assert_eq!(Wait::stages().after(1, 0), Span::from_secs(10));
    /// ```
    pub fn stages() -> Self {
        Self::Stages(STAGES_S.map(Span::from_secs).to_vec())
    }

    /// Returns the wait after receive number `receive_count` (1 is the first), before any limit by the queue.
    ///
    /// ```
    /// # use consumer::{backoff::Backoff, strategy::Wait};
    /// # use domain::time::Span;
    /// let wait = Wait::Backoff(Backoff::new(Span::from_secs(1), Span::from_mins(5)));
    /// assert_eq!(wait.after(3, u64::MAX), Span::from_secs(4));
    /// assert_eq!(Wait::Stages(Vec::new()).after(1, 0), Span::ZERO);
    /// ```
    pub fn after(&self, receive_count: u32, entropy: u64) -> Span {
        let wait = match self {
            // The wait before the previous receive is not known here, so it is taken as the longest.
            Self::Backoff(backoff) => {
                let previous = backoff.ceiling(receive_count.saturating_sub(1));
                backoff.wait(receive_count, previous, entropy)
            }
            Self::Stages(stages) => {
                let at = receive_count.max(1) as usize - 1;
                let stage = stages.get(at).or(stages.last()).copied().unwrap_or_default().max(Span::ZERO);
                between(stage, stage.plus(Span::from_ms(stage.as_ms() / 100 * STAGE_JITTER_PCT)), entropy)
            }
        };
        wait.min(VISIBILITY_MAX)
    }

    /// Returns the wait within a limit. A backoff keeps its spread: the limit lowers its cap instead of cutting its waits.
    pub(crate) fn within(&self, limit: Span, receive_count: u32, entropy: u64) -> Span {
        match self {
            Self::Backoff(backoff) => {
                let cap = backoff.cap.min(limit);
                Self::Backoff(Backoff { cap, ..*backoff }).after(receive_count, entropy).min(limit)
            }
            Self::Stages(_) => self.after(receive_count, entropy).min(limit),
        }
    }

    /// Returns the longest wait that the queue's state allows.
    pub(crate) fn limit(&self, visibility_left: Span, held_for: Span, replayed: bool) -> Span {
        match self {
            Self::Stages(_) if !replayed => Span::from_ms(VISIBILITY_MAX.as_ms().saturating_sub(held_for.as_ms())),
            Self::Stages(_) | Self::Backoff(_) => visibility_left,
        }
        .max(Span::ZERO)
    }
}

/// What happens to a message while a dependency cannot take it.
///
/// ```
/// use consumer::strategy::{Overload, Strategy};
///
/// assert_eq!(Strategy::default().circuit_open, Overload::Wait);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// It waits in its queue until the next probe at least, as far as the queue allows.
    Wait,
    /// It is dead-lettered as transient, so that the office may send it back by rule.
    DeadLetter,
}

/// What to do with failed messages of one type.
///
/// ```
/// use consumer::strategy::{Strategy, Wait};
/// use domain::time::Span;
///
/// let payments = Strategy { wait: Wait::stages(), ttl: Some(Span::from_days(1)), ..Strategy::default() };
/// assert_eq!(payments.attempts_max, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The number of receives after which a message is dead-lettered; the redrive policy's `maxReceiveCount` limits it
    /// too. Default: `None`, only the redrive policy.
    pub attempts_max: Option<u32>,
    /// The waits. Default: exponential, 1 s doubling up to 5 min, full jitter.
    pub wait: Wait,
    /// How long after its first send a message may still be handled. An older one is dead-lettered unhandled. Default:
    /// `None`, no limit.
    pub ttl: Option<Span>,
    /// While a dependency's circuit is open. Default: wait.
    pub circuit_open: Overload,
    /// When a retry budget is exhausted. Default: dead-letter, because more retries would feed the outage.
    pub budget_exhausted: Overload,
    /// The dead-letter queue. Must be of the same type (FIFO or standard) as the main queue. Default: `None`, the one
    /// that the redrive policy names.
    pub dlq: Option<QueueArn>,
}

impl Default for Strategy {
    fn default() -> Self {
        Self {
            attempts_max: None,
            wait: Wait::Backoff(Backoff::new(Span::from_secs(1), Span::from_mins(5))),
            ttl: None,
            circuit_open: Overload::Wait,
            budget_exhausted: Overload::DeadLetter,
            dlq: None,
        }
    }
}

/// The strategies of a consumer's message types.
///
/// ```
/// use consumer::strategy::{Strategies, Strategy};
///
/// let urgent = Strategy { attempts_max: Some(9), ..Strategy::default() };
/// let strategies = Strategies::new(Strategy::default()).with("order.refund", urgent);
/// assert_eq!(strategies.select(Some("order.refund")).attempts_max, Some(9));
/// assert_eq!(strategies.select(None).attempts_max, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies {
    by_type: Vec<(String, Strategy)>,
    default: Strategy,
}

impl Strategies {
    /// Returns one strategy for all types.
    ///
    /// ```
    /// # use consumer::strategy::{Strategies, Strategy};
    /// assert_eq!(Strategies::new(Strategy::default()), Strategies::default());
    /// ```
    pub fn new(default: Strategy) -> Self {
        Self { by_type: Vec::new(), default }
    }

    /// Adds a strategy for a message type, exactly as [`message_type`](crate::ConsumerConfig::message_type) returns it.
    /// The first strategy of a type wins.
    ///
    /// ```
    /// # use consumer::strategy::{Strategies, Strategy};
    /// let strategies = Strategies::default().with("a", Strategy { attempts_max: Some(1), ..Strategy::default() });
    /// assert_eq!(strategies.select(Some("a")).attempts_max, Some(1));
    /// ```
    #[must_use]
    pub fn with(mut self, message_type: impl Into<String>, strategy: Strategy) -> Self {
        self.by_type.push((message_type.into(), strategy));
        self
    }

    /// Returns the strategy for a message type; `None` is a message without a type.
    ///
    /// ```
    /// # use consumer::strategy::Strategies;
    /// assert_eq!(Strategies::default().select(Some("unheard of")), Strategies::default().select(None));
    /// ```
    pub fn select(&self, message_type: Option<&str>) -> &Strategy {
        let named = self.by_type.iter().find(|(name, _)| Some(name.as_str()) == message_type);
        named.map_or(&self.default, |(_, strategy)| strategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_pass_the_queues_own_timeout_but_not_for_replayed_messages() {
        let left = Span::from_secs(20);
        let check = |wait: &Wait, held_s, replayed, expected_s| {
            assert_eq!(wait.limit(left, Span::from_secs(held_s), replayed), Span::from_secs(expected_s));
        };
        let backoff = Strategy::default().wait;
        check(&Wait::stages(), 10, false, 43_190);
        check(&Wait::stages(), 10, true, 20);
        check(&Wait::stages(), 50_000, false, 0);
        check(&backoff, 10, false, 20);
    }

    #[test]
    fn each_receive_has_its_stage() {
        let waits: Vec<i64> = (0..=9).map(|n| Wait::stages().after(n, 0).as_ms() / 1000).collect();
        assert_eq!(waits, [10, 10, 60, 300, 900, 3_600, 14_400, 43_200, 43_200, 43_200]);
        assert_eq!(Wait::stages().after(3, u64::MAX), Span::from_secs(330));
        assert_eq!(Wait::Stages(vec![Span::from_secs(-5)]).after(1, 7), Span::ZERO);
    }

    #[test]
    fn the_first_strategy_of_a_type_wins() {
        let strategy = |attempts| Strategy { attempts_max: Some(attempts), ..Strategy::default() };
        let strategies =
            Strategies::new(strategy(9)).with("a", strategy(1)).with("b", strategy(2)).with("a", strategy(3));
        let check = |message_type, expected| assert_eq!(strategies.select(message_type), &strategy(expected));
        check(Some("a"), 1);
        check(Some("b"), 2);
        check(Some("A"), 9);
        check(Some(""), 9);
        check(None, 9);
    }
}
