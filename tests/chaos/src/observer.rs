//! An independent record of what was on the queues: triggers in the queues' own database, which write in the queue's own
//! transactions. So the record is exact after any crash, and the office cannot know of it.

use anyhow::{Context, Result};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

const TRIGGERS: &str = "
CREATE TABLE IF NOT EXISTS observed_content (key INTEGER PRIMARY KEY, body TEXT NOT NULL, attributes TEXT);
CREATE TABLE IF NOT EXISTS observed (seq INTEGER PRIMARY KEY, what TEXT NOT NULL, key INTEGER NOT NULL, queue INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS observed_of_contents AFTER INSERT ON content
    BEGIN INSERT OR REPLACE INTO observed_content VALUES (new.key, new.body, new.attributes); END;
CREATE TRIGGER IF NOT EXISTS observed_of_arrivals AFTER INSERT ON message
    BEGIN INSERT INTO observed (what, key, queue) VALUES ('came', new.key, new.queue); END;
CREATE TRIGGER IF NOT EXISTS observed_of_moves AFTER UPDATE OF queue ON message WHEN old.queue <> new.queue
    BEGIN INSERT INTO observed (what, key, queue) VALUES ('went', new.key, old.queue), ('came', new.key, new.queue); END;
CREATE TRIGGER IF NOT EXISTS observed_of_departures AFTER DELETE ON message
    BEGIN INSERT INTO observed (what, key, queue) VALUES ('went', old.key, old.queue); END;
";

/// The number of an order, as in `ord_000017`.
pub type Number = u64;

/// Installs the triggers in the queues of an office that is closed.
pub fn install(folder: &Path) -> Result<()> {
    let db = Connection::open(folder.join("queues.db"))?;
    Ok(db.execute_batch(TRIGGERS)?)
}

/// The orders that the queue acknowledged, by what must become of them.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Orders on which version 1 fails: each becomes a letter.
    pub failing: Vec<RangeInclusive<Number>>,
    /// Orders that every version handles.
    pub good: Vec<RangeInclusive<Number>>,
}

impl Placed {
    /// The acknowledged orders that must become letters.
    pub fn failing(&self) -> impl Iterator<Item = Number> + '_ {
        self.failing.iter().cloned().flatten()
    }

    /// All acknowledged orders.
    pub fn all(&self) -> impl Iterator<Item = Number> + '_ {
        self.failing().chain(self.good.iter().cloned().flatten())
    }
}

/// What happened to the messages of one order, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A producer put it on the main queue.
    Placed,
    /// A replay put it on the main queue.
    Replayed {
        /// The letter that the marker names.
        letter: String,
        /// The replay that the marker names.
        replay: String,
    },
    /// It came to the dead-letter queue.
    Died,
}

/// The record of all messages.
#[derive(Debug, Default)]
pub struct Record {
    /// By order.
    pub events: BTreeMap<Number, Vec<Event>>,
    /// The bodies of each order's messages: one, unless something changed a body.
    pub bodies: BTreeMap<Number, BTreeSet<String>>,
    /// Orders with a message that still lies on the main queue.
    pub on_main: BTreeSet<Number>,
    /// Orders with a message that still lies on the dead-letter queue.
    pub on_dlq: BTreeSet<Number>,
}

impl Record {
    /// How many messages replays put on the main queue.
    pub fn sends(&self) -> u64 {
        let events = self.events.values().flatten();
        events.filter(|event| matches!(event, Event::Replayed { .. })).count() as u64
    }
}

/// Reads the record from the queues of an office that is closed.
pub fn read(folder: &Path) -> Result<Record> {
    let db = Connection::open(folder.join("queues.db"))?;
    let key_of = |name: &str| -> Result<i64> {
        let arn = format!("arn:aws:sqs:local:000000000000:{name}");
        db.query_row("SELECT key FROM queue WHERE arn = ?1", [arn], |row| row.get(0)).context("a queue of the demo")
    };
    let (main, dlq) = (key_of("orders")?, key_of("orders-dlq")?);
    let mut record = Record::default();
    let mut rows = db.prepare(
        "SELECT w.what, w.queue, c.body, c.attributes FROM observed w JOIN observed_content c ON c.key = w.key ORDER BY w.seq",
    )?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let (what, queue): (String, i64) = (row.get(0)?, row.get(1)?);
        let (body, attributes): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        if what != "came" || (queue != main && queue != dlq) {
            continue;
        }
        let Some(order) = number(&body) else { continue };
        let event = match marker(attributes.as_deref()) {
            _ if queue == dlq => Event::Died,
            Some((letter, replay)) => Event::Replayed { letter, replay },
            None => Event::Placed,
        };
        record.events.entry(order).or_default().push(event);
        record.bodies.entry(order).or_default().insert(body);
    }
    let still = |queue: i64| -> Result<BTreeSet<Number>> {
        let mut rows = db.prepare("SELECT c.body FROM message m JOIN content c ON c.key = m.key WHERE m.queue = ?1")?;
        let bodies = rows.query_map([queue], |row| row.get::<_, String>(0))?;
        Ok(bodies.collect::<Result<Vec<_>, _>>()?.iter().filter_map(|body| number(body)).collect())
    };
    (record.on_main, record.on_dlq) = (still(main)?, still(dlq)?);
    Ok(record)
}

/// The number of the order in a body.
pub fn number(body: &str) -> Option<Number> {
    let (_, tail) = body.split_once("ord_")?;
    tail.get(..6)?.parse().ok()
}

/// The letter and the replay in the marker of a replayed message: `2.<letter>.<replay>.<attempt>.<place>`.
fn marker(attributes: Option<&str>) -> Option<(String, String)> {
    let (_, after) = attributes?.split_once("\"dlo.replay\"")?;
    let (_, value) = after.split_once("\"2.")?;
    let mut parts = value.split('.');
    Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_markers_are_read() {
        assert_eq!(number(r#"{"order_id":"ord_000017","x":1}"#), Some(17));
        assert_eq!(number("{}"), None);
        let attributes = r#"{"dlo.replay":{"data_type":"String","value":{"text":"2.aa.bb.2.0"}}}"#;
        assert_eq!(marker(Some(attributes)), Some(("aa".to_owned(), "bb".to_owned())));
        assert_eq!(marker(Some("{}")), None);
        assert_eq!(marker(None), None);
    }
}
