//! Whether the two databases of an office are from one moment.
//!
//! A backup has both from one moment. Whoever restores one file without the other gets letters whose messages wait again,
//! or steps of replays that nobody knows, and each file by itself looks whole. So both hold a number that changes each
//! minute: the store its own and the one that the queues held just before, the queues theirs.
//!
//! Within a minute, each commit holds how many commits of the other database were acknowledged before it. A message is
//! deleted only after its letter is stored, and a step is sent only after its replay is. So queues that saw more commits
//! than the store has lack letters. After a kill or a power cut that cannot be: what was acknowledged was on the disk.

use super::{DatabaseFile, commit, mark, partner};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

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
        Ok(db.query_row("SELECT number, before FROM moment", [], read).optional()?.unwrap_or_default())
    }

    /// Creates the table of the number.
    pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
        db.execute(TABLE, []).map(drop)
    }

    /// Whether a store with this number belongs to queues with that one. Between the two writes of a minute, the queues
    /// still hold the number of the minute before.
    pub(super) fn belongs_to(self, queues: Self) -> bool {
        queues.number == self.number || queues.number == self.before
    }
}

/// How far a database is, and how far it saw its partner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Its commits.
    pub(super) commits: u64,
    /// The acknowledged commits of its partner, at its last commit.
    partner: u64,
}

impl Side {
    pub(super) fn read(db: &Connection) -> rusqlite::Result<Self> {
        let commits = mark::read_commits(db)?.unwrap_or_default();
        Ok(Self { commits, partner: partner::read(db)? })
    }

    /// Whether this database has every commit that the other one saw.
    pub(super) fn has_what_saw(self, other: Self) -> bool {
        self.commits >= other.partner
    }
}

impl DatabaseFile {
    /// Writes the number of a minute.
    pub(crate) fn set_moment(&mut self, moment: Moment) -> rusqlite::Result<()> {
        let changes = self.db.total_changes();
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute("DELETE FROM moment", [])?;
        tx.execute("INSERT INTO moment VALUES (?1, ?2)", [moment.number, moment.before])?;
        commit(tx, self.mark.as_mut(), changes)
    }
}
