//! A time limit for each call to a queue, so that a connection that was dropped in silence holds up neither the consumer
//! nor its shutdown.

use crate::clock::to_duration;
use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::time::{Span, Timestamp};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::sync::Arc;
use std::time::Duration;

/// How long a call may take, beyond what it is asked to wait. SQS answers in milliseconds.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long a send may take: a batch of 1 MiB on a slow line takes seconds. One without an answer leaves time for another
/// one within half a minute, SQS's default visibility timeout.
const SEND_MAX: Duration = Duration::from_secs(10);
/// How long a call may take that changes a message's visibility or deletes messages: a heartbeat without an answer leaves
/// time for another one, half a minute being SQS's default visibility timeout.
const SHORT_MAX: Duration = Duration::from_secs(5);

/// A queue whose calls end: one without an answer is [`QueueError::Unanswered`].
pub(crate) struct Timely(pub Arc<dyn Queue>);

async fn within<T>(
    queue: &QueueArn,
    limit: Duration,
    call: impl Future<Output = Result<T, QueueError>>,
) -> Result<T, QueueError> {
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
        let source = format!("no answer within {} s", limit.as_secs()).into();
        Err(QueueError::Unanswered { queue: queue.clone(), source })
    })
}

#[async_trait]
impl Queue for Timely {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        within(queue, to_duration(wait) + ANSWER_MAX, self.0.receive(queue, max, wait, visibility)).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        within(queue, SEND_MAX, self.0.send_batch(queue, messages)).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        within(queue, SHORT_MAX, self.0.delete_batch(queue, receipt_handles)).await
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        within(queue, SHORT_MAX, self.0.change_visibility(queue, receipt_handle, visibility)).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        within(queue, ANSWER_MAX, self.0.attributes(queue)).await
    }

    async fn cleared_before(&self, queue: &QueueArn) -> Result<Option<Timestamp>, QueueError> {
        within(queue, ANSWER_MAX, self.0.cleared_before(queue)).await
    }

    async fn alarms(&self, queue: &QueueArn) -> Result<Option<usize>, QueueError> {
        within(queue, ANSWER_MAX, self.0.alarms(queue)).await
    }

    fn separate(&self) -> Option<Arc<dyn Queue>> {
        let separate = self.0.separate()?;
        Some(Arc::new(Self(separate)))
    }
}

#[cfg(test)]
#[path = "timely_tests.rs"]
mod tests;
