//! A consumer's settings, and the outcomes it reports.

use crate::attempts::{AttemptLog, InMemory};
use crate::budget::BudgetPolicy;
use crate::clock::{system_entropy, system_now};
use crate::concurrency::AimdPolicy;
use crate::decide::Reason;
use crate::dependency::Dependency;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::panic::caught;
use crate::strategy::Strategies;
use domain::id::QueueArn;
use domain::message::Content;
use domain::policy::Policy;
use domain::time::{Span, Timestamp};
use queue::Received;
use std::sync::Arc;

/// What happened to a received message.
///
/// ```
/// use consumer::{Failure, Outcome, Reason};
///
/// fn is_lost_to_the_customer(outcome: &Outcome) -> bool {
///     matches!(outcome, Outcome::DeadLettered { reason: Reason::Permanent | Reason::Expired, .. })
/// }
/// let failure = Failure::permanent("orders::NotFound", "no such product");
/// assert!(is_lost_to_the_customer(&Outcome::DeadLettered { failure, reason: Reason::Permanent }));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The handler succeeded; the message is about to be deleted.
    Handled,
    /// The handler failed; the message becomes visible again after a wait.
    Retried {
        /// Why it failed.
        failure: Failure,
        /// How long the message stays invisible.
        after: Span,
    },
    /// The consumer gave up; a stamped copy is in the dead-letter queue.
    DeadLettered {
        /// Why it failed.
        failure: Failure,
        /// Why it was not retried.
        reason: Reason,
    },
    /// The handler failed, and the queues accepted neither the retry nor the stamped copy. The message returns when its
    /// visibility timeout ends, and the queue's redrive policy moves it after its last receive.
    Unsettled {
        /// Why it failed.
        failure: Failure,
    },
    /// The message was not handled to the end, because the consumer shut down or its batch had no time left; it is visible
    /// again at once. After its last receive it is dead-lettered instead.
    Released,
}

impl Outcome {
    /// Returns the outcome's name, as in logs and metrics.
    ///
    /// ```
    /// # use consumer::Outcome;
    /// assert_eq!(Outcome::Handled.name(), "handled");
    /// ```
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Handled => "handled",
            Self::Retried { .. } => "retried",
            Self::DeadLettered { .. } => "dead-lettered",
            Self::Unsettled { .. } => "unsettled",
            Self::Released => "released",
        }
    }

    /// Returns the failure, if there is one.
    pub(crate) const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Retried { failure, .. } | Self::DeadLettered { failure, .. } | Self::Unsettled { failure } => {
                Some(failure)
            }
            Self::Handled | Self::Released => None,
        }
    }

    /// Returns the wait before the next attempt.
    pub(crate) const fn after(&self) -> Option<Span> {
        if let Self::Retried { after, .. } = self { Some(*after) } else { None }
    }

    /// Returns why the message is dead.
    pub(crate) const fn reason(&self) -> Option<Reason> {
        if let Self::DeadLettered { reason, .. } = self { Some(*reason) } else { None }
    }
}

type OnOutcome = dyn Fn(&Received, &Outcome) + Send + Sync;

/// A consumer's settings. [`ConsumerConfig::new`] fills in defaults; change the fields that need other values.
///
/// ```
/// use consumer::ConsumerConfig;
///
/// let orders = "arn:aws:sqs:eu-west-1:111122223333:orders".into();
/// let mut config = ConsumerConfig::new(orders, "orders", || "2025.11.3".into());
/// config.concurrency = 4;
/// config.receipts = Some("arn:aws:sqs:eu-west-1:111122223333:dlo-receipts".into());
/// ```
#[derive(Clone)]
pub struct ConsumerConfig {
    /// The main queue. Its attributes supply the visibility timeout, `maxReceiveCount` and the dead-letter queue.
    pub queue: QueueArn,
    /// The consumer's name, as the office shows it.
    pub consumer: String,
    /// Returns the running version. Called for each message, because a deployment may change it. If it panics, the message
    /// has no version.
    pub version: Arc<dyn Fn() -> String + Send + Sync>,
    /// Messages handled concurrently, at least 1. Default: 10, one full receive.
    pub concurrency: usize,
    /// How long a receive waits for the first message. Default: 20 s, the most that SQS allows, because empty receives
    /// cost money. Longer waits count as 20 s, negative ones as none. Shutdown waits for a receive in progress, unless
    /// `cancel_receive` is set.
    pub wait: Span,
    /// What to do with failed messages, by type. Default: exponential backoff with full jitter for all types.
    pub strategies: Strategies,
    /// The office's policy file: its classification rules decide before the handler's own class, and its deadlines are
    /// checked before a message is handled. Default: the default policy, without rules.
    pub policy: Arc<Policy>,
    /// How long a handler may take. `Some`: the consumer extends the visibility timeout while the handler runs, up to
    /// SQS's 12 h. Default: `None`, nine tenths of the queue's visibility timeout, without extensions. The office
    /// derives its observation window from that timeout, so a longer handler needs receipts.
    pub handler_max: Option<Span>,
    /// Limits retries between receives to a share of the received messages. Beyond it, failed messages are
    /// dead-lettered as [`Reason::BudgetExhausted`]. Default: `None`: a queue is a buffer, and each message has its own
    /// limit of receives.
    pub retry_budget: Option<BudgetPolicy>,
    /// The log of failed attempts. Default: this process's memory; poison needs a log that all instances share.
    pub attempt_log: Arc<dyn AttemptLog>,
    /// What identifies this process on stamps. Default: [`Instance::from_env`].
    pub instance: Instance,
    /// Adapts the concurrency to the load: up to `concurrency`, less after transient failures. Default: `None`, fixed.
    pub adaptive: Option<AimdPolicy>,
    /// Whether shutdown cancels a receive in progress. Its messages, if it had any, return after the visibility
    /// timeout and have used up one receive. Default: false, so shutdown takes up to `wait`.
    pub cancel_receive: bool,
    /// How long shutdown waits for running handlers. Then they are cancelled, and their messages become visible at
    /// once; after their last receive they are dead-lettered with a stamp, as transient. Default: `None`, until they have
    /// finished.
    pub drain_max: Option<Span>,
    /// Whether handling a message of this type twice does no harm. Told on stamps, receipts and notices. Default: always
    /// false.
    pub idempotent: fn(message_type: Option<&str>) -> bool,
    /// Returns the message's idempotency key for the stamp. Default: always `None`.
    pub idempotency_key: fn(&Content) -> Option<String>,
    /// The queue for receipts of handled messages that a replay had sent. With receipts the office knows at once that
    /// a letter was processed; without, it waits for the end of the letter's window. Notices go there too: the states of
    /// `dependencies`, and which types are `idempotent`. Default: `None`.
    pub receipts: Option<QueueArn>,
    /// The dependencies that handlers call, at most [`CIRCUITS_MAX`](domain::notice::CIRCUITS_MAX). When a circuit opens
    /// or closes, a notice tells the office. Default: none.
    pub dependencies: Vec<Dependency>,
    /// Returns the message's type for the stamp. Default: always `None`; the office then derives the type from the body.
    pub message_type: fn(&Content) -> Option<String>,
    /// Returns the current time. Default: the system clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Returns uniform random numbers for the jitter. Default: the system's random numbers.
    pub entropy: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Called with each message's outcome, for example to count. Must not block. Default: does nothing.
    pub on_outcome: Arc<OnOutcome>,
}

impl ConsumerConfig {
    /// Returns the running version. If it cannot be read, the message has none; the loop goes on.
    pub(crate) fn running_version(&self) -> String {
        caught(|| (self.version)()).unwrap_or_else(|panicked| {
            tracing::error!(queue = %self.queue, ?panicked, "reading the consumer's version panicked");
            String::new()
        })
    }

    /// Returns a random number for a wait; half of the range if there is none, because jitter only spreads retries.
    pub(crate) fn random(&self) -> u64 {
        caught(|| (self.entropy)()).unwrap_or_else(|panicked| {
            tracing::error!(queue = %self.queue, ?panicked, "reading a random number panicked");
            u64::MAX / 2
        })
    }

    /// Returns default settings for the consumer `consumer` of `queue`; `version` returns its running version.
    ///
    /// ```
    /// # use consumer::ConsumerConfig;
    /// let config = ConsumerConfig::new("arn:aws:sqs:eu-west-1:111122223333:a".into(), "shop", || "7".into());
    /// assert_eq!((config.concurrency, config.handler_max), (10, None));
    /// ```
    pub fn new(
        queue: QueueArn,
        consumer: impl Into<String>,
        version: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            queue,
            consumer: consumer.into(),
            version: Arc::new(version),
            concurrency: 10,
            wait: Span::from_secs(20),
            strategies: Strategies::default(),
            policy: Arc::default(),
            handler_max: None,
            retry_budget: None,
            attempt_log: Arc::new(InMemory::default()),
            instance: Instance::from_env(),
            adaptive: None,
            cancel_receive: false,
            drain_max: None,
            idempotent: |_| false,
            idempotency_key: |_| None,
            receipts: None,
            dependencies: Vec::new(),
            message_type: |_| None,
            now: Arc::new(system_now),
            entropy: Arc::new(system_entropy),
            on_outcome: Arc::new(|_, _| {}),
        }
    }
}
