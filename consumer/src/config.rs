//! A consumer's settings, and the outcomes it reports.

use crate::failure::Failure;
use domain::id::QueueArn;
use domain::message::Content;
use domain::time::{Span, Timestamp};
use queue::Received;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What happened to a received message.
#[derive(Clone, Debug, PartialEq)]
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
    /// The handler failed for good; a stamped copy is in the dead-letter queue.
    DeadLettered {
        /// Why it failed.
        failure: Failure,
    },
    /// The handler failed, and the queues accepted neither the retry nor the stamped copy. The message returns when its
    /// visibility timeout ends, and the queue's redrive policy moves it after its last receive.
    Unsettled {
        /// Why it failed.
        failure: Failure,
    },
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
    /// Returns the running version. Called for each message, because a deployment may change it.
    pub version: Arc<dyn Fn() -> String + Send + Sync>,
    /// Messages handled concurrently, at least 1. Default: 10, one full receive.
    pub concurrency: usize,
    /// How long a receive waits for the first message. Default: 20 s, the most that SQS allows, because empty receives
    /// cost money. Shutdown waits for a receive in progress: cancelling it would use up one receive of its messages.
    pub wait: Span,
    /// The longest wait before the first retry; doubles with each receive. Default: 1 s.
    pub backoff_base: Span,
    /// The longest wait before any retry; the remaining visibility timeout limits it too. Default: 5 min.
    pub backoff_cap: Span,
    /// The queue for receipts of handled messages that a replay had sent. With receipts the office knows at once that
    /// a letter was processed; without, it waits for the end of the letter's window. Default: `None`.
    pub receipts: Option<QueueArn>,
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
    /// Returns default settings for the consumer `consumer` of `queue`; `version` returns its running version.
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
            backoff_base: Span::from_secs(1),
            backoff_cap: Span::from_mins(5),
            receipts: None,
            message_type: |_| None,
            now: Arc::new(system_now),
            entropy: Arc::new(system_entropy),
            on_outcome: Arc::new(|_, _| {}),
        }
    }
}

fn system_now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Without random numbers from the system, waits half of the ceiling: jitter only spreads retries.
fn system_entropy() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}
