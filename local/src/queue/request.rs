//! One request in the database: its queue, its time, and the receivers that it wakes.

use super::settings::QueueSettings;
use domain::id::{MessageId, QueueArn, hash_hex};
use domain::time::{Span, Timestamp};
use queue::{QueueError, Redrive};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;
use std::sync::Arc;

/// Why a request failed. None of its changes remain in the database.
#[derive(Debug)]
pub(super) enum Fault {
    /// The queue refused the request.
    Refused(QueueError),
    /// The database failed. Shared, because a failed commit fails every request in it.
    Database(Arc<rusqlite::Error>),
    /// The writer thread has ended.
    ShutDown,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

impl From<QueueError> for Fault {
    fn from(error: QueueError) -> Self {
        Self::Refused(error)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the embedded queue was shut down")]
struct ShutDown;

impl Fault {
    /// Converts the fault to the port's error for a queue.
    pub(super) fn for_queue(self, queue: &QueueArn) -> QueueError {
        let queue = queue.clone();
        match self {
            Self::Refused(error) => error,
            Self::Database(error) => QueueError::Unanswered { queue, source: Box::new(error) },
            Self::ShutDown => QueueError::Unanswered { queue, source: Box::new(ShutDown) },
        }
    }
}

/// A queue, read from its row.
pub(super) struct QueueRow {
    pub(super) key: i64,
    pub(super) arn: QueueArn,
    pub(super) settings: QueueSettings,
}

impl QueueRow {
    /// Returns a refusal of the whole request.
    pub(super) fn refuse(&self, reason: impl Into<String>) -> Fault {
        Fault::Refused(QueueError::Invalid { queue: self.arn.clone(), reason: reason.into() })
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let dlq: Option<String> = row.get("dlq")?;
        let receives_max: Option<u32> = row.get("receives_max")?;
        let arn: String = row.get("arn")?;
        Ok(Self {
            key: row.get("key")?,
            arn: QueueArn::new(arn),
            settings: QueueSettings {
                visibility_timeout: Span::from_ms(row.get("visibility_timeout_ms")?),
                retention: Span::from_ms(row.get("retention_ms")?),
                delay: Span::from_ms(row.get("delay_ms")?),
                redrive: dlq
                    .zip(receives_max)
                    .map(|(dlq, receives_max)| Redrive { dlq: QueueArn::new(dlq), receives_max }),
                content_based_deduplication: row.get("content_based_deduplication")?,
                message_bytes_max: usize::try_from(row.get::<_, u32>("message_bytes_max")?).unwrap_or(usize::MAX),
            },
        })
    }
}

/// The context of a request.
pub(super) struct Request<'a> {
    /// The database, inside the request's own savepoint.
    pub(super) db: &'a Connection,
    /// The time of the request.
    pub(super) now: Timestamp,
    /// Queues whose waiting receivers to wake after the commit.
    pub(super) wake: &'a mut Vec<QueueArn>,
    /// An upper bound of the messages in flight, per queue; see [`Request::room_in_flight`].
    pub(super) in_flight: &'a mut HashMap<i64, i64>,
}

impl Request<'_> {
    /// Returns the queue, if it exists.
    pub(super) fn find(&self, arn: &QueueArn) -> Result<Option<QueueRow>, Fault> {
        let mut find = self.db.prepare_cached("SELECT * FROM queue WHERE arn = ?1")?;
        Ok(find.query_row([arn.as_str()], QueueRow::read).optional()?)
    }

    /// Returns the queue, after deleting expired messages.
    pub(super) fn queue(&self, arn: &QueueArn) -> Result<QueueRow, Fault> {
        let queue = self.find(arn)?.ok_or_else(|| QueueError::Missing { queue: arn.clone() })?;
        self.expire(&queue)?;
        Ok(queue)
    }

    /// Returns all queues, sorted by name.
    pub(super) fn queues(&self) -> Result<Vec<QueueRow>, Fault> {
        let mut list = self.db.prepare_cached("SELECT * FROM queue ORDER BY arn")?;
        let rows = list.query_map([], QueueRow::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reserves `count` keys. Returns the first one and the salt. Keys only rise, even after deletes.
    pub(super) fn next_keys(&self, count: usize) -> Result<(i64, String), Fault> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let mut take =
            self.db.prepare_cached("UPDATE counter SET next_key = next_key + ?1 RETURNING next_key, salt")?;
        Ok(take.query_row([count], |row| Ok((row.get::<_, i64>(0)? - count, row.get(1)?)))?)
    }

    /// Deletes a message and makes the next one of its message group receivable.
    pub(super) fn remove(&mut self, queue: &QueueRow, key: i64, message_group: Option<&str>) -> Result<(), Fault> {
        self.db.prepare_cached("DELETE FROM content WHERE key = ?1")?.execute([key])?;
        self.db.prepare_cached("DELETE FROM message WHERE key = ?1")?.execute([key])?;
        self.promote(queue, message_group)
    }

    /// Marks the first message of a message group as its head.
    pub(super) fn promote(&mut self, queue: &QueueRow, message_group: Option<&str>) -> Result<(), Fault> {
        let Some(message_group) = message_group else { return Ok(()) };
        let mut promote = self.db.prepare_cached(
            "UPDATE message SET head = 1 WHERE head = 0 AND key =
                (SELECT key FROM message WHERE queue = ?1 AND message_group = ?2 ORDER BY position LIMIT 1)",
        )?;
        promote.execute(params![queue.key, message_group])?;
        self.wake.push(queue.arn.clone());
        Ok(())
    }

    /// Returns whether a message group is empty, so that the next message sent is its head. True without a message group.
    pub(super) fn is_free(&self, queue: &QueueRow, message_group: Option<&str>) -> Result<bool, Fault> {
        let Some(message_group) = message_group else { return Ok(true) };
        let mut first =
            self.db.prepare_cached("SELECT 1 FROM message WHERE queue = ?1 AND message_group = ?2 LIMIT 1")?;
        Ok(!first.exists(params![queue.key, message_group])?)
    }

    /// Returns how many more messages may be in flight. Counting visits all messages in flight, so the count is cached and
    /// only raised. It is counted again when the cached value leaves no room.
    pub(super) fn room_in_flight(&mut self, queue: &QueueRow, most: i64) -> Result<usize, Fault> {
        let mut taken = self.in_flight.get(&queue.key).copied().unwrap_or(most);
        if taken >= most {
            let mut count = self.db.prepare_cached(
                "SELECT count(*) FROM message WHERE queue = ?1 AND head IN (0, 1) AND visible_at > ?2 AND receives > 0",
            )?;
            taken = count.query_row([queue.key, self.now.as_ms()], |row| row.get(0))?;
            self.in_flight.insert(queue.key, taken);
        }
        Ok(usize::try_from(most - taken).unwrap_or(0))
    }

    /// Deletes messages older than the queue's retention, including those in flight. Age counts from `sent_at`, which a
    /// move to a standard dead-letter queue keeps.
    fn expire(&self, queue: &QueueRow) -> Result<(), Fault> {
        let last = self.now.minus(queue.settings.retention).as_ms();
        let mut any = self.db.prepare_cached("SELECT 1 FROM message WHERE queue = ?1 AND sent_at <= ?2 LIMIT 1")?;
        if !any.exists([queue.key, last])? {
            return Ok(());
        }
        self.db
            .prepare_cached(
                "DELETE FROM content WHERE key IN (SELECT key FROM message WHERE queue = ?1 AND sent_at <= ?2)",
            )?
            .execute([queue.key, last])?;
        self.db.prepare_cached("DELETE FROM message WHERE queue = ?1 AND sent_at <= ?2")?.execute([queue.key, last])?;
        self.db
            .prepare_cached(
                "UPDATE message SET head = 1 WHERE queue = ?1 AND head = 0 AND position =
                    (SELECT min(position) FROM message other WHERE other.queue = ?1 AND other.message_group = message.message_group)",
            )?
            .execute([queue.key])?;
        Ok(())
    }
}

/// Returns the id of the message with this key: unpredictable from outside, and the same in every run of a simulation.
pub(super) fn message_id(salt: &str, key: i64) -> MessageId {
    let hex = hash_hex(&["message", salt, &key.to_string()]);
    MessageId::new([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}
