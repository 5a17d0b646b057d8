//! Looking at what lies in a dead-letter queue, and leaving it there.

use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::DeadMessage;
use domain::time::Span;
use office::error::chain;
use office::intake;
use office::office::Office;
use queue::{QueueError, Received};
use std::collections::BTreeSet;

/// Letters that are looked at, at most: a tenth of what SQS lets one queue have in flight, so that others still can.
pub const LETTERS_MAX: usize = 12_000;
/// How long a letter is out of others' sight at most, should this process be killed meanwhile.
pub const HIDDEN_MAX: Span = Span::from_secs(120);
/// How long the last receive waits for more.
const LAST_WAIT: Span = Span::from_secs(1);

/// Receives each letter once, shows it to the office, and puts all back into sight. How many there were.
pub async fn peek(office: &Office, dlq: &QueueArn) -> Result<usize, QueueError> {
    let mut handles = Vec::new();
    let looked = look(office, dlq, &mut handles).await;
    for handle in &handles {
        // One that cannot be put back comes back by itself.
        if let Err(error) = office.queue.change_visibility(dlq, handle, Span::ZERO).await {
            tracing::warn!(queue = %dlq, error = chain(&error), "a letter is seen again only after its visibility timeout");
        }
    }
    looked
}

async fn look(office: &Office, dlq: &QueueArn, handles: &mut Vec<String>) -> Result<usize, QueueError> {
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
            // Nothing, or only what came into sight again because looking took so long.
            break;
        }
        intake::keep(office, messages).await;
    }
    Ok(seen.len())
}
