//! The SQLite files of an office: how they are opened, committed, copied into the file, and closed.
//!
//! **Nothing acknowledged is lost.** Each commit is synced to the disk before it is acknowledged. One sync serves all
//! commits that wait at the same time.
//!
//! **Nothing lost goes unnoticed.** SQLite takes a damaged or missing log for the log's end, and opens an older state in
//! silence. Therefore each transaction counts itself in the file, and the number is written beside the file after the
//! commit ([`mark`]). A file that holds fewer commits than its mark is refused ([`verify`]). So is a store whose queues are
//! from another moment ([`pair`]).

mod mark;
mod pair;
mod partner;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use mark::{Acknowledged, Identity, Mark, identity as file_identity, path_of as mark_path, read_commits};
pub(crate) use pair::Moment;
pub use verify::FileError;
pub(crate) use verify::{CHECKED_BYTES_MAX, Integrity, examine};

use crate::private;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection waits for another one that has locked the file.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// How a file is opened. The default is what an office uses.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Whether each commit is synced to the disk before it is acknowledged. Only measurements and tests switch this off:
    /// a power cut then loses acknowledged commits.
    pub synced: bool,
    /// Whether to open what can be read of a damaged file, after copying its files to a folder beside it.
    pub accept_damage: bool,
    /// The SQLite VFS to use; `None` for the operating system's. Tests that cut the power bring their own.
    pub vfs: Option<&'static str>,
}

impl Default for Opening {
    fn default() -> Self {
        Self { synced: true, accept_damage: false, vfs: None }
    }
}

/// Who may have the file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Several connections, also of other processes.
    Shared,
    /// One connection only.
    Alone,
}

/// Why a file could not be connected.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// The file is damaged, or the files beside it cannot be used.
    File(FileError),
    /// SQLite refused.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for ConnectError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<FileError> for ConnectError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// A connection that writes, with the mark of its file. In memory it has no mark.
pub(crate) struct DatabaseFile {
    /// The connection.
    pub(crate) db: Connection,
    pub(crate) mark: Option<Mark>,
    path: Option<PathBuf>,
}

impl DatabaseFile {
    /// Creates a database in memory.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        Ok(Self { db: Connection::open_in_memory()?, mark: None, path: None })
    }

    /// Verifies the file, and opens it or creates it. Changes nothing in a file that exists.
    pub(crate) fn connect(path: &Path, opening: &Opening, access: Access) -> Result<Self, ConnectError> {
        verify::verify(path, opening, access)?;
        // If this fails, SQLite says why below.
        let _ = private::create(path);
        let db = open(path, opening)?;
        if access == Access::Alone {
            db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        }
        db.pragma_update(None, "synchronous", if opening.synced { "FULL" } else { "NORMAL" })?;
        // On macOS only this reaches the disk; other systems ignore it.
        db.pragma_update(None, "fullfsync", opening.synced)?;
        Ok(Self { db, mark: None, path: Some(path.to_owned()) })
    }

    /// Begins to count commits. Call it once the file is known to be ours, and has its tables.
    pub(crate) fn begin(&mut self) -> Result<(), ConnectError> {
        let Some(path) = &self.path else { return Ok(()) };
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let commits = mark::prepare(&tx)?;
        Moment::prepare(&tx)?;
        partner::prepare(&tx)?;
        tx.commit()?;
        let unusable = |source| FileError::Unusable { path: path.clone(), source };
        self.mark = Some(Mark::start(path, commits).map_err(unusable)?);
        Ok(())
    }

    /// Copies the log into the file and empties it, unless a reader still needs it. Then writes the mark to the disk.
    pub(crate) fn checkpoint(&mut self) -> rusqlite::Result<()> {
        // Does not wait for readers: the next checkpoint copies what this one leaves.
        self.db.busy_timeout(Duration::ZERO)?;
        let copied = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.db.busy_timeout(BUSY)?;
        if let Some(mark) = &self.mark {
            mark.sync();
        }
        copied
    }

    /// Closes the connection. If it was the last one and the log is empty, the mark says that the file is complete.
    pub(crate) fn close(self) {
        let Self { db, mark, path } = self;
        drop(db);
        if let (Some(mark), Some(path)) = (mark, path)
            && length(&log_of(&path)) == 0
        {
            mark.close();
        }
    }
}

/// Commits a transaction; if it changed anything, counts it and moves the mark. `changes` is the connection's number of
/// changes before the transaction. Without a mark it only commits.
pub(crate) fn commit(tx: Transaction<'_>, mark: Option<&mut Mark>, changes: u64) -> rusqlite::Result<()> {
    let Some(mark) = mark.filter(|_| tx.total_changes() != changes) else { return tx.commit() };
    let commits = mark.count(&tx)?;
    tx.commit()?;
    mark.advance(commits);
    Ok(())
}

/// Like [`commit`], for a transaction that was begun with `BEGIN`. If the commit fails, rolls back.
pub(crate) fn commit_begun(db: &Connection, mark: Option<&mut Mark>, changes: u64) -> rusqlite::Result<()> {
    let commit = || {
        let counted = mark.filter(|_| db.total_changes() != changes);
        let commits = counted.as_ref().map_or(Ok(0), |mark| mark.count(db))?;
        db.execute_batch("COMMIT")?;
        if let Some(mark) = counted {
            mark.advance(commits);
        }
        Ok(())
    };
    commit().inspect_err(|_| {
        // Some failures, such as a full disk, have already rolled back; then this does nothing.
        let _ = db.execute_batch("ROLLBACK");
    })
}

/// Opens a connection through the VFS that `opening` names.
pub(crate) fn open(path: &Path, opening: &Opening) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::default();
    let db = match opening.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs)?,
        None => Connection::open_with_flags(path, flags)?,
    };
    db.busy_timeout(BUSY)?;
    Ok(db)
}

/// Opens a connection that leaves the log as it is when it closes, so that a refused file keeps its evidence.
fn open_to_look(path: &Path, opening: &Opening, access: Access) -> rusqlite::Result<Connection> {
    let db = open(path, opening)?;
    keep_log(&db, access)?;
    Ok(db)
}

fn keep_log(db: &Connection, access: Access) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if access == Access::Alone {
        db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    Ok(())
}

/// Returns the path of a file's write-ahead log.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Returns a file's length in bytes; 0 if it is missing.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
