//! What to do with failed messages of one type: attempts, waits, time to live, severity, what an open circuit means, and
//! which dead-letter queue.

use crate::backoff::{Backoff, between};
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::limits::VISIBILITY_S_MAX;
pub use domain::policy::Overload;
use domain::policy::{DlqKind, Policy, StrategyRule};
use domain::time::Span;

#[cfg(test)]
mod tests;

/// The waits of [`Wait::stages`]: a glitch is over in seconds, a deployment in minutes, an outage in hours.
const STAGES_S: [i64; 7] = [10, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600];
/// The jitter of a stage: up to this share is added, percent.
const STAGE_JITTER_PCT: i64 = 10;
/// The longest wait by visibility.
const VISIBILITY_MAX: Span = Span::from_secs(VISIBILITY_S_MAX);
/// What a wait stays below SQS's limit. SQS counts from when it hands the message out, which is before we know of it, and
/// waits whole seconds.
const VISIBILITY_SPARES: Span = Span::from_secs(60);

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
            Self::Stages(_) if !replayed => {
                Span::from_ms(VISIBILITY_MAX.as_ms() - VISIBILITY_SPARES.as_ms() - held_for.as_ms())
            }
            Self::Stages(_) | Self::Backoff(_) => visibility_left,
        }
        .max(Span::ZERO)
    }
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
    /// How badly a dead letter of this type affects a customer: on its stamp and in the metrics. Default: warning, as in
    /// the office.
    pub severity: Severity,
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
            severity: Severity::default(),
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
        Ok(Self {
            attempts_max: rule.attempts_max.or(self.attempts_max),
            wait,
            ttl: rule.ttl_ms.or(self.ttl),
            severity: self.severity,
            circuit_open: rule.circuit_open.unwrap_or(self.circuit_open),
            budget_exhausted: rule.budget_exhausted.unwrap_or(self.budget_exhausted),
            dlq,
        })
    }
}

impl Strategies {
    /// Returns the strategies of the office's policy file: what its `strategies` say of each type, with the severity
    /// that its `message_types` say. What both leave open follows `default`.
    ///
    /// ```
    /// # use consumer::strategy::{Dlqs, Overload, Strategies, Strategy};
    /// # use domain::{impact::Severity, policy::Policy};
    /// let policy = Policy::parse(
    ///     r#"{ "strategies": [{ "message_type": "order.refund", "attempts_max": 9, "circuit_open": "dead_letter" }],
    ///          "message_types": [{ "message_type": "order.refund", "severity": "critical" }] }"#,
    /// );
    /// let strategies = Strategies::of_policy(&policy.unwrap(), &Strategy::default(), &Dlqs::default()).unwrap();
    /// let refund = strategies.select(Some("order.refund"));
    /// assert_eq!((refund.attempts_max, refund.severity), (Some(9), Severity::Critical));
    /// assert_eq!(refund.circuit_open, Overload::DeadLetter);
    /// assert_eq!(strategies.select(None), &Strategy::default());
    /// ```
    pub fn of_policy(policy: &Policy, default: &Strategy, dlqs: &Dlqs) -> Result<Self, UnknownDlq> {
        let strategy_of = |message_type: Option<&str>| {
            let rule = policy.strategy_rule(message_type);
            let ruled = rule.map_or_else(|| Ok(default.clone()), |rule| default.ruled_by(rule, dlqs))?;
            let severity = policy.message_type_rule(message_type).and_then(|rule| rule.severity);
            Ok(Strategy { severity: severity.unwrap_or(default.severity), ..ruled })
        };
        let mut strategies = Self::new(strategy_of(None)?);
        let ruled = policy.strategies.iter().map(|rule| &rule.message_type);
        let read = policy.message_types.iter().map(|rule| &rule.message_type);
        for name in ruled.chain(read).filter(|name| *name != "*") {
            if strategies.by_type.iter().all(|(known, _)| known != name) {
                strategies = strategies.with(name.clone(), strategy_of(Some(name))?);
            }
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
    /// The first strategy of a type wins. A pattern such as `order.*` is no message type:
    /// [`Consumer::check`](crate::Consumer::check) names strategies that are for no message.
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

    /// Returns every strategy that a message can have.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Strategy> {
        std::iter::once(&self.default).chain(self.by_type.iter().map(|(_, strategy)| strategy))
    }

    /// Returns the names that stand for no message: patterns, empty ones, and those that an earlier strategy has.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let names = self.by_type.iter().map(|(name, _)| name.as_str()).enumerate();
        let is_unused = |(at, name): &(usize, &str)| {
            let is_repeated = self.by_type[..*at].iter().any(|(earlier, _)| earlier == name);
            is_repeated || name.trim().is_empty() || name.contains('*')
        };
        names.filter(is_unused).map(|(_, name)| name)
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
