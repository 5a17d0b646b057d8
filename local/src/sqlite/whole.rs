//! Whether a database holds exactly what its last commit left.
//!
//! A file and its log that were copied while the office ran can be from different moments, or have pages of different
//! moments. Each page looks whole, and letters are missing. So each commit stores a sum over all rows, which triggers
//! keep up to date. The same record holds how many commits of the partner ([`super::pair`]) were acknowledged by then.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use std::fmt::Write;

/// The table of the sum. Not among the migrations, because both files have it. `commits` is the commit after which the sum
/// was stored: versions that do not know the sum leave it behind.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS whole (commits INTEGER NOT NULL, sum INTEGER NOT NULL, partner INTEGER NOT NULL) STRICT";
/// The tables with rows to add up: all except those that describe the file itself.
const COUNTED: &str = "SELECT name FROM main.sqlite_schema WHERE type = 'table'
    AND name NOT IN ('commits', 'moment', 'whole') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";

/// What a file says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    /// The commit after which this was stored.
    pub(super) commits: u64,
    /// The sum over all rows.
    pub(super) sum: i64,
    /// The acknowledged commits of the partner. It has at least as many.
    pub(super) partner: u64,
}

/// Reads what a file says about itself; `None` if an older version wrote it.
pub(super) fn read(db: &Connection) -> rusqlite::Result<Option<Whole>> {
    if !exists(db)? {
        return Ok(None);
    }
    let read = |row: &rusqlite::Row<'_>| {
        let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
        Ok(Whole { commits: number(0)?, sum: row.get(1)?, partner: number(2)? })
    };
    db.query_row("SELECT commits, sum, partner FROM whole", [], read).optional()
}

/// Whether the rows of a file are not those that its last commit left. `commits` is the file's number of commits.
pub(crate) fn is_torn(db: &Connection, commits: u64) -> rusqlite::Result<bool> {
    match read(db)? {
        Some(whole) if whole.commits == commits => Ok(whole.sum != sum(db)?),
        _ => Ok(false),
    }
}

/// Forgets the sum, which [`begin`] then computes anew. For changes before it.
pub(crate) fn forget_sum(db: &Connection) -> rusqlite::Result<()> {
    if exists(db)? { db.execute("DELETE FROM whole", []).map(drop) } else { Ok(()) }
}

fn exists(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'whole'")?.exists([])
}

/// Creates the table, and computes the sum of a file that has none. Reads all rows then.
pub(super) fn prepare(db: &Connection, commits: u64) -> rusqlite::Result<()> {
    db.execute_batch(TABLE)?;
    if read(db)?.is_some_and(|whole| whole.commits == commits) {
        return Ok(());
    }
    let sum = sum(db)?;
    db.execute("DELETE FROM whole", [])?;
    db.execute("INSERT INTO whole VALUES (?1, ?2, 0)", [commits.cast_signed(), sum]).map(drop)
}

/// Keeps the sum up to date with every change on this connection. The triggers belong to the connection and not to the
/// file, which other versions and programs can therefore change.
pub(super) fn keep(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("dlo_row", -1, flags, |row: &Context<'_>| {
        Ok(hash((0..row.len()).map(|at| row.get_raw(at))))
    })?;
    // SQLite's own sum becomes a fraction when it overflows.
    let moved = |row: &Context<'_>| Ok(row.get::<i64>(0)?.wrapping_sub(row.get(1)?).wrapping_add(row.get(2)?));
    db.create_scalar_function("dlo_moved", 3, flags, moved)?;
    // Otherwise a row that is replaced would not count as deleted.
    db.pragma_update(None, "recursive_triggers", true)?;
    for table in tables(db)? {
        let columns = columns(db, &table)?;
        let row = |of: &str| {
            let values: String = columns.iter().fold(String::new(), |mut text, column| {
                let _ = write!(text, ", {of}.\"{column}\"");
                text
            });
            format!("dlo_row('{table}'{values})")
        };
        let (old, new) = (row("OLD"), row("NEW"));
        for (event, old, new) in [("INSERT", "0", &*new), ("UPDATE", &old, &new), ("DELETE", &old, "0")] {
            db.execute_batch(&format!(
                "CREATE TEMP TRIGGER \"whole_{table}_{event}\" AFTER {event} ON main.\"{table}\" BEGIN
                    UPDATE whole SET sum = dlo_moved(sum, {old}, {new}); END"
            ))?;
        }
    }
    Ok(())
}

/// Notes that the sum is that of this commit. `partner` is the number of the partner's acknowledged commits, if there is
/// one.
pub(super) fn count(db: &Connection, commits: u64, partner: Option<u64>) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached("UPDATE whole SET commits = ?1, partner = coalesce(?2, partner)")?;
    statement.execute((commits.cast_signed(), partner.map(u64::cast_signed))).map(drop)
}

/// Adds up all rows.
fn sum(db: &Connection) -> rusqlite::Result<i64> {
    let mut sum = 0_i64;
    for table in tables(db)? {
        let columns = columns(db, &table)?;
        let list: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let mut statement = db.prepare(&format!("SELECT {} FROM main.\"{table}\"", list.join(", ")))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut values = vec![ValueRef::Text(table.as_bytes())];
            for at in 0..columns.len() {
                values.push(row.get_ref(at)?);
            }
            sum = sum.wrapping_add(hash(values.into_iter()));
        }
    }
    Ok(sum)
}

fn tables(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare(COUNTED)?.query_map([], |row| row.get(0))?.collect()
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?.query_map([table], |row| row.get(0))?.collect()
}

/// Returns the number of a row: its checksum, spread over 64 bits so that the numbers of several rows do not cancel out.
fn hash<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    let mut checksum = crc32fast::Hasher::new();
    let mut length = 0_u64;
    for value in values {
        let number: [u8; 8];
        let (kind, bytes) = match value {
            ValueRef::Null => (0_u8, &[][..]),
            ValueRef::Integer(value) => {
                number = value.to_le_bytes();
                (1, &number[..])
            }
            ValueRef::Real(value) => {
                number = value.to_le_bytes();
                (2, &number[..])
            }
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(bytes) => (4, bytes),
        };
        checksum.update(&[kind]);
        checksum.update(&(bytes.len() as u64).to_le_bytes());
        checksum.update(bytes);
        length = length.wrapping_add(bytes.len() as u64);
    }
    // The finalizer of SplitMix64.
    let mut mixed = (u64::from(checksum.finalize()) ^ (length << 32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)).cast_signed()
}
