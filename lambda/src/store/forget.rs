//! Deletes letters that were closed long ago: delivered, or discarded.
//!
//! A letter that is stored whole in its record has an expiry ([`key::EXPIRES`]), and DynamoDB deletes it for free. For
//! a letter with blobs, expiry would leave the blobs behind. The store deletes such a letter in four steps:
//!
//! 1. Before the letter is marked as closed, the store writes a reminder: the time of closing, and the locations of the
//!    letter's blobs. While the letter is closed, its record has the same time.
//! 2. When the retention has passed, the store deletes the record, if it still has the reminder's time.
//! 3. It deletes the blobs.
//! 4. It deletes the reminder.
//!
//! After a crash between these steps, the reminder is still there, and the next run continues. If the letter was not
//! closed at that time (the commit was refused) or is open again, only the reminder is deleted. Delivered and discarded
//! letters are kept for different times, so their reminders are in different lists.

use super::fault::Fault;
use super::item::{Item, get_number, get_text, number, text};
use super::key::{self, Key, REMINDER_SHARDS};
use super::large::Location;
use super::list::merged;
use super::table::{Range, Table};
use domain::discard::Closed;
use domain::id::LetterId;
use domain::letter::Letter;
use domain::time::Timestamp;
use futures_util::stream::{self, StreamExt};

/// Letters that are deleted concurrently.
const CONCURRENCY: usize = 16;

/// The attribute with the time of closing, in reminders and in the records of their letters.
pub(super) const CLOSED_AT: &str = "da";

/// Returns the reminder for a letter that is about to be marked as closed. `metadata` is all of the letter but its
/// content.
pub(super) fn reminder(
    letter: &Letter,
    (closed, at): (Closed, Timestamp),
    content: &Location,
    metadata: &Location,
) -> Item {
    let mut reminder = key::reminder(&letter.id).item();
    let at = at.as_ms();
    reminder.insert("id".into(), text(letter.id.as_str()));
    reminder.insert(CLOSED_AT.into(), number(at));
    reminder.insert("lp".into(), text(key::reminders(closed, key::reminder_shard(&letter.id))));
    reminder.insert("ls".into(), text(key::letter_position(at, letter.id.as_str())));
    content.write_outside_to(&mut reminder, "ch");
    metadata.write_outside_to(&mut reminder, "rh");
    reminder
}

/// Deletes letters with blobs that were closed in this way before the given time. Returns their number.
pub(super) async fn forget(table: &Table, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, Fault> {
    let lists = (0..REMINDER_SHARDS).map(|shard| key::reminders(closed, shard)).collect();
    let range = Range { to: Some(key::ordered(before.as_ms())), ..Range::default() };
    let (listed, _) = merged(table, lists, &range, limit).await?;
    let each = stream::iter(listed).map(|item| async move { forget_one(table, &item, before).await });
    // All deletions are attempted before the first error is returned.
    let deleted: Vec<_> = each.buffer_unordered(CONCURRENCY).collect().await;
    deleted.into_iter().try_fold(0, |sum, deleted| Ok(sum + usize::from(deleted?)))
}

async fn forget_one(table: &Table, listed: &Item, before: Timestamp) -> Result<bool, Fault> {
    let reminder_key = Key::from_item(listed)?;
    // The index may lag, so read the reminder itself.
    let Some(reminder) = table.get(&reminder_key).await? else { return Ok(false) };
    let at: i64 = get_number(&reminder, CLOSED_AT).ok_or(Fault::MissingAttribute(CLOSED_AT))?;
    if at >= before.as_ms() {
        return Ok(false);
    }
    let letter = key::letter(&LetterId::from(get_text(&reminder, "id")?));
    let existed = table.get(&letter).await?.is_some();
    let is_deleted = !existed || table.delete(&letter, Some((CLOSED_AT, at))).await?;
    if is_deleted {
        let blobs = ["ch", "rh"].map(|name| Location::from_item(&reminder, "", name));
        for blob in blobs.into_iter().flatten() {
            blob.delete(table).await?;
        }
    }
    // Only this reminder: the letter may have been closed again later, which replaces it.
    table.delete(&reminder_key, Some((CLOSED_AT, at))).await?;
    Ok(existed && is_deleted)
}
