//! How a consumer is set up, and what it tells of each message.

use crate::failure::Failure;
use domain::id::QueueArn;
use domain::message::Content;
use domain::time::{Span, Timestamp};
use queue::Received;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What became of a received message.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The handler succeeded; the message is being deleted.
    Handled,
    /// It failed and becomes visible again after a while.
    Retried {
        /// Why it failed.
        failure: Failure,
        /// The wait.
        after: Span,
    },
    /// It failed for good: a stamped copy is in the dead-letter queue.
    DeadLettered {
        /// Why it failed.
        failure: Failure,
    },
    /// It failed, and the dead-letter queue did not take the copy: the queue's own redrive has it now.
    Left {
        /// Why it failed.
        failure: Failure,
    },
}

type Tell = dyn Fn(&Received, &Outcome) + Send + Sync;

/// A consumer's settings. [`ConsumerConfig::new`] gives values that suit most; change what does not.
#[derive(Clone)]
pub struct ConsumerConfig {
    /// The main queue. Visibility timeout, maxReceiveCount and dead-letter queue are read from it.
    pub queue: QueueArn,
    /// The service's name as the office shows it.
    pub consumer: String,
    /// The service's version at this moment: asked for each message, since a deployment may change it.
    pub version: Arc<dyn Fn() -> String + Send + Sync>,
    /// Messages handled at a time, at least 1. 10, one full receive.
    pub concurrency: usize,
    /// How long a receive waits for the first message. 20 s, the longest that SQS allows: empty receives cost money.
    /// Shutting down waits for the receive under way, since breaking it off would use up one of a message's receives.
    pub wait: Span,
    /// The ceiling of the first backoff. 1 s.
    pub backoff_base: Span,
    /// The highest ceiling of a backoff; also limited by what is left of the visibility timeout. 5 min.
    pub backoff_cap: Span,
    /// Where receipts go for messages that a replay of the office sent: the office then need not wait for its window
    /// to know that they were processed. None by default.
    pub receipts: Option<QueueArn>,
    /// What kind of message this is. By default nothing is said and the office reads it from the body.
    pub message_type: fn(&Content) -> Option<String>,
    /// The clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Even random numbers, for the jitter.
    pub entropy: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Told of each message's outcome, for counters. Must not block.
    pub tell: Arc<Tell>,
}

impl ConsumerConfig {
    /// Settings for a consumer of `queue` called `consumer`, whose version `version` tells.
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
            tell: Arc::new(|_, _| {}),
        }
    }
}

fn system_now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Jitter only keeps retries apart; where the system gives no random numbers, half of the ceiling does as well.
fn system_entropy() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}
