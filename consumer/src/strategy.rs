//! What to do with failed messages of one type: attempts, waits, time to live, and which dead-letter queue.

use crate::backoff::{Backoff, between};
use domain::id::QueueArn;
use domain::limits::VISIBILITY_S_MAX;
use domain::policy::{DlqKind, Policy, StrategyRule};
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

/// The dead-letter queues that a policy names by their purpose.
///
/// ```
/// use consumer::strategy::Dlqs;
///
/// let dlqs = Dlqs { critical: Some("arn:aws:sqs:eu-west-1:111122223333:orders-critical".into()), ..Dlqs::default() };
/// assert_eq!(dlqs.retry, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dlqs {
    /// For messages whose loss harms customers.
    pub critical: Option<QueueArn>,
    /// For messages that a replay is likely to settle.
    pub retry: Option<QueueArn>,
    /// For messages that somebody must look at first.
    pub investigation: Option<QueueArn>,
}

impl Dlqs {
    fn find(&self, kind: DlqKind) -> Option<&QueueArn> {
        match kind {
            DlqKind::Critical => self.critical.as_ref(),
            DlqKind::Retry => self.retry.as_ref(),
            DlqKind::Investigation => self.investigation.as_ref(),
        }
    }
}

/// A policy names a dead-letter queue that the consumer was not told.
///
/// ```
/// use consumer::strategy::{Dlqs, Strategies, Strategy};
/// use domain::policy::Policy;
///
/// let policy = Policy::parse(r#"{ "strategies": [{ "message_type": "order.refund", "dlq": "critical" }] }"#).unwrap();
/// let unknown = Strategies::of_policy(&policy, &Strategy::default(), &Dlqs::default()).unwrap_err();
/// assert_eq!(
///     unknown.to_string(),
///     "the policy sends order.refund to the dead-letter queue Critical, whose ARN is not set: set it in `Dlqs`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy sends {message_type} to the dead-letter queue {kind:?}, whose ARN is not set: set it in `Dlqs`")]
pub struct UnknownDlq {
    /// The message type of the rule.
    pub message_type: String,
    /// The queue's purpose.
    pub kind: DlqKind,
}

impl Strategy {
    /// Returns this strategy with what a rule of the policy changes.
    fn ruled_by(&self, rule: &StrategyRule, dlqs: &Dlqs) -> Result<Self, UnknownDlq> {
        let default = Backoff::new(Span::from_secs(1), Span::from_mins(5));
        let own = if let Wait::Backoff(backoff) = &self.wait { *backoff } else { default };
        let exponential = Backoff {
            base: rule.backoff_ms.unwrap_or(own.base),
            cap: rule.backoff_ms_max.unwrap_or(own.cap),
            jitter: rule.jitter.unwrap_or(own.jitter),
        };
        let changed = rule.backoff_ms.is_some() || rule.backoff_ms_max.is_some() || rule.jitter.is_some();
        let wait = match (rule.stages_ms.is_empty(), changed) {
            (false, _) => Wait::Stages(rule.stages_ms.clone()),
            (true, true) => Wait::Backoff(exponential),
            (true, false) => self.wait.clone(),
        };
        let unknown = |kind| UnknownDlq { message_type: rule.message_type.clone(), kind };
        let find = |kind| dlqs.find(kind).cloned().ok_or_else(|| unknown(kind));
        let dlq = rule.dlq.map(find).transpose()?.or_else(|| self.dlq.clone());
        let (attempts_max, ttl) = (rule.attempts_max.or(self.attempts_max), rule.ttl_ms.or(self.ttl));
        Ok(Self { attempts_max, wait, ttl, dlq, ..self.clone() })
    }
}

impl Strategies {
    /// Returns the strategies of the office's policy file. What a rule leaves open follows `default`.
    ///
    /// ```
    /// # use consumer::strategy::{Dlqs, Strategies, Strategy};
    /// # use domain::policy::Policy;
    /// let policy = Policy::parse(r#"{ "strategies": [{ "message_type": "order.refund", "attempts_max": 9 }] }"#).unwrap();
    /// let strategies = Strategies::of_policy(&policy, &Strategy::default(), &Dlqs::default()).unwrap();
    /// assert_eq!(strategies.select(Some("order.refund")).attempts_max, Some(9));
    /// assert_eq!(strategies.select(None), &Strategy::default());
    /// ```
    pub fn of_policy(policy: &Policy, default: &Strategy, dlqs: &Dlqs) -> Result<Self, UnknownDlq> {
        let mut strategies = Self::new(default.clone());
        for rule in &policy.strategies {
            let strategy = default.ruled_by(rule, dlqs)?;
            if rule.message_type == "*" {
                // The first match wins, so nothing after it counts.
                return Ok(Self { default: strategy, ..strategies });
            }
            strategies = strategies.with(rule.message_type.clone(), strategy);
        }
        Ok(strategies)
    }

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
    use crate::backoff::Jitter;

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

    #[test]
    fn a_policy_file_makes_the_strategies() {
        let policy = r#"{ "strategies": [
            { "message_type": "refund", "attempts_max": 9, "stages_ms": [1000, 2000], "dlq": "critical" },
            { "message_type": "mail", "jitter": "equal", "backoff_ms": 500, "ttl_ms": 60000, "dlq": "retry" },
            { "message_type": "*", "backoff_ms_max": 9000, "dlq": "investigation" },
            { "message_type": "never", "attempts_max": 1 }
        ] }"#;
        let policy = Policy::parse(policy).expect("a policy");
        let arn = |name: &str| Some(QueueArn::from(name));
        let dlqs = Dlqs { critical: arn("c"), retry: arn("r"), investigation: arn("i") };
        let strategies = Strategies::of_policy(&policy, &Strategy::default(), &dlqs).expect("known queues");
        let check = |message_type, attempts_max, wait: Wait, ttl: Option<i64>, dlq: &str| {
            let (ttl, dlq) = (ttl.map(Span::from_secs), arn(dlq));
            let expected = Strategy { attempts_max, wait, ttl, dlq, ..Strategy::default() };
            assert_eq!(strategies.select(message_type), &expected, "{message_type:?}");
        };
        let backoff = |base_ms, cap_s| Backoff::new(Span::from_ms(base_ms), Span::from_secs(cap_s));
        check(Some("refund"), Some(9), Wait::Stages([1, 2].map(Span::from_secs).to_vec()), None, "c");
        check(Some("mail"), None, Wait::Backoff(backoff(500, 300).with_jitter(Jitter::Equal)), Some(60), "r");
        check(Some("never"), None, Wait::Backoff(backoff(1_000, 9)), None, "i");
        check(None, None, Wait::Backoff(backoff(1_000, 9)), None, "i");
    }
}
