//! Carries out the decision: dead-letter, retry or delete.
//!
//! Calls to a failing queue are repeated within limits. If they all fail, the message returns when its visibility
//! timeout ends.

use crate::call::{chain, pause};
use crate::case::Case;
use crate::config::{ConsumerConfig, Outcome};
use crate::decide::{Decision, Failed, decide};
use crate::failure::Failure;
use crate::receipt;
use crate::stamp::{Circumstances, stamped};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::replay::Receipt;
use domain::time::Span;
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, Received};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Attempts at one call before giving up. With the waits of [`pause`] about four seconds in all, less than any sensible
/// visibility timeout.
const ATTEMPTS_MAX: u32 = 6;

/// A handled message that remains to be deleted.
pub(crate) struct Delete {
    pub handle: String,
    /// The receipt to send once the message is deleted.
    pub receipt: Option<Receipt>,
}

/// Settles messages of one queue.
pub(crate) struct Settler {
    pub config: Arc<ConsumerConfig>,
    pub queue: Arc<dyn Queue>,
    pub deletes: mpsc::Sender<Delete>,
}

impl Settler {
    pub(crate) async fn succeeded(&self, case: &Case) {
        self.delete(&case.received, receipt::for_case(&self.config, case)).await;
        (self.config.on_outcome)(&case.received, &Outcome::Handled);
    }

    pub(crate) async fn failed(&self, case: &Case, failure: Failure, attributes: &QueueAttributes) {
        let copy = attributes.redrive.as_ref().and_then(|_| self.stamped(case, &failure));
        let failed = Failed {
            class: failure.class,
            receive_count: case.received.system.receive_count.unwrap_or(1),
            receives_max: attributes.redrive.as_ref().map(|redrive| redrive.receives_max),
            visibility_left: remaining(attributes.visibility_timeout, case.received_at),
            room: copy.is_some(),
        };
        let config = &self.config;
        let decision = decide(&failed, config.backoff_base, config.backoff_cap, (config.entropy)());
        let outcome = match (decision, &attributes.redrive, copy) {
            (Decision::DeadLetter, Some(redrive), Some(copy)) => {
                self.dead_letter(&case.received, &redrive.dlq, copy, failure).await
            }
            (Decision::Retry(after), _, _) => self.retry(&case.received, after, failure).await,
            (Decision::DeadLetter, _, _) => Outcome::Unsettled { failure },
        };
        tracing::info!(
            queue = %config.queue,
            message_id = %case.received.message_id,
            receive_count = failed.receive_count,
            class = ?failed.class,
            outcome = outcome_name(&outcome),
            "message failed"
        );
        (config.on_outcome)(&case.received, &outcome);
    }

    fn stamped(&self, case: &Case, failure: &Failure) -> Option<Content> {
        let circumstances = Circumstances {
            consumer: &self.config.consumer,
            consumer_version: &case.consumer_version,
            message_type: (self.config.message_type)(&case.received.content),
            main_queue: &self.config.queue,
            failed_at: (self.config.now)(),
        };
        stamped(&case.received, failure, &circumstances)
    }

    /// Sends the copy, then deletes the message. A crash in between leaves two copies, which the office recognises by
    /// main queue and original message id. The other order would lose the message.
    async fn dead_letter(&self, received: &Received, dlq: &QueueArn, copy: Content, failure: Failure) -> Outcome {
        // On FIFO the original id deduplicates a copy that was sent twice because a response was lost.
        let deduplication_id = dlq.is_fifo().then(|| received.message_id.as_str().to_owned());
        let outgoing = [Outgoing { content: copy, deduplication_id, delay: Span::ZERO }];
        for attempt in 1..=ATTEMPTS_MAX {
            match self.queue.send_batch(dlq, &outgoing).await.map(|results| results.into_iter().next()) {
                Ok(Some(Ok(_))) => {
                    self.delete(received, None).await;
                    return Outcome::DeadLettered { failure };
                }
                Ok(Some(Err(refused))) if refused.sender_fault => {
                    tracing::error!(queue = %dlq, message_id = %received.message_id, code = refused.code, "the dead-letter queue refused the copy");
                    break;
                }
                Ok(refused_or_nothing) => {
                    let code = refused_or_nothing.and_then(Result::err).map(|refused| refused.code);
                    tracing::warn!(queue = %dlq, message_id = %received.message_id, attempt, ?code, "the dead-letter queue did not accept the copy");
                }
                Err(error) => {
                    tracing::warn!(queue = %dlq, message_id = %received.message_id, attempt, error = chain(&error), "sending to the dead-letter queue failed");
                }
            }
            pause(&self.config, attempt).await;
        }
        Outcome::Unsettled { failure }
    }

    async fn retry(&self, received: &Received, after: Span, failure: Failure) -> Outcome {
        // A single attempt: if it fails, the visibility timeout makes the message visible too.
        match self.queue.change_visibility(&self.config.queue, &received.receipt_handle, after).await {
            Ok(()) => Outcome::Retried { failure, after },
            Err(error) => {
                tracing::warn!(queue = %self.config.queue, message_id = %received.message_id, error = chain(&error), "changing the visibility failed");
                Outcome::Unsettled { failure }
            }
        }
    }

    async fn delete(&self, received: &Received, receipt: Option<Receipt>) {
        // The receiver runs until the last sender is dropped, so this cannot fail while we hold one.
        let _ = self.deletes.send(Delete { handle: received.receipt_handle.clone(), receipt }).await;
    }
}

/// Deletes messages until the channel closes, in batches of whatever is waiting: a call for ten costs as much as a call
/// for one.
pub(crate) async fn delete_all(
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    mut deletes: mpsc::Receiver<Delete>,
    receipts: mpsc::Sender<Receipt>,
) {
    let mut batch = Vec::with_capacity(BATCH_ENTRIES_MAX);
    while deletes.recv_many(&mut batch, BATCH_ENTRIES_MAX).await > 0 {
        for attempt in 1..=ATTEMPTS_MAX {
            let handles: Vec<String> = batch.iter().map(|delete| delete.handle.clone()).collect();
            match queue.delete_batch(&config.queue, &handles).await {
                Ok(results) => {
                    let (deleted, to_repeat) = split(std::mem::take(&mut batch), &results);
                    batch = to_repeat;
                    // The channel is full only if the receipts queue is out of order, which is logged there.
                    deleted.into_iter().for_each(|receipt| drop(receipts.try_send(receipt)));
                }
                Err(error) => {
                    tracing::warn!(queue = %config.queue, attempt, error = chain(&error), "deleting messages failed");
                }
            }
            if batch.is_empty() {
                break;
            }
            pause(&config, attempt).await;
        }
        if !batch.is_empty() {
            tracing::error!(queue = %config.queue, count = batch.len(), "gave up on deleting messages; they will be received again");
            batch.clear();
        }
    }
}

/// Splits a batch into the receipts of deleted messages and the deletes to repeat. A refusal that is the sender's fault
/// is final: the handle is no longer valid, because the message is gone or was received elsewhere.
fn split(batch: Vec<Delete>, results: &[Result<(), EntryFailure>]) -> (Vec<Receipt>, Vec<Delete>) {
    let (mut receipts, mut to_repeat) = (Vec::new(), Vec::new());
    for (n, delete) in batch.into_iter().enumerate() {
        match results.get(n) {
            Some(Ok(())) => receipts.extend(delete.receipt),
            Some(Err(EntryFailure { sender_fault: true, .. })) => {}
            None | Some(Err(_)) => to_repeat.push(delete),
        }
    }
    (receipts, to_repeat)
}

fn remaining(visibility_timeout: Span, received_at: Instant) -> Span {
    let passed_ms = i64::try_from(received_at.elapsed().as_millis()).unwrap_or(i64::MAX);
    Span::from_ms(visibility_timeout.as_ms().saturating_sub(passed_ms))
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Handled => "handled",
        Outcome::Retried { .. } => "retried",
        Outcome::DeadLettered { .. } => "dead-lettered",
        Outcome::Unsettled { .. } => "unsettled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_of_the_queue_are_repeated_and_only_deleted_messages_get_a_receipt() {
        let refused = |sender_fault| Err(EntryFailure { code: "c".into(), reason: "r".into(), sender_fault });
        let delete = |handle: &str| {
            let receipt = Receipt {
                v: 1,
                marker: handle.into(),
                message_id: handle.into(),
                consumer: "orders".into(),
                consumer_version: "v1".into(),
                processed_at: domain::time::Timestamp::from_ms(0),
            };
            Delete { handle: handle.into(), receipt: Some(receipt) }
        };
        let batch = ["a", "b", "c", "d"].map(delete).into();
        let (receipts, to_repeat) = split(batch, &[Ok(()), refused(true), refused(false)]);
        assert_eq!(receipts.iter().map(|receipt| receipt.marker.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(to_repeat.iter().map(|delete| delete.handle.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    }
}
