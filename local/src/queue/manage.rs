//! Management of queues: create, configure, count, peek, purge, delete.

use super::request::{Fault, Request};
use super::row::{Stored, select};
use super::settings::QueueSettings;
use domain::id::{MessageId, QueueArn};
use domain::message::{Content, SystemAttributes};
use domain::time::Timestamp;
use queue::{QueueAttributes, QueueError};
use rusqlite::params;

/// A message in its queue, seen without receiving it.
#[derive(Clone, Debug, PartialEq)]
pub struct Peeked {
    /// The message's id.
    pub message_id: MessageId,
    /// The message's content.
    pub content: Content,
    /// The system attributes that SQS would return on a receive.
    pub system: SystemAttributes,
    /// When it becomes receivable: a past time, or the end of its delay or visibility timeout.
    pub visible_at: Timestamp,
}

/// Creates a queue. Does nothing if it exists with the same settings; refuses other settings, as SQS does.
pub(super) fn create(request: &Request<'_>, arn: &QueueArn, settings: &QueueSettings) -> Result<(), Fault> {
    if let Some(queue) = request.find(arn)? {
        let same = queue.settings == *settings;
        return if same { Ok(()) } else { Err(queue.refuse("QueueAlreadyExists: it has other attributes")) };
    }
    check(request, arn, settings)?;
    request
        .db
        .prepare_cached(
            "INSERT INTO queue (arn, visibility_timeout_ms, retention_ms, delay_ms,
        content_based_deduplication, message_bytes_max) VALUES (?1, 0, 0, 0, 0, 0)",
        )?
        .execute([arn.as_str()])?;
    write(request, arn, settings)
}

/// Changes the settings of a queue. They apply to its present messages too: a shorter retention takes effect at once.
pub(super) fn configure(request: &mut Request<'_>, arn: &QueueArn, settings: &QueueSettings) -> Result<(), Fault> {
    request.queue(arn)?;
    check(request, arn, settings)?;
    request.wake.push(arn.clone());
    write(request, arn, settings)
}

fn check(request: &Request<'_>, arn: &QueueArn, settings: &QueueSettings) -> Result<(), Fault> {
    settings.check(arn)?;
    match &settings.redrive {
        Some(redrive) if request.find(&redrive.dlq)?.is_none() => {
            let reason = format!("the dead-letter queue {} does not exist", redrive.dlq);
            Err(QueueError::Invalid { queue: arn.clone(), reason }.into())
        }
        _ => Ok(()),
    }
}

fn write(request: &Request<'_>, arn: &QueueArn, settings: &QueueSettings) -> Result<(), Fault> {
    let mut write = request.db.prepare_cached(
        "UPDATE queue SET visibility_timeout_ms = ?2, retention_ms = ?3, delay_ms = ?4, dlq = ?5, receives_max = ?6,
            content_based_deduplication = ?7, message_bytes_max = ?8 WHERE arn = ?1",
    )?;
    write.execute(params![
        arn.as_str(),
        settings.visibility_timeout.as_ms(),
        settings.retention.as_ms(),
        settings.delay.as_ms(),
        settings.redrive.as_ref().map(|redrive| redrive.dlq.as_str()),
        settings.redrive.as_ref().map(|redrive| redrive.receives_max),
        settings.content_based_deduplication,
        i64::try_from(settings.message_bytes_max).unwrap_or(i64::MAX),
    ])?;
    Ok(())
}

/// Returns the queue's attributes.
pub(super) fn attributes(request: &Request<'_>, arn: &QueueArn) -> Result<QueueAttributes, Fault> {
    let queue = request.queue(arn)?;
    let mut count = request.db.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE visible_at > ?2 AND receives > 0),
            count(*) FILTER (WHERE visible_at > ?2 AND receives = 0) FROM message WHERE queue = ?1",
    )?;
    let (all, in_flight, delayed): (i64, i64, i64) =
        count.query_row([queue.key, request.now.as_ms()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let unsigned = |count: i64| u64::try_from(count).unwrap_or(0);
    Ok(QueueAttributes {
        fifo: arn.is_fifo(),
        visibility_timeout: queue.settings.visibility_timeout,
        retention: queue.settings.retention,
        message_bytes_max: queue.settings.message_bytes_max,
        redrive: queue.settings.redrive,
        visible_count: unsigned(all - in_flight - delayed),
        in_flight_count: unsigned(in_flight),
        delayed_count: unsigned(delayed),
    })
}

/// Returns the send of the oldest message, or the present if the queue is empty: every message sent before has left.
pub(super) fn cleared_before(request: &Request<'_>, arn: &QueueArn) -> Result<Timestamp, Fault> {
    let queue = request.queue(arn)?;
    let mut oldest = request.db.prepare_cached("SELECT min(sent_at) FROM message WHERE queue = ?1")?;
    let sent_at: Option<i64> = oldest.query_row([queue.key], |row| row.get(0))?;
    Ok(sent_at.map_or(request.now, Timestamp::from_ms))
}

/// Returns the oldest messages, in the order in which they were sent.
pub(super) fn peek(request: &Request<'_>, arn: &QueueArn, limit: usize) -> Result<Vec<Peeked>, Fault> {
    let queue = request.queue(arn)?;
    let mut oldest =
        request.db.prepare_cached(select!("WHERE m.queue = ?1 ORDER BY m.sent_at, m.position LIMIT ?2"))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let peeked = oldest.query_map([queue.key, limit], |row| {
        let stored = Stored::read(row)?;
        let system = stored.system();
        Ok(Peeked { message_id: stored.message_id, content: stored.content, system, visible_at: stored.visible_at })
    })?;
    Ok(peeked.collect::<Result<_, _>>()?)
}

/// Deletes all messages, including those in flight. Returns their number.
pub(super) fn purge(request: &Request<'_>, arn: &QueueArn) -> Result<usize, Fault> {
    let queue = request.queue(arn)?;
    let mut content =
        request.db.prepare_cached("DELETE FROM content WHERE key IN (SELECT key FROM message WHERE queue = ?1)")?;
    content.execute([queue.key])?;
    Ok(request.db.prepare_cached("DELETE FROM message WHERE queue = ?1")?.execute([queue.key])?)
}

/// Deletes a queue with its messages.
pub(super) fn delete(request: &mut Request<'_>, arn: &QueueArn) -> Result<(), Fault> {
    let queue = request.queue(arn)?;
    purge(request, arn)?;
    request.db.prepare_cached("DELETE FROM deduplication WHERE queue = ?1")?.execute([queue.key])?;
    request.db.prepare_cached("DELETE FROM queue WHERE key = ?1")?.execute([queue.key])?;
    request.wake.push(queue.arn);
    Ok(())
}
