//! The database file: its tables, and how it is opened.
//!
//! A message is two rows. `content` is written once and holds what may be a megabyte; `message` is small and is what
//! receives, moves and deletes touch. Every question that the queue asks is answered by an index, so its speed does
//! not depend on how many messages are stored.

use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Changes with the tables; a file of another version is refused rather than misread.
const VERSION: i64 = 1;
/// How long opening waits for a process that is just ending to let go of the file.
const BUSY: Duration = Duration::from_secs(5);
/// Statements kept prepared: more than the queue has.
const STATEMENTS: usize = 64;

/// Why the file of the queues could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite says no: not a database, no space, no permission, or another process has it open.
    #[error("the queue file {} could not be opened", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file was written by another version of this program.
    #[error("the queue file {} has version {found}, this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The thread that writes could not be started.
    #[error("the thread that writes the queue file {} could not be started", path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
}

/// `head` marks what a receive may start at: every message of a standard queue, the first of each lane (message
/// group) of a FIFO queue. `position` orders; a key that was once given out is never given out again.
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
    lane TEXT,
    head INTEGER NOT NULL,
    deduplication_id TEXT,
    source_queue TEXT
) STRICT;
CREATE INDEX message_due ON message (queue, head, visible_at, position, receives);
CREATE INDEX message_sent ON message (queue, sent_at, position);
CREATE INDEX message_lane ON message (queue, lane, position) WHERE lane IS NOT NULL;
CREATE TABLE deduplication (
    queue INTEGER NOT NULL,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    PRIMARY KEY (queue, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deduplication_sent ON deduplication (queue, sent_at);
";

/// Opens the file, or makes it.
pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let fail = |source| OpenError::File { path: path.to_owned(), source };
    let mut db = Connection::open(path).map_err(fail)?;
    prepare(&mut db).map_err(fail)?.map_or(Ok(db), |found| Err(OpenError::Version { path: path.to_owned(), found }))
}

/// A database that lives as long as the connection, with a fixed salt: the same calls give the same ids.
pub(super) fn open_in_memory() -> Result<Connection, OpenError> {
    let path = Path::new(":memory:");
    let db = open(path)?;
    db.execute("UPDATE counter SET salt = 'memory'", [])
        .map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    Ok(db)
}

/// Answers the version of a file that is not ours to read.
fn prepare(db: &mut Connection) -> rusqlite::Result<Option<i64>> {
    db.busy_timeout(BUSY)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    // One process owns the file: what wakes the waiting receivers is in its memory.
    db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // The write-ahead log with NORMAL hands every commit to the operating system before it is acknowledged, and syncs
    // at checkpoints: a killed process loses nothing, a power cut may lose the last commits but corrupts nothing.
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // Each checkpoint syncs the files, so there is one every 16 MB of log instead of every 4.
    db.pragma_update(None, "wal_autocheckpoint", 4000)?;
    db.pragma_update(None, "cache_size", -32 * 1024)?;
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let empty = tx.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(())).optional()?.is_none();
    if version == 0 && empty {
        tx.execute_batch(TABLES)?;
        tx.execute("INSERT INTO counter VALUES (1, lower(hex(randomblob(16))))", [])?;
        tx.pragma_update(None, "user_version", VERSION)?;
    } else if version != VERSION {
        return Ok(Some(version));
    }
    tx.commit()?;
    Ok(None)
}
