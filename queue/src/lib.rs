//! The queue port: SQS as the office and its consumers see it.
//!
//! Two real implementations exist: SQS itself, and the embedded queue that `dlo` runs on. Both pass one
//! conformance suite. The office is a consumer too (of the dead-letter queue), so the port lives here.

use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::message::{Content, SystemAttributes};
use domain::time::Span;

/// A message in our hands for as long as its visibility timeout runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The message's id, the same at each receive.
    pub message_id: MessageId,
    /// The handle of this receive: what delete and change of visibility name.
    pub receipt_handle: String,
    /// What it carries.
    pub content: Content,
    /// What SQS says of it.
    pub system: SystemAttributes,
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    /// What it carries.
    pub content: Content,
    /// `MessageDeduplicationId`; required on FIFO queues without content-based deduplication, forbidden on others.
    pub deduplication_id: Option<String>,
    /// How long it stays invisible at first, in whole seconds, at most 15 minutes; not allowed on FIFO queues.
    pub delay: Span,
}

/// Why one message of a batch was not sent, while others were.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the queue refused the message: {code}: {reason}")]
pub struct EntryFailure {
    /// SQS's error code, for example `InvalidMessageContents`.
    pub code: String,
    /// SQS's words.
    pub reason: String,
    /// Whether the message itself is at fault (true: sending it again as it is cannot work).
    pub sender_fault: bool,
}

/// Why a call failed as a whole.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// There is no such queue.
    #[error("the queue {queue} does not exist")]
    Missing {
        /// The queue.
        queue: QueueArn,
    },
    /// We may not do this.
    #[error("access to the queue {queue} was denied")]
    Denied {
        /// The queue.
        queue: QueueArn,
        /// What SQS said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The request was not well-formed; nothing was done.
    #[error("the request to the queue {queue} was not valid: {reason}")]
    Invalid {
        /// The queue.
        queue: QueueArn,
        /// What was wrong.
        reason: String,
    },
    /// No answer came, or an answer that says nothing: **the request may have taken effect**.
    #[error("the queue {queue} did not answer")]
    Unanswered {
        /// The queue.
        queue: QueueArn,
        /// The fault.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a queue says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAttributes {
    /// Whether it is a FIFO queue.
    pub fifo: bool,
    /// How long a received message stays invisible.
    pub visibility_timeout: Span,
    /// How long a message is kept.
    pub retention: Span,
    /// Where messages go after too many receives.
    pub redrive: Option<Redrive>,
    /// Messages that can be received now, about.
    pub visible_count: u64,
    /// Messages in a consumer's hands, about.
    pub in_flight_count: u64,
    /// Messages that wait for their delay, about.
    pub delayed_count: u64,
}

/// A redrive policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Redrive {
    /// The dead-letter queue.
    pub dlq: QueueArn,
    /// After so many receives without a delete the next receive moves the message instead.
    pub receives_max: u32,
}

/// SQS, or something that behaves like it.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Receives up to `max` (1 to 10) messages, waiting up to `wait` (at most 20 s) for the first.
    /// `visibility` overrides the queue's own visibility timeout.
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError>;

    /// Sends up to 10 messages, at most 1 MiB together. The answer has one result per message, in order: HTTP 200
    /// may contain failures.
    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError>;

    /// Deletes received messages by their handles, up to 10; one result each.
    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError>;

    /// Makes a received message visible again after `visibility`, counted from now; zero means at once.
    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError>;

    /// What the queue says of itself.
    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError>;
}
