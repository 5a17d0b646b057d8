//! The database file: its tables, and how it is opened.
//!
//! A message has two rows. `content` is written once and may be a megabyte; `message` is small, and receives, moves and
//! deletes change only it. Every query uses an index, so the speed does not depend on the number of messages.

use crate::sqlite::{Access, ConnectError, DatabaseFile, FileError, Opening};
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};

/// The version of the tables. A file of another version is refused, because it could be misread.
const VERSION: i64 = 2;
/// The capacity for prepared statements: more than the queue has.
const STATEMENTS: usize = 64;

/// Why the queue file could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file is damaged, or a copy that may not be complete.
    #[error(transparent)]
    Damaged(#[from] FileError),
    /// SQLite refused: not a database, no space, no permission, or another process has it open.
    #[error("cannot open the queue file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file was written by another version of this program.
    #[error("the queue file {} has version {found}, but this program needs version {VERSION}. Use the program that wrote the file", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The writer thread could not be started.
    #[error("cannot start the writer thread of the queue file {}", path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
}

/// The column `message_group` is set in a FIFO queue only. `head` marks the messages at which a receive may start: every
/// message of a standard queue, and the first message of each message group. `position` is the order within a queue.
/// Keys are never reused.
const TABLES: &str = "
CREATE TABLE counter (next_key INTEGER NOT NULL, salt TEXT NOT NULL) STRICT;
CREATE TABLE queue (
    key INTEGER PRIMARY KEY,
    arn TEXT NOT NULL UNIQUE,
    visibility_timeout_ms INTEGER NOT NULL,
    retention_ms INTEGER NOT NULL,
    delay_ms INTEGER NOT NULL,
    dlq TEXT,
    receives_max INTEGER,
    content_based_deduplication INTEGER NOT NULL,
    message_bytes_max INTEGER NOT NULL
) STRICT;
CREATE TABLE content (
    key INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    attributes TEXT,
    message_group_id TEXT,
    trace_header TEXT
) STRICT;
CREATE TABLE message (
    key INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    receives INTEGER NOT NULL,
    receive_count INTEGER NOT NULL,
    received_at INTEGER,
    first_received_at INTEGER,
    message_group TEXT,
    head INTEGER NOT NULL,
    deduplication_id TEXT,
    source_queue TEXT
) STRICT;
CREATE INDEX message_due ON message (queue, head, visible_at, position, receives);
CREATE INDEX message_sent ON message (queue, sent_at, position);
CREATE INDEX message_in_group ON message (queue, message_group, position) WHERE message_group IS NOT NULL;
CREATE TABLE deduplication (
    queue INTEGER NOT NULL,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    PRIMARY KEY (queue, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deduplication_sent ON deduplication (queue, sent_at);
";

/// What makes a file of version 1 one of this version.
const FROM_1: &str = "
ALTER TABLE message RENAME COLUMN lane TO message_group;
DROP INDEX message_lane;
CREATE INDEX message_in_group ON message (queue, message_group, position) WHERE message_group IS NOT NULL;
";

/// Opens the file, or creates it.
pub(super) fn open(path: &Path, opening: &Opening) -> Result<DatabaseFile, OpenError> {
    let fail = |source| OpenError::File { path: path.to_owned(), source };
    let failed = |error| match error {
        ConnectError::File(error) => OpenError::Damaged(error),
        ConnectError::Sqlite(source) => fail(source),
    };
    // Only one process may have the file open, because waiting receivers are woken through its memory.
    let mut file = DatabaseFile::connect(path, opening, Access::Alone).map_err(failed)?;
    if let Some(found) = prepare(&mut file.db).map_err(fail)? {
        return Err(OpenError::Version { path: path.to_owned(), found });
    }
    file.begin().map_err(failed)?;
    Ok(file)
}

/// Creates a database in memory with a fixed salt, so that the same calls result in the same ids.
pub(super) fn open_in_memory() -> Result<DatabaseFile, OpenError> {
    let create = || {
        let mut file = DatabaseFile::in_memory()?;
        prepare(&mut file.db)?;
        file.db.execute("UPDATE counter SET salt = 'memory'", [])?;
        Ok(file)
    };
    create().map_err(|source| OpenError::File { path: ":memory:".into(), source })
}

/// Prepares the connection and the tables. Returns the version of a file that this program cannot read.
fn prepare(db: &mut Connection) -> rusqlite::Result<Option<i64>> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // Each checkpoint syncs the files, so it happens every 16 MB of log instead of every 4 MB.
    db.pragma_update(None, "wal_autocheckpoint", 4000)?;
    db.pragma_update(None, "cache_size", -32 * 1024)?;
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let empty = tx.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(())).optional()?.is_none();
    if version == 0 && empty {
        tx.execute_batch(TABLES)?;
        tx.execute("INSERT INTO counter VALUES (1, lower(hex(randomblob(16))))", [])?;
        tx.pragma_update(None, "user_version", VERSION)?;
    } else if version == 1 {
        tx.execute_batch(FROM_1)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    } else if version != VERSION {
        return Ok(Some(version));
    }
    tx.commit()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables and indexes, as SQLite describes them.
    fn described(db: &Connection) -> Vec<(String, String)> {
        let mut all =
            db.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").expect("SQL");
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    }

    #[test]
    fn a_file_of_version_1_becomes_one_of_this_version() {
        let mut new = Connection::open_in_memory().expect("a database");
        assert_eq!(prepare(&mut new), Ok(None));
        let mut old = Connection::open_in_memory().expect("a database");
        let tables = TABLES
            .replace("message_in_group", "message_lane")
            .replace("    message_group TEXT,\n    head", "    lane TEXT,\n    head");
        let tables = tables
            .replace("(queue, message_group, position) WHERE message_group", "(queue, lane, position) WHERE lane");
        assert!(!tables.contains("message_group,"), "{tables}");
        old.execute_batch(&tables).expect("the tables of version 1");
        old.pragma_update(None, "user_version", 1).expect("a version");
        assert_eq!(prepare(&mut old), Ok(None));
        assert_eq!(described(&old), described(&new));
        assert_eq!(prepare(&mut old), Ok(None), "opened once more");
    }
}
