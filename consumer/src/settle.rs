//! Doing what was decided: dead-letter, retry, delete. A queue that fails is asked again, within limits; whatever
//! could not be done is left to the visibility timeout, which brings the message back.

use crate::backoff::backoff;
use crate::config::{ConsumerConfig, Outcome};
use crate::decide::{Failed, Verdict, decide};
use crate::failure::Failure;
use crate::receipt;
use crate::stamp::{Circumstances, stamped};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::replay::Receipt;
use domain::time::Span;
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Tries of one call before it is given up: with the waits below about four seconds, less than any sensible
/// visibility timeout.
const CALLS_MAX: u32 = 6;
const CALL_BACKOFF_BASE: Span = Span::from_ms(100);
const CALL_BACKOFF_CAP: Span = Span::from_secs(2);

/// A message and what it needs to be settled.
pub(crate) struct Case {
    pub received: Received,
    pub received_at: Instant,
    pub consumer_version: String,
}

/// A message that is settled but for its delete.
pub(crate) struct Delete {
    pub handle: String,
    /// What is told of it once it is deleted.
    pub receipt: Option<Receipt>,
}

/// What settles messages.
pub(crate) struct Settler {
    pub config: Arc<ConsumerConfig>,
    pub queue: Arc<dyn Queue>,
    pub deletes: mpsc::Sender<Delete>,
}

impl Settler {
    pub(crate) async fn succeeded(&self, case: &Case) {
        self.delete(&case.received, receipt::of(&self.config, case)).await;
        (self.config.tell)(&case.received, &Outcome::Handled);
    }

    pub(crate) async fn failed(&self, case: &Case, failure: Failure, attributes: &QueueAttributes) {
        let copy = attributes.redrive.as_ref().and_then(|_| self.stamped(case, &failure));
        let failed = Failed {
            class: failure.class,
            receive_count: case.received.system.receive_count.unwrap_or(1),
            receives_max: attributes.redrive.as_ref().map(|redrive| redrive.receives_max),
            visibility_left: left_of(attributes.visibility_timeout, case.received_at),
            room: copy.is_some(),
        };
        let config = &self.config;
        let verdict = decide(&failed, config.backoff_base, config.backoff_cap, (config.entropy)());
        let outcome = match (verdict, &attributes.redrive, copy) {
            (Verdict::DeadLetter, Some(redrive), Some(copy)) => {
                self.dead_letter(&case.received, &redrive.dlq, copy, failure).await
            }
            (Verdict::Retry(after), _, _) => self.retry(&case.received, after, failure).await,
            (Verdict::DeadLetter, _, _) => Outcome::Left { failure },
        };
        tracing::info!(
            queue = %config.queue,
            message_id = %case.received.message_id,
            receive_count = failed.receive_count,
            class = ?failed.class,
            outcome = outcome_name(&outcome),
            "message failed"
        );
        (config.tell)(&case.received, &outcome);
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

    /// First the copy, then the delete: a crash in between leaves the message twice, which the office recognises by
    /// main queue and original message id; the other order would lose it.
    async fn dead_letter(&self, received: &Received, dlq: &QueueArn, copy: Content, failure: Failure) -> Outcome {
        // On FIFO the original id deduplicates a copy that was sent twice because an answer was lost.
        let deduplication_id = dlq.is_fifo().then(|| received.message_id.as_str().to_owned());
        let outgoing = [Outgoing { content: copy, deduplication_id, delay: Span::ZERO }];
        for call in 1..=CALLS_MAX {
            match self.queue.send_batch(dlq, &outgoing).await.map(|results| results.into_iter().next()) {
                Ok(Some(Ok(_))) => {
                    self.delete(received, None).await;
                    return Outcome::DeadLettered { failure };
                }
                Ok(Some(Err(refused))) if refused.sender_fault => {
                    tracing::error!(queue = %dlq, message_id = %received.message_id, code = refused.code, "the dead-letter queue refuses the copy");
                    break;
                }
                Ok(refused_or_nothing) => {
                    let code = refused_or_nothing.and_then(Result::err).map(|refused| refused.code);
                    tracing::warn!(queue = %dlq, message_id = %received.message_id, call, ?code, "the dead-letter queue did not take the copy");
                }
                Err(error) => {
                    tracing::warn!(queue = %dlq, message_id = %received.message_id, call, error = chain(&error), "the dead-letter queue failed");
                }
            }
            self.pause(call).await;
        }
        Outcome::Left { failure }
    }

    async fn retry(&self, received: &Received, after: Span, failure: Failure) -> Outcome {
        // One call and no more: should it fail, the visibility timeout brings the message back as well.
        match self.queue.change_visibility(&self.config.queue, &received.receipt_handle, after).await {
            Ok(()) => Outcome::Retried { failure, after },
            Err(error) => {
                tracing::warn!(queue = %self.config.queue, message_id = %received.message_id, error = chain(&error), "the visibility could not be changed");
                Outcome::Left { failure }
            }
        }
    }

    async fn delete(&self, received: &Received, receipt: Option<Receipt>) {
        // The receiving end lives until the last sender is gone, so this cannot fail while we hold one.
        let _ = self.deletes.send(Delete { handle: received.receipt_handle.clone(), receipt }).await;
    }

    async fn pause(&self, call: u32) {
        pause(&self.config, call).await;
    }
}

/// Deletes what is handled, as many at a time as have come together: one call for ten costs what one for one costs.
pub(crate) async fn delete_all(
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    mut deletes: mpsc::Receiver<Delete>,
    receipts: mpsc::Sender<Receipt>,
) {
    let mut batch = Vec::with_capacity(BATCH_ENTRIES_MAX);
    while deletes.recv_many(&mut batch, BATCH_ENTRIES_MAX).await > 0 {
        for call in 1..=CALLS_MAX {
            let handles: Vec<String> = batch.iter().map(|delete| delete.handle.clone()).collect();
            match queue.delete_batch(&config.queue, &handles).await {
                Ok(results) => {
                    let (deleted, still) = told(std::mem::take(&mut batch), &results);
                    batch = still;
                    // Full only when the queue of receipts is out of order, which is logged there.
                    deleted.into_iter().for_each(|receipt| drop(receipts.try_send(receipt)));
                }
                Err(error) => {
                    tracing::warn!(queue = %config.queue, call, error = chain(&error), "the delete failed");
                }
            }
            if batch.is_empty() {
                break;
            }
            pause(&config, call).await;
        }
        if !batch.is_empty() {
            tracing::error!(queue = %config.queue, count = batch.len(), "messages could not be deleted and will be received again");
            batch.clear();
        }
    }
}

/// The receipts of what was deleted, and what to try again. A refusal that is the request's own fault (the handle is no
/// longer valid: the message is gone, or somebody else has it) will not change.
fn told(batch: Vec<Delete>, results: &[Result<(), EntryFailure>]) -> (Vec<Receipt>, Vec<Delete>) {
    let (mut receipts, mut still) = (Vec::new(), Vec::new());
    for (n, delete) in batch.into_iter().enumerate() {
        match results.get(n) {
            Some(Ok(())) => receipts.extend(delete.receipt),
            Some(Err(EntryFailure { sender_fault: true, .. })) => {}
            None | Some(Err(_)) => still.push(delete),
        }
    }
    (receipts, still)
}

/// Waits before the next call after call number `call` failed.
pub(crate) async fn pause(config: &ConsumerConfig, call: u32) {
    let wait = backoff(call, CALL_BACKOFF_BASE, CALL_BACKOFF_CAP, (config.entropy)());
    tokio::time::sleep(to_duration(wait)).await;
}

pub(crate) fn to_duration(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.as_ms()).unwrap_or(0))
}

fn left_of(visibility_timeout: Span, received_at: Instant) -> Span {
    let passed_ms = i64::try_from(received_at.elapsed().as_millis()).unwrap_or(i64::MAX);
    Span::from_ms(visibility_timeout.as_ms().saturating_sub(passed_ms))
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Handled => "handled",
        Outcome::Retried { .. } => "retried",
        Outcome::DeadLettered { .. } => "dead-lettered",
        Outcome::Left { .. } => "left to the queue",
    }
}

/// An error with its causes, for the log line.
pub(crate) fn chain(error: &QueueError) -> String {
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_queues_own_refusals_are_tried_again_and_only_what_is_deleted_is_told() {
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
        let (receipts, still) = told(batch, &[Ok(()), refused(true), refused(false)]);
        assert_eq!(receipts.iter().map(|receipt| receipt.marker.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(still.iter().map(|delete| delete.handle.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    }
}
