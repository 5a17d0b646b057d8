//! Receiving messages, and moving them to the dead-letter queue instead.
//!
//! A receive starts at *heads*: every due message of a standard queue, and the first message of each message group of a
//! FIFO queue. From its head, a message group is returned in order up to the first message that is not visible. So a
//! message group waits while its first message is in flight. When the first message becomes visible again, the group
//! continues from there, even while a later message is still in flight: recorded behaviour of SQS.

use super::handle::Handle;
use super::request::{Fault, QueueRow, Request};
use super::row::{Stored, select};
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use queue::Received;
use rusqlite::params;

/// The most messages of one queue that may be in flight (SQS quotas; FIFO: botocore).
pub(super) const IN_FLIGHT_MAX: i64 = 120_000;
/// How often one receive searches again after it moved all found messages to the dead-letter queue, up to ten each time.
const ROUNDS_MAX: usize = 100;

/// The parameters of a receive.
#[derive(Clone, Copy)]
pub(super) struct ReceiveRequest {
    pub(super) max: usize,
    pub(super) visibility: Option<Span>,
    /// Whether the caller waits (long polling).
    pub(super) waits: bool,
    pub(super) in_flight_max: i64,
}

/// The result of a receive.
pub(super) struct Taken {
    pub(super) messages: Vec<Received>,
    /// When the next message becomes visible; set only without messages and for a caller that waits.
    pub(super) next_due: Option<Timestamp>,
}

/// Receives due messages.
pub(super) fn take(request: &mut Request<'_>, arn: &QueueArn, wanted: ReceiveRequest) -> Result<Taken, Fault> {
    let queue = request.queue(arn)?;
    let room = request.room_in_flight(&queue, wanted.in_flight_max)?.min(wanted.max);
    if room == 0 {
        // SQS reports the limit only to short polls of standard queues.
        if !arn.is_fifo() && !wanted.waits {
            return Err(queue.refuse("OverLimit: too many messages are in flight"));
        }
        return Ok(Taken { messages: Vec::new(), next_due: None });
    }
    let dead_letters = dead_letters(request, &queue)?;
    let hidden = wanted.visibility.unwrap_or(queue.settings.visibility_timeout);
    let until = request.now.plus(Span::from_secs(hidden.as_secs_up()));
    let mut messages = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let due = due(request, &queue, room)?;
        if due.is_empty() {
            break;
        }
        let mut moved = false;
        for stored in due {
            match &dead_letters {
                Some((dlq, most)) if stored.receives >= *most => {
                    dead_letter(request, &queue, dlq, &stored)?;
                    moved = true;
                }
                _ => messages.push(mark_received(request, &queue, stored, until)?),
            }
        }
        if !messages.is_empty() || !moved {
            break;
        }
    }
    let received = i64::try_from(messages.len()).unwrap_or(i64::MAX);
    *request.in_flight.entry(queue.key).or_default() += received;
    let next_due = if messages.is_empty() && wanted.waits { next_due(request, &queue)? } else { None };
    Ok(Taken { messages, next_due })
}

/// Returns the dead-letter queue and `maxReceiveCount`. `None` if the dead-letter queue was deleted: then messages stay in
/// their queue.
fn dead_letters(request: &Request<'_>, queue: &QueueRow) -> Result<Option<(QueueRow, u32)>, Fault> {
    let Some(redrive) = &queue.settings.redrive else { return Ok(None) };
    Ok(request.find(&redrive.dlq)?.map(|dlq| (dlq, redrive.receives_max)))
}

/// Returns up to `max` messages that are due now, in the order in which they became due.
fn due(request: &Request<'_>, queue: &QueueRow, max: usize) -> Result<Vec<Stored>, Fault> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX);
    let now = request.now.as_ms();
    if !queue.arn.is_fifo() {
        let mut heads = request.db.prepare_cached(select!(
            "WHERE m.queue = ?1 AND m.head = 1 AND m.visible_at <= ?2 ORDER BY m.visible_at, m.position LIMIT ?3"
        ))?;
        let rows = heads.query_map([queue.key, now, limit], Stored::read)?;
        return Ok(rows.collect::<Result<_, _>>()?);
    }
    let mut heads = request.db.prepare_cached(
        "SELECT message_group FROM message WHERE queue = ?1 AND head = 1 AND visible_at <= ?2
            ORDER BY visible_at, position LIMIT ?3",
    )?;
    let message_groups: Vec<String> =
        heads.query_map([queue.key, now, limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut due = Vec::new();
    for message_group in message_groups {
        let mut in_order = request
            .db
            .prepare_cached(select!("WHERE m.queue = ?1 AND m.message_group = ?2 ORDER BY m.position LIMIT ?3"))?;
        let room = i64::try_from(max - due.len()).unwrap_or(i64::MAX);
        for stored in in_order.query_map(params![queue.key, message_group, room], Stored::read)? {
            let stored = stored?;
            if stored.visible_at > request.now {
                break;
            }
            due.push(stored);
        }
        if due.len() == max {
            break;
        }
    }
    Ok(due)
}

fn mark_received(
    request: &Request<'_>,
    queue: &QueueRow,
    mut stored: Stored,
    until: Timestamp,
) -> Result<Received, Fault> {
    let mut mark = request.db.prepare_cached(
        "UPDATE message SET visible_at = ?2, receives = receives + 1, receive_count = receive_count + 1,
            received_at = ?3, first_received_at = coalesce(first_received_at, ?3) WHERE key = ?1",
    )?;
    mark.execute([stored.key, until.as_ms(), request.now.as_ms()])?;
    stored.receive_count += 1;
    stored.first_received_at.get_or_insert(request.now);
    let handle = Handle { queue: queue.key, message: stored.key, receive_count: stored.receive_count };
    Ok(stored.received(handle))
}

/// Moves a message to the dead-letter queue, as SQS does. The message keeps its id and its receive count, and can be
/// received there at once. On a standard queue it keeps its sent time, from which retention counts. On a FIFO queue the
/// sent time is reset, and the message id replaces the deduplication id.
fn dead_letter(request: &mut Request<'_>, queue: &QueueRow, dlq: &QueueRow, stored: &Stored) -> Result<(), Fault> {
    let (position, _) = request.next_keys(1)?;
    let fifo = dlq.arn.is_fifo();
    let message_group = stored.message_group.as_deref();
    let sent_at = if fifo { request.now } else { stored.sent_at };
    let head = request.is_free(dlq, message_group)?;
    request
        .db
        .prepare_cached(
            "UPDATE message SET queue = ?2, position = ?3, sent_at = ?4, visible_at = ?5, receives = 0,
                received_at = NULL, head = ?6, source_queue = ?7,
                deduplication_id = CASE WHEN ?8 THEN message_id ELSE deduplication_id END WHERE key = ?1",
        )?
        .execute(params![
            stored.key,
            dlq.key,
            position,
            sent_at.as_ms(),
            request.now.as_ms(),
            head,
            queue.arn.as_str(),
            fifo
        ])?;
    request.promote(queue, message_group)?;
    request.wake.push(dlq.arn.clone());
    Ok(())
}

fn next_due(request: &Request<'_>, queue: &QueueRow) -> Result<Option<Timestamp>, Fault> {
    let mut next = request.db.prepare_cached("SELECT min(visible_at) FROM message WHERE queue = ?1 AND head = 1")?;
    let next: Option<i64> = next.query_row([queue.key], |row| row.get(0))?;
    Ok(next.map(Timestamp::from_ms))
}
