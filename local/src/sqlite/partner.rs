//! How many commits of its partner a database saw: the store of its queues, and the queues of their store. What follows
//! from it is in [`super::pair`].

use rusqlite::{Connection, OptionalExtension};

/// The table of the partner's acknowledged commits.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS partner (commits INTEGER NOT NULL) STRICT;
    INSERT INTO partner SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM partner)";

/// Creates the table of the partner's commits.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(TABLE)
}

/// Notes how many commits of the partner were acknowledged before this one.
pub(super) fn saw(db: &Connection, partner: u64) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE partner SET commits = ?1")?.execute([partner.cast_signed()]).map(drop)
}

/// Returns how many commits of the partner a database saw; 0 if an older version wrote it.
pub(super) fn read(db: &Connection) -> rusqlite::Result<u64> {
    if !db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'partner'")?.exists([])? {
        return Ok(0);
    }
    let commits = db.query_row("SELECT commits FROM partner", [], |row| row.get::<_, i64>(0)).optional()?;
    Ok(commits.map_or(0, i64::cast_unsigned))
}
