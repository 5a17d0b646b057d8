//! The queue port: SQS as the office and its consumers see it.
//!
//! Two real implementations exist: SQS itself (`sqs::SqsQueue`, feature `sqs`), and the embedded queue of `dlo`. Both
//! pass the same conformance suite. The office is a consumer too (of the dead-letter queue), so both use this port.
//!
//! `batch` reads the events of a Lambda event source mapping (feature `lambda`).

#[cfg(feature = "lambda")]
pub mod batch;
#[cfg(feature = "sqs")]
pub mod sqs;

use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::message::{Content, SystemAttributes};
use domain::time::{Span, Timestamp};
use std::sync::Arc;

/// A received message, invisible to others until its visibility timeout ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The message's id, the same for each receive.
    pub message_id: MessageId,
    /// The handle of this receive, for deleting the message or changing its visibility.
    pub receipt_handle: String,
    /// Its content.
    pub content: Content,
    /// Its system attributes.
    pub system: SystemAttributes,
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    /// Its content.
    pub content: Content,
    /// `MessageDeduplicationId`: required on FIFO queues without content-based deduplication, forbidden on others.
    pub deduplication_id: Option<String>,
    /// The initial delay in whole seconds, at most 15 minutes; not allowed on FIFO queues.
    pub delay: Span,
}

/// Why one message of a batch was not sent, although others were.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the queue rejected the message: {code}: {reason}")]
pub struct EntryFailure {
    /// SQS's error code, for example `InvalidMessageContents`.
    pub code: String,
    /// SQS's message.
    pub reason: String,
    /// Whether the message itself is at fault, so that sending it again unchanged cannot succeed.
    pub sender_fault: bool,
}

/// Why a call failed as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The queue does not exist.
    #[error("the queue {queue} does not exist")]
    Missing {
        /// The queue.
        queue: QueueArn,
    },
    /// Access was denied.
    #[error("access to the queue {queue} was denied")]
    Denied {
        /// The queue.
        queue: QueueArn,
        /// SQS's message.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The request was invalid and had no effect.
    #[error("the request to the queue {queue} was invalid: {reason}")]
    Invalid {
        /// The queue.
        queue: QueueArn,
        /// The reason.
        reason: String,
    },
    /// No conclusive answer arrived: **the request may have taken effect**.
    #[error("the queue {queue} did not answer; the request may have taken effect")]
    Unanswered {
        /// The queue.
        queue: QueueArn,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A read got no conclusive answer. It changes nothing.
    #[error("the queue {queue} could not be read; nothing was changed")]
    Unread {
        /// The queue.
        queue: QueueArn,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl QueueError {
    /// Returns the error of a call that only reads: without an answer, nothing was changed.
    #[must_use]
    pub fn of_read(self) -> Self {
        match self {
            Self::Unanswered { queue, source } => Self::Unread { queue, source },
            other => other,
        }
    }
}

/// A queue's attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAttributes {
    /// Whether it is a FIFO queue.
    pub fifo: bool,
    /// How long a received message stays invisible.
    pub visibility_timeout: Span,
    /// How long a message is kept.
    pub retention: Span,
    /// The largest message that it takes, body and attributes together, bytes: `MaximumMessageSize`.
    pub message_bytes_max: usize,
    /// The redrive policy, if there is one.
    pub redrive: Option<Redrive>,
    /// The approximate number of messages that can be received now.
    pub visible_count: u64,
    /// The approximate number of messages that consumers hold.
    pub in_flight_count: u64,
    /// The approximate number of delayed messages.
    pub delayed_count: u64,
}

/// A redrive policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Redrive {
    /// The dead-letter queue.
    pub dlq: QueueArn,
    /// The number of receives without a delete after which the next receive moves the message.
    pub receives_max: u32,
}

/// SQS, or an implementation with the same behaviour.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Receives up to `max` (1 to 10) messages and waits up to `wait` (at most 20 s) for the first. `visibility`
    /// overrides the queue's visibility timeout.
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError>;

    /// Sends up to 10 messages of at most 1 MiB in total. Returns one result per message, in order: a successful call
    /// may contain failed messages.
    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError>;

    /// Deletes up to 10 received messages by their handles. Returns one result per message.
    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError>;

    /// Makes a received message visible again after `visibility` from now; zero for immediately.
    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError>;

    /// Returns the queue's attributes.
    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError>;

    /// Returns the latest moment for which the platform knows that every message sent before it has left the queue.
    /// `None` if it does not know: SQS itself has no such attribute.
    async fn cleared_before(&self, _queue: &QueueArn) -> Result<Option<Timestamp>, QueueError> {
        Ok(None)
    }

    /// Returns the number of the platform's alarms on the queue's own metrics: messages that wait, their age, messages
    /// received. `None` if it does not know: SQS itself has no alarms.
    async fn alarms(&self, _queue: &QueueArn) -> Result<Option<usize>, QueueError> {
        Ok(None)
    }

    /// Returns the same queues over connections that no other value of this type uses, for a thread with a runtime of its
    /// own: a connection is driven by the runtime that opened it, and stands still with it. `None` if calls need no
    /// connection.
    fn separate(&self) -> Option<Arc<dyn Queue>> {
        None
    }
}
