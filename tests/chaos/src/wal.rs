//! What a power cut may leave of a write-ahead log of SQLite, and what a damaged disk may.
//!
//! A log is a header of 32 bytes and frames: 24 bytes about the page, and the page. A frame that ends a transaction
//! holds the size of the database in pages; all others hold zero there.

use anyhow::Result;
use harness::samples::Chance;
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Cuts the log at a random place behind its last whole transaction, and lets some bytes of garbage follow. Nothing that
/// was acknowledged lies there, so nothing may be missing afterwards.
pub fn tear(path: &Path, chance: &mut Chance) -> Result<()> {
    let Ok(mut log) = std::fs::read(path) else { return Ok(()) };
    let Some(page) = page_bytes(&log) else { return Ok(()) };
    let whole = committed(&log, page);
    log.truncate(whole + chance.below(log.len() - whole + 1));
    log.extend((0..chance.below(2 * page)).map(|_| chance.number() as u8));
    Ok(std::fs::write(path, log)?)
}

/// Flips bits inside whole transactions. Returns whether the log had any.
pub fn damage(path: &Path, chance: &mut Chance) -> Result<bool> {
    let Ok(mut log) = std::fs::read(path) else { return Ok(false) };
    let Some(page) = page_bytes(&log) else { return Ok(false) };
    let whole = committed(&log, page);
    if whole <= HEADER {
        return Ok(false);
    }
    for _ in 0..40 {
        log[HEADER + chance.below(whole - HEADER)] ^= 1 << chance.below(8);
    }
    std::fs::write(path, log)?;
    Ok(true)
}

/// The size of a page, bytes; `None` for a log without a frame.
fn page_bytes(log: &[u8]) -> Option<usize> {
    let page = word(log, 8)? as usize;
    (page >= 512 && log.len() > HEADER).then_some(page)
}

/// The length of the log up to the end of its last whole transaction, bytes.
fn committed(log: &[u8], page: usize) -> usize {
    let salts = log.get(16..24);
    let mut whole = HEADER;
    let frames = log[HEADER..].chunks_exact(FRAME_HEADER + page);
    for (number, frame) in frames.enumerate() {
        // Frames of an earlier use of the log have other salts.
        if frame.get(8..16) != salts {
            break;
        }
        if word(frame, 4).is_some_and(|size| size > 0) {
            whole = HEADER + (number + 1) * (FRAME_HEADER + page);
        }
    }
    whole
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A folder with a log of so many transactions, as a killed process leaves it.
    fn log(transactions: i64) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let live = folder.path().join("live.db");
        let db = Connection::open(&live).expect("a database");
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER)")
            .expect("t");
        for n in 1..transactions {
            db.execute("INSERT INTO t VALUES (?1)", [n]).expect("a row");
        }
        for suffix in ["", "-wal"] {
            std::fs::copy(format!("{}{suffix}", live.display()), folder.path().join(format!("cut.db{suffix}")))
                .expect("a copy");
        }
        folder
    }

    fn rows(folder: &Path) -> i64 {
        let db = Connection::open(folder.join("cut.db")).expect("a database");
        db.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap_or(-1)
    }

    #[test]
    fn a_torn_log_keeps_every_whole_transaction() {
        for seed in 0..20 {
            let folder = log(30);
            tear(&folder.path().join("cut.db-wal"), &mut Chance(seed)).expect("torn");
            assert_eq!(rows(folder.path()), 29, "seed {seed}");
        }
    }

    #[test]
    fn a_damaged_log_loses_transactions() {
        let folder = log(30);
        assert!(damage(&folder.path().join("cut.db-wal"), &mut Chance(1)).expect("damaged"));
        assert!(rows(folder.path()) < 29);
        assert!(!damage(&folder.path().join("none.db-wal"), &mut Chance(1)).expect("no log"));
    }
}
