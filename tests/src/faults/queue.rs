//! Queues some of whose calls fail.

use super::{Fate, Faults};
use async_trait::async_trait;
use consumer::queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use domain::id::{MessageId, QueueArn};
use domain::time::Span;
use std::sync::Arc;

fn queue_fault(queue: &QueueArn) -> QueueError {
    QueueError::Unanswered { queue: queue.clone(), source: "the process was killed".into() }
}

/// Queues some of whose calls fail.
pub struct FaultyQueue {
    /// The queues.
    pub inner: Arc<dyn Queue>,
    /// Which calls.
    pub faults: Arc<Faults>,
}

impl FaultyQueue {
    /// Hands over what the queue takes; HTTP 200 may contain failures.
    async fn hand_over(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let refused: Vec<bool> = messages.iter().map(|_| self.faults.refuses()).collect();
        let taken: Vec<Outgoing> =
            messages.iter().zip(&refused).filter(|(_, refused)| !**refused).map(|(m, _)| m.clone()).collect();
        if let Some(watch) = self.faults.watch.get() {
            watch.sends(queue, &taken);
        }
        let answers = if taken.is_empty() { Vec::new() } else { self.inner.send_batch(queue, &taken).await? };
        if let Some(watch) = self.faults.watch.get() {
            watch.sent(queue, &taken, &answers);
        }
        let mut answers = answers.into_iter();
        let busy = || EntryFailure {
            code: "InternalError".into(),
            reason: "We encountered an internal error. Please try again.".into(),
            sender_fault: false,
        };
        let answer = |refused: bool| if refused { Some(Err(busy())) } else { answers.next() };
        Ok(refused.into_iter().filter_map(answer).collect())
    }
}

#[async_trait]
impl Queue for FaultyQueue {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.receive(queue, max, wait, visibility))
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        if let Some(error) = self.faults.outage_of(queue) {
            return Err(error);
        }
        fated!(self.faults, queue_fault(queue), self.hand_over(queue, messages))
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.delete_batch(queue, receipt_handles))
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.change_visibility(queue, receipt_handle, visibility))
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        if let Some(error) = self.faults.outage_of(queue) {
            return Err(error);
        }
        fated!(self.faults, queue_fault(queue), self.inner.attributes(queue))
    }
}
