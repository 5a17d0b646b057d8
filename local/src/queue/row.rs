//! A stored message, read from its two rows.

use super::handle::Handle;
use domain::id::{MessageId, QueueArn};
use domain::message::{Attributes, Content, SystemAttributes};
use domain::time::Timestamp;
use queue::Received;
use rusqlite::Row;
use rusqlite::types::Type;

/// The sender id of all messages: only programs on this machine send.
const SENDER: &str = "local";

/// Builds the statement for [`Stored::read`] from its conditions.
macro_rules! select {
    ($conditions:literal) => {
        concat!(
            "SELECT m.key, m.position, m.message_id, m.sent_at, m.visible_at, m.receives, m.receive_count, ",
            "m.first_received_at, m.message_group, m.deduplication_id, m.source_queue, ",
            "c.body, c.attributes, c.message_group_id, c.trace_header ",
            "FROM message m JOIN content c ON c.key = m.key ",
            $conditions
        )
    };
}
pub(super) use select;

pub(super) struct Stored {
    pub(super) key: i64,
    pub(super) position: i64,
    pub(super) message_id: MessageId,
    pub(super) sent_at: Timestamp,
    pub(super) visible_at: Timestamp,
    /// Receives in this queue, which the redrive policy counts.
    pub(super) receives: u32,
    /// Receives in all queues: `ApproximateReceiveCount`.
    pub(super) receive_count: u32,
    pub(super) first_received_at: Option<Timestamp>,
    /// The message group, on FIFO queues only.
    pub(super) message_group: Option<String>,
    pub(super) deduplication_id: Option<String>,
    pub(super) source_queue: Option<QueueArn>,
    pub(super) content: Content,
}

impl Stored {
    /// Reads a row of [`select`]. Reads by column number, because a name costs a search and this code runs most often.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let attributes: Option<&str> = row.get_ref(12)?.as_str_or_null()?;
        Ok(Self {
            key: row.get(0)?,
            position: row.get(1)?,
            message_id: MessageId::new(row.get::<_, String>(2)?),
            sent_at: Timestamp::from_ms(row.get(3)?),
            visible_at: Timestamp::from_ms(row.get(4)?),
            receives: row.get(5)?,
            receive_count: row.get(6)?,
            first_received_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_ms),
            message_group: row.get(8)?,
            deduplication_id: row.get(9)?,
            source_queue: row.get::<_, Option<String>>(10)?.map(QueueArn::new),
            content: Content {
                body: row.get(11)?,
                attributes: attributes.map(parse).transpose()?.unwrap_or_default(),
                message_group_id: row.get(13)?,
                trace_header: row.get(14)?,
            },
        })
    }

    /// Returns the system attributes that SQS would show.
    pub(super) fn system(&self) -> SystemAttributes {
        SystemAttributes {
            sent_at: Some(self.sent_at),
            first_received_at: self.first_received_at,
            receive_count: Some(self.receive_count),
            source_queue: self.source_queue.clone(),
            deduplication_id: self.deduplication_id.clone(),
            // Twenty digits like those of SQS, so that they sort as text.
            sequence_number: self.message_group.as_ref().map(|_| format!("{:020}", self.position)),
            sender_id: Some(SENDER.into()),
        }
    }

    pub(super) fn received(self, handle: Handle) -> Received {
        Received {
            system: self.system(),
            message_id: self.message_id,
            receipt_handle: handle.to_string(),
            content: self.content,
        }
    }
}

fn parse(attributes: &str) -> rusqlite::Result<Attributes> {
    serde_json::from_str(attributes)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(12, Type::Text, error.into()))
}
