//! Whether the two databases of an office are from one moment.
//!
//! A backup has both from one moment. Whoever restores one file without the other gets letters whose messages wait again,
//! or steps of replays that nobody knows, and each file by itself looks whole. So both hold a number that changes each
//! minute: the store its own and the one that the queues held just before, the queues theirs.

use super::{DatabaseFile, commit};
use rusqlite::{Connection, TransactionBehavior};

/// The table of the number. Not among the migrations, because both files have it.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS moment (number INTEGER NOT NULL, before INTEGER NOT NULL) STRICT";

/// The number of a database, and the one that its partner held just before. Both are 0 in files of older versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) number: i64,
    pub(crate) before: i64,
}

impl Moment {
    /// Reads the number of a database.
    pub(crate) fn read(db: &Connection) -> rusqlite::Result<Self> {
        if !db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'moment'")?.exists([])? {
            return Ok(Self::default());
        }
        let read = |row: &rusqlite::Row<'_>| Ok(Self { number: row.get(0)?, before: row.get(1)? });
        db.query_row("SELECT number, before FROM moment", [], read)
    }

    /// Whether a store with this number belongs to queues with that one. Between the two writes of a minute, the queues
    /// still hold the number of the minute before.
    pub(super) fn belongs_to(self, queues: Self) -> bool {
        queues.number == self.number || queues.number == self.before
    }
}

impl DatabaseFile {
    /// Writes the number of a minute.
    pub(crate) fn set_moment(&mut self, moment: Moment) -> rusqlite::Result<()> {
        let changes = self.db.total_changes();
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute(TABLE, [])?;
        tx.execute("DELETE FROM moment", [])?;
        tx.execute("INSERT INTO moment VALUES (?1, ?2)", [moment.number, moment.before])?;
        commit(tx, self.mark.as_mut(), changes)
    }
}
