//! Reads the letters in a dead-letter queue and leaves them there.

use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::DeadMessage;
use domain::time::Span;
use office::error::chain;
use office::intake;
use office::office::Office;
use queue::{QueueError, Received};
use std::collections::BTreeSet;

/// The most letters to read: a tenth of what one SQS queue may have in flight, so that other consumers can still receive.
pub const LETTERS_MAX: usize = 12_000;
/// How long a letter stays hidden from other consumers if this process is killed.
pub const HIDDEN_MAX: Span = Span::from_secs(120);
/// How long a receive waits for messages.
const LAST_WAIT: Span = Span::from_secs(1);

/// Receives each letter once, passes it to the office, and makes all letters visible again. Returns their number.
pub async fn peek(office: &Office, dlq: &QueueArn) -> Result<usize, QueueError> {
    let mut handles = Vec::new();
    let result = read_all(office, dlq, &mut handles).await;
    for handle in &handles {
        // If this fails, the letter becomes visible when its visibility timeout ends.
        if let Err(error) = office.queue.change_visibility(dlq, handle, Span::ZERO).await {
            tracing::warn!(queue = %dlq, error = chain(&error), "a letter stays hidden until its visibility timeout ends");
        }
    }
    result
}

async fn read_all(office: &Office, dlq: &QueueArn, handles: &mut Vec<String>) -> Result<usize, QueueError> {
    let mut seen = BTreeSet::new();
    while seen.len() < LETTERS_MAX {
        let received = office.queue.receive(dlq, BATCH_ENTRIES_MAX, LAST_WAIT, Some(HIDDEN_MAX)).await?;
        let before = seen.len();
        handles.extend(received.iter().map(|message| message.receipt_handle.clone()));
        let dead = |Received { message_id, content, system, .. }| DeadMessage {
            dlq: dlq.clone(),
            message_id,
            content,
            system,
        };
        let messages: Vec<DeadMessage> = received.into_iter().map(dead).collect();
        seen.extend(messages.iter().map(|message| message.message_id.clone()));
        if seen.len() == before {
            // No message, or only letters that became visible again because reading took so long.
            break;
        }
        intake::keep(office, messages).await;
    }
    Ok(seen.len())
}
