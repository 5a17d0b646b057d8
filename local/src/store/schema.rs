//! The store file: its tables, its versions, and opening it.
//!
//! The column `record` holds a record as JSON. The other columns are for conditions and for the order of lists. A
//! letter's content has a separate row, because it never changes, while the letter changes with every step of a replay.

use super::read::{believe_counts, first_changed, first_changed_count};
use crate::sqlite::{self, Access, BUSY, CHECKED_BYTES_MAX, ConnectError, DatabaseFile, FileError, Opening};
use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Identifies our files: `DLOS` in ASCII. Another program's database is refused, not extended.
const APPLICATION_ID: i32 = 0x444C_4F53;
/// A connection's capacity for prepared statements: more than the store has.
const STATEMENTS: usize = 64;
/// The size of the log, in pages, at which the writer copies it into the file: 64 MiB. Letters have random ids, so each
/// letter touches different pages. Copying a page once for many letters keeps the commit rate constant.
const CHECKPOINT_PAGES: i64 = 16_384;
/// More pages than an empty store has, so that one step copies it.
const PAGES_AT_ONCE: i32 = 10_000;

/// The migrations from an empty file to the newest version. `user_version` is the number of migrations applied to a file.
/// Released migrations never change; a new version adds one.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE letter (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    loss_at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX letter_by_state ON letter (group_id, state, sent_at, id);
CREATE INDEX letter_by_time ON letter (group_id, sent_at, id);
CREATE INDEX open_letter_by_time ON letter (group_id, sent_at) WHERE open = 1;
CREATE INDEX open_letter_by_loss ON letter (group_id, loss_at) WHERE open = 1;
CREATE TABLE content (
    letter INTEGER PRIMARY KEY REFERENCES letter (key),
    record TEXT NOT NULL
) STRICT;
CREATE TABLE death (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    letter TEXT NOT NULL,
    number INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX death_by_letter ON death (letter, number);
CREATE TABLE error_group (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE group_count (
    group_id TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE group_customer (
    group_id TEXT NOT NULL,
    customer TEXT NOT NULL,
    PRIMARY KEY (group_id, customer)
) STRICT, WITHOUT ROWID;
CREATE TABLE arrival (
    group_id TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    deaths INTEGER NOT NULL,
    PRIMARY KEY (group_id, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan (
    group_id TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE replay (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    approved_at INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX replay_by_time ON replay (approved_at, id);
CREATE INDEX replay_by_group ON replay (group_id, approved_at, id);
CREATE INDEX replay_unfinished ON replay (id) WHERE finished = 0;
CREATE TABLE book (
    key INTEGER PRIMARY KEY,
    replay TEXT NOT NULL UNIQUE,
    ledger TEXT NOT NULL
) STRICT;
CREATE TABLE entry (
    book INTEGER NOT NULL REFERENCES book (key),
    seq INTEGER NOT NULL,
    letter TEXT NOT NULL,
    wave INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    sends INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (book, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entry_by_letter ON entry (book, letter);
CREATE INDEX entry_by_wave ON entry (book, wave, seq);
CREATE INDEX entry_by_outcome ON entry (book, outcome, seq);
CREATE INDEX entry_by_wave_and_outcome ON entry (book, wave, outcome, seq);
CREATE TABLE sent (
    message TEXT PRIMARY KEY,
    replay TEXT NOT NULL,
    letter TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE deployment (
    service TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    key INTEGER PRIMARY KEY,
    group_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_group ON audit (group_id, at, key);
",
    "
CREATE TABLE transform (
    group_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (group_id, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE dry_run (
    group_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (group_id, version)
) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE attached (
    queue TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
",
    "
ALTER TABLE letter ADD COLUMN delivered_at INTEGER;
UPDATE letter SET delivered_at = record ->> '$.at' WHERE state = 'delivered';
CREATE INDEX letter_by_delivery ON letter (delivered_at) WHERE delivered_at IS NOT NULL;
",
    "
CREATE TABLE clock (
    key INTEGER PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;
",
    "
CREATE TABLE reports (
    queue TEXT NOT NULL,
    message TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (queue, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_by_expiry ON reports (expires_at);
ALTER TABLE letter ADD COLUMN checksum INTEGER;
ALTER TABLE content ADD COLUMN checksum INTEGER;
",
    "
DROP INDEX letter_by_delivery;
ALTER TABLE letter RENAME COLUMN delivered_at TO closed_at;
CREATE INDEX letter_by_closing ON letter (state, closed_at) WHERE closed_at IS NOT NULL;
",
    "
CREATE TABLE policy (
    version INTEGER PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;
",
    "
ALTER TABLE group_count ADD COLUMN checksum INTEGER;
",
    // Plans of the form before are made anew: their entries are not in blocks.
    "
DROP TABLE entry;
DROP TABLE sent;
DELETE FROM plan;
CREATE TABLE block (
    book INTEGER NOT NULL REFERENCES book (key),
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (book, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE sent (
    message TEXT PRIMARY KEY,
    replay TEXT NOT NULL,
    place INTEGER NOT NULL,
    letter TEXT NOT NULL
) STRICT, WITHOUT ROWID;
",
    "
CREATE TABLE notices (
    queue TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE change (
    group_id TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX change_by_number ON change (number);
CREATE TABLE snapshot (
    key INTEGER PRIMARY KEY,
    packed BLOB NOT NULL
) STRICT;
",
    "CREATE TABLE draft (id TEXT PRIMARY KEY, version INTEGER NOT NULL, record TEXT NOT NULL) STRICT;",
];

/// Why the store file could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file is damaged, or a copy that may not be complete.
    #[error(transparent)]
    Damaged(#[from] FileError),
    /// SQLite refused: no space, no permission, a missing folder, or another process has locked the file.
    #[error("cannot open the store file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file belongs to another program, or its header is damaged.
    #[error("{} is not a store of Dead Letter Office; the file was not changed", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote the file.
    #[error(
        "the store file {} has version {found}, but this program reads versions up to {newest}: use the newer program",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: i64,
        /// The newest version that this program knows.
        newest: i64,
    },
    /// The writer thread could not be started.
    #[error("cannot start the writer thread of the store file {}", path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
}

/// The kind of a file.
enum FileKind {
    Ours,
    NotOurs,
    Newer(i64),
}

/// Creates a store in memory. The first one of a process goes through the migrations; later ones begin as copies of it,
/// because a simulation creates thousands.
pub(super) fn create_in_memory() -> Result<Connection, OpenError> {
    static MIGRATED: Mutex<Option<Connection>> = Mutex::new(None);
    let create = || {
        let mut file = DatabaseFile::in_memory()?;
        let mut migrated = MIGRATED.lock().unwrap_or_else(PoisonError::into_inner);
        if migrated.is_none() {
            let mut first = DatabaseFile::in_memory()?.db;
            migrate(&mut first)?;
            *migrated = Some(first);
        }
        if let Some(migrated) = &*migrated {
            Backup::new(migrated, &mut file.db)?.run_to_completion(PAGES_AT_ONCE, Duration::ZERO, None)?;
        }
        // It finds nothing to migrate, and sets the connection up.
        migrate(&mut file.db)?;
        Ok(file.db)
    };
    create().map_err(|source| refused(Path::new(":memory:"), source))
}

/// Opens the file for writing, or creates it, and migrates it to the newest version.
pub(super) fn open_writer(path: &Path, opening: &Opening) -> Result<DatabaseFile, OpenError> {
    let failed = |error| match error {
        ConnectError::File(error) => OpenError::Damaged(error),
        ConnectError::Sqlite(source) => refused(path, source),
    };
    let mut file = DatabaseFile::connect(path, opening, Access::Shared).map_err(failed)?;
    match migrate(&mut file.db).map_err(|source| refused(path, source))? {
        FileKind::Ours => {
            check_records(&file.db, path, opening)?;
            file.begin().map_err(failed)?;
            Ok(file)
        }
        FileKind::NotOurs => Err(OpenError::NotAStore { path: path.to_owned() }),
        FileKind::Newer(found) => {
            let newest = MIGRATIONS.len() as i64;
            Err(OpenError::Newer { path: path.to_owned(), found, newest })
        }
    }
}

/// Refuses a file with a count or a letter that is not as it was written. The letters of a large file are checked by each
/// backup instead.
fn check_records(db: &Connection, path: &Path, opening: &Opening) -> Result<(), OpenError> {
    let failed = |source| refused(path, source);
    let is_small = std::fs::metadata(path).map_or(0, |file| file.len()) <= CHECKED_BYTES_MAX;
    let count = first_changed_count(db).map_err(failed)?;
    let letter = if is_small { first_changed(db).map_err(failed)? } else { None };
    for finding in [&count, &letter].into_iter().flatten() {
        if !opening.accept_damage {
            return Err(OpenError::Damaged(FileError::Corrupt { path: path.to_owned(), finding: finding.clone() }));
        }
        tracing::warn!(file = %path.display(), "opening a damaged file: {finding}");
    }
    if count.is_some() {
        // Without them, no letter could join the group any more.
        believe_counts(db).map_err(failed)?;
    }
    Ok(())
}

/// Opens the file, which the writer has prepared, for reading.
pub(super) fn open_reader(path: &Path, opening: &Opening) -> Result<Connection, OpenError> {
    let open = || {
        let db = sqlite::open(path, opening)?;
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        // Reading the log needs write access to its shared index. This flag protects the data.
        db.pragma_update(None, "query_only", true)?;
        db.pragma_update(None, "cache_size", -8 * 1024)?;
        Ok(db)
    };
    open().map_err(|source| refused(path, source))
}

fn refused(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::NotAStore { path },
        _ => OpenError::File { path, source },
    }
}

fn migrate(db: &mut Connection) -> rusqlite::Result<FileKind> {
    db.busy_timeout(BUSY)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    let kind = inspect(db)?;
    if !matches!(kind, FileKind::Ours) {
        return Ok(kind);
    }
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    db.pragma_update(None, "cache_size", -64 * 1024)?;
    // Keeps the rollback data of savepoints in memory; a file would cost as many writes as the log itself.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    // If two programs open a new file at the same time, the second waits here and inspects the file again.
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let kind = inspect(&tx)?;
    if matches!(kind, FileKind::Ours) {
        let applied: usize = tx.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))? as usize;
        for migration in &MIGRATIONS[applied..] {
            tx.execute_batch(migration)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        tx.commit()?;
    }
    Ok(kind)
}

/// Determines the kind of a file without changing it.
fn inspect(db: &Connection) -> rusqlite::Result<FileKind> {
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let application: i32 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version) {
        (APPLICATION_ID, 0..) if version > MIGRATIONS.len() as i64 => FileKind::Newer(version),
        (APPLICATION_ID, 0..) => FileKind::Ours,
        (0, 0) if tables == 0 => FileKind::Ours,
        _ => FileKind::NotOurs,
    })
}
