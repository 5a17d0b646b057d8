//! What each commit of a database says of the others: how many commits of its partner it saw, and which moment it belongs
//! to. What follows from the partner's commits is in [`super::pair`].
//!
//! The number of a moment is written just before a checkpoint, which copies it into the file; the commits after it repeat
//! it in the log. So a file from before a checkpoint does not fit a log from after it.

use rusqlite::{Connection, OptionalExtension};

/// The table of the partner's acknowledged commits, and of the moment at the last commit. `own` is the number of that commit.
/// It changes with each, because SQLite does not write a row into the log that stays as it is; and it tells which commit
/// wrote the row, because a version that does not know the table leaves it behind.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS partner (commits INTEGER NOT NULL, moment INTEGER, own INTEGER) STRICT;
    INSERT INTO partner SELECT 0, NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM partner)";
const EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'partner'";

/// Creates the table of the partner's commits.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(TABLE)
}

/// Notes in commit number `own` how many commits of the partner were acknowledged before it, if there is a partner, and the
/// moment.
pub(super) fn note(db: &Connection, own: u64, partner: Option<u64>) -> rusqlite::Result<()> {
    let text = "UPDATE partner SET own = ?1, commits = coalesce(?2, commits), moment = (SELECT number FROM moment)";
    db.prepare_cached(text)?.execute((own.cast_signed(), partner.map(u64::cast_signed))).map(drop)
}

/// Whether a file and its log are from different moments.
pub(super) fn is_torn(db: &Connection) -> rusqlite::Result<bool> {
    if !db.prepare(EXISTS)?.exists([])? {
        return Ok(false);
    }
    let text = "SELECT 1 FROM partner WHERE own = (SELECT count FROM commits)
        AND moment IS NOT NULL AND moment IS NOT (SELECT number FROM moment)";
    db.prepare(text)?.exists([])
}

/// Returns how many commits of the partner a database saw; 0 if an older version wrote it.
pub(super) fn read(db: &Connection) -> rusqlite::Result<u64> {
    if !db.prepare(EXISTS)?.exists([])? {
        return Ok(0);
    }
    let commits = db.query_row("SELECT commits FROM partner", [], |row| row.get::<_, i64>(0)).optional()?;
    Ok(commits.map_or(0, i64::cast_unsigned))
}
