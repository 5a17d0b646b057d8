//! Sending: checks, deduplication and storage.

use super::check;
use super::request::{Fault, QueueRow, Request, message_id};
use domain::id::{MessageId, QueueArn, to_hex};
use domain::time::Span;
use queue::{EntryFailure, Outgoing};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

/// How long a FIFO queue remembers a deduplication id (botocore, SendMessage), even if the message is deleted before.
const DEDUPLICATION: Span = Span::from_mins(5);

/// One result per message of the batch, in order.
pub(super) type Sent = Vec<Result<MessageId, EntryFailure>>;

/// Sends a batch.
pub(super) fn send(request: &mut Request<'_>, arn: &QueueArn, messages: &[Outgoing]) -> Result<Sent, Fault> {
    let queue = request.queue(arn)?;
    check::batch(&queue, messages)?;
    if arn.is_fifo() {
        let outdated = request.now.minus(DEDUPLICATION).as_ms();
        request
            .db
            .prepare_cached("DELETE FROM deduplication WHERE queue = ?1 AND sent_at <= ?2")?
            .execute([queue.key, outdated])?;
    }
    let (first_key, salt) = request.next_keys(messages.len())?;
    let mut sent = Vec::with_capacity(messages.len());
    for (key, message) in (first_key..).zip(messages) {
        sent.push(match check::entry(&queue, message) {
            Ok(()) => Ok(accept(request, &queue, message, key, message_id(&salt, key))?),
            Err(failure) => Err(failure),
        });
    }
    request.wake.push(queue.arn);
    Ok(sent)
}

fn accept(
    request: &Request<'_>,
    queue: &QueueRow,
    message: &Outgoing,
    key: i64,
    message_id: MessageId,
) -> Result<MessageId, Fault> {
    if !queue.arn.is_fifo() {
        store(request, queue, message, key, &message_id, None)?;
        return Ok(message_id);
    }
    let by_content = || to_hex(&Sha256::digest(message.content.body.as_bytes()));
    let deduplication_id = message.deduplication_id.clone().unwrap_or_else(by_content);
    let mut known = request.db.prepare_cached("SELECT message_id FROM deduplication WHERE queue = ?1 AND id = ?2")?;
    let first = known.query_row(params![queue.key, deduplication_id], |row| row.get::<_, String>(0)).optional()?;
    if let Some(first) = first {
        return Ok(MessageId::new(first));
    }
    request
        .db
        .prepare_cached("INSERT INTO deduplication (queue, id, message_id, sent_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![queue.key, deduplication_id, message_id.as_str(), request.now.as_ms()])?;
    store(request, queue, message, key, &message_id, Some(deduplication_id))?;
    Ok(message_id)
}

fn store(
    request: &Request<'_>,
    queue: &QueueRow,
    message: &Outgoing,
    key: i64,
    message_id: &MessageId,
    deduplication_id: Option<String>,
) -> Result<(), Fault> {
    let content = &message.content;
    let attributes = (!content.attributes.is_empty())
        .then(|| serde_json::to_string(&content.attributes))
        .transpose()
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    request
        .db
        .prepare_cached(
            "INSERT INTO content (key, body, attributes, message_group_id, trace_header) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![key, content.body, attributes, content.message_group_id, content.trace_header])?;
    // A delay of zero means that none was given, so the queue's own delay applies. SQS accepts whole seconds.
    let delay =
        if message.delay == Span::ZERO { queue.settings.delay } else { Span::from_secs(message.delay.as_secs_up()) };
    let message_group = queue.arn.is_fifo().then_some(content.message_group_id.as_deref()).flatten();
    let head = request.is_free(queue, message_group)?;
    request
        .db
        .prepare_cached(
            "INSERT INTO message (key, queue, position, message_id, sent_at, visible_at, receives, receive_count,
                message_group, head, deduplication_id) VALUES (?1, ?2, ?1, ?3, ?4, ?5, 0, 0, ?6, ?7, ?8)",
        )?
        .execute(params![
            key,
            queue.key,
            message_id.as_str(),
            request.now.as_ms(),
            request.now.plus(delay).as_ms(),
            message_group,
            head,
            deduplication_id
        ])?;
    Ok(())
}
