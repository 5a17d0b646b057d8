//! Real queues for letters, and an embedded queue for replay steps, so that nothing has to be deployed.

use crate::queue::EmbeddedQueue;
use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::time::{Span, Timestamp};
use lambda::queue::SqsQueue;
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::sync::Arc;

/// Routes replay steps to the embedded queue and everything else to SQS.
pub struct Queues {
    pub steps: QueueArn,
    pub embedded: Arc<EmbeddedQueue>,
    pub sqs: Arc<SqsQueue>,
}

impl Queues {
    fn route(&self, queue: &QueueArn) -> &dyn Queue {
        if *queue == self.steps { &*self.embedded } else { &*self.sqs }
    }
}

#[async_trait]
impl Queue for Queues {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        self.route(queue).receive(queue, max, wait, visibility).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        self.route(queue).send_batch(queue, messages).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.route(queue).delete_batch(queue, receipt_handles).await
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        self.route(queue).change_visibility(queue, receipt_handle, visibility).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.route(queue).attributes(queue).await
    }

    async fn cleared_before(&self, queue: &QueueArn) -> Result<Option<Timestamp>, QueueError> {
        self.route(queue).cleared_before(queue).await
    }

    async fn alarms(&self, queue: &QueueArn) -> Result<Option<usize>, QueueError> {
        self.route(queue).alarms(queue).await
    }
}
