//! A clock that was set back while no process had the file open.

use domain::limits::CLOCK_SKEW_MAX;
use domain::time::Timestamp;
use rusqlite::Connection;

/// Makes messages visible that a later clock sent or handed out: their delays and visibility timeouts would end long
/// after they should, and the consumers that held them are gone.
pub(super) fn follow(db: &Connection, now: Timestamp) -> rusqlite::Result<usize> {
    let latest = now.plus(CLOCK_SKEW_MAX);
    db.execute(
        "UPDATE message SET visible_at = ?1 WHERE visible_at > ?2 AND max(sent_at, coalesce(received_at, sent_at)) > ?2",
        [now.as_ms(), latest.as_ms()],
    )
}
