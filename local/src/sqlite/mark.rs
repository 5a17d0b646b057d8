//! The mark of a database file: how many commits were acknowledged.
//!
//! The mark is a small file beside the database (`office.mark` beside `office.db`). It is written after each commit, which
//! is on the disk by then, and synced at checkpoints only. So after a power cut the mark may lag, but it never names
//! commits that the database cannot have.

use super::partner;
use crate::private;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

/// The length of a mark in bytes. It is overwritten in place, and shorter than a sector, so it is never half written.
const LENGTH: usize = 256;

/// The table that counts commits. Not among the migrations, because all files of an office have it.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS commits (count INTEGER NOT NULL) STRICT;
INSERT INTO commits SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM commits);
";

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The number of acknowledged commits.
    pub(crate) commits: u64,
    /// Whether the database was open: its log may hold commits that the file does not.
    pub(crate) open: bool,
    /// Which file it was.
    pub(crate) identity: Identity,
}

/// What tells a file from its copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// When the file was created, in nanoseconds since 1970; `None` if the file system does not say.
    created_ns: Option<u64>,
    /// The number of the file in its file system; `None` if there is none.
    inode: Option<u64>,
}

impl Identity {
    /// Returns whether both may be the same file. The inode decides only where the time of creation is unknown, because
    /// some file systems number their files anew when they are mounted.
    pub(crate) fn may_be(self, other: Self) -> bool {
        match (self.created_ns.zip(other.created_ns), self.inode.zip(other.inode)) {
            (Some((one, two)), _) | (None, Some((one, two))) => one == two,
            (None, None) => true,
        }
    }
}

/// Returns the identity of a file.
pub(crate) fn identity(path: &Path) -> Identity {
    let Ok(metadata) = fs::metadata(path) else { return Identity::default() };
    let created = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    #[cfg(unix)]
    let inode = Some(std::os::unix::fs::MetadataExt::ino(&metadata));
    #[cfg(not(unix))]
    let inode = None;
    Identity { created_ns: created.and_then(|since| u64::try_from(since.as_nanos()).ok()), inode }
}

/// Returns the path of a database's mark.
pub(crate) fn path_of(database: &Path) -> PathBuf {
    database.with_extension("mark")
}

/// Reads the mark of a database; `None` if it is missing or unreadable.
pub(super) fn read(database: &Path) -> Option<Record> {
    serde_json::from_slice(fs::read(path_of(database)).ok()?.trim_ascii()).ok()
}

/// Creates the table, and returns the number of commits.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<u64> {
    db.execute_batch(TABLE)?;
    Ok(read_commits(db)?.unwrap_or_default())
}

/// Returns the number of commits in a database; `None` if an older version wrote it.
pub(crate) fn read_commits(db: &Connection) -> rusqlite::Result<Option<u64>> {
    let counts = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'commits'")?.exists([])?;
    if !counts {
        return Ok(None);
    }
    db.query_row("SELECT count FROM commits", [], number).optional()
}

fn number(row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(0)?.cast_unsigned())
}

/// The acknowledged commits of an open database, and those of its partner once the two are [paired](Acknowledged::pair).
#[derive(Clone, Default)]
pub(crate) struct Acknowledged {
    commits: Arc<AtomicU64>,
    partner: Arc<OnceLock<Arc<AtomicU64>>>,
}

impl Acknowledged {
    /// From now on, each commit of either database stores how many commits of the other one were acknowledged before it.
    pub(crate) fn pair(&self, other: &Self) {
        // Fails only if they are paired already.
        let _ = self.partner.set(other.commits.clone());
        let _ = other.partner.set(self.commits.clone());
    }

    fn of_partner(&self) -> Option<u64> {
        self.partner.get().map(|commits| commits.load(Ordering::SeqCst))
    }
}

/// The mark of an open database.
pub(crate) struct Mark {
    file: File,
    record: Record,
    acknowledged: Acknowledged,
}

impl Mark {
    /// Writes the mark of a database that was opened, and syncs it.
    pub(super) fn start(database: &Path, commits: u64) -> io::Result<Self> {
        Self::write_new(database, commits, true)
    }

    /// Writes the mark of a database that is complete, and syncs it.
    pub(crate) fn write_closed(database: &Path, commits: u64) -> io::Result<()> {
        Self::write_new(database, commits, false).map(drop)
    }

    fn write_new(database: &Path, commits: u64, open: bool) -> io::Result<Self> {
        let path = path_of(database);
        let record = Record { commits, open, identity: identity(database) };
        let acknowledged = Acknowledged { commits: Arc::new(AtomicU64::new(commits)), ..Acknowledged::default() };
        let mut mark = Self { file: private::create(&path)?, record, acknowledged };
        mark.write()?;
        mark.file.sync_all()?;
        private::sync_folder_of(&path)?;
        Ok(mark)
    }

    /// Returns the acknowledged commits, as they go on.
    pub(crate) fn acknowledged(&self) -> Acknowledged {
        self.acknowledged.clone()
    }

    /// Counts one more commit. Returns the number that is stored once the transaction is committed.
    pub(super) fn count(&self, db: &Connection) -> rusqlite::Result<u64> {
        let mut statement = db.prepare_cached("UPDATE commits SET count = count + 1 RETURNING count")?;
        let commits = statement.query_row([], number)?;
        partner::note(db, commits, self.acknowledged.of_partner())?;
        Ok(commits)
    }

    /// Moves the mark after a commit. If that fails, the mark lags, which is harmless: it notices less.
    pub(super) fn advance(&mut self, commits: u64) {
        self.acknowledged.commits.store(commits, Ordering::SeqCst);
        self.record.commits = commits;
        let _ = self.write();
    }

    /// Writes the mark to the disk. If that fails, it may lag after a power cut.
    pub(super) fn sync(&self) {
        let _ = self.file.sync_data();
    }

    /// Says that the database is complete without its log.
    pub(super) fn close(mut self) {
        self.record.open = false;
        if self.write().is_ok() {
            self.sync();
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut text = serde_json::to_vec(&self.record)?;
        text.resize(LENGTH - 1, b' ');
        text.push(b'\n');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}
