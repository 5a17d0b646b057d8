//! What the function `intake` does with a batch: letters and receipts are settled before Lambda ends the invocation.
//!
//! If Lambda ends it, the answer is lost, and the whole batch comes again: the letters that were stored, too.

use crate::batch::{Answer, Batch};
use domain::id::{MessageId, QueueArn};
use domain::time::{Span, Timestamp};
use office::event;
use office::office::Office;
use queue::Received;
use std::time::Duration;

/// No commit begins when less time than this is left. A commit that has begun may retry for five seconds.
const COMMIT_TIME: Span = Span::from_secs(6);
/// The answer is given when no more time than this is left, whatever is still on its way.
const ANSWER_TIME: Span = Span::from_secs(1);

/// Handles a batch. `receipts` is the queue of consumers' receipts, and `ends_at` the time at which Lambda ends the
/// invocation. The answer names the messages that must come again.
pub async fn take(office: &Office, batch: Batch, receipts: Option<&QueueArn>, ends_at: Timestamp) -> Answer {
    let mut failed = Vec::new();
    for (queue, messages) in batch.by_queue() {
        let ids: Vec<MessageId> = messages.iter().map(|message| message.message_id.clone()).collect();
        let left = ends_at.minus(ANSWER_TIME).since(office.now()).as_ms();
        let time_max = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let work = take_from(office, &queue, messages, receipts == Some(&queue), ends_at.minus(COMMIT_TIME));
        failed.extend(tokio::time::timeout(time_max, work).await.unwrap_or_else(|_| {
            // Those that are stored already are recognised when they come again.
            tracing::error!(%queue, messages = ids.len(), "the invocation ends before the store answers; all messages will be redelivered");
            ids
        }));
    }
    Answer::failing(failed)
}

async fn take_from(
    office: &Office,
    queue: &QueueArn,
    messages: Vec<Received>,
    are_receipts: bool,
    last_commit_at: Timestamp,
) -> Vec<MessageId> {
    match are_receipts {
        true => event::receipts(office, messages).await,
        false => event::letters_until(office, queue, messages, Some(last_commit_at)).await,
    }
}
