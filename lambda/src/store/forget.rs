//! Forgetting what was delivered long ago.
//!
//! A letter that lies whole in its record says when it may go ([`key::EXPIRES`]), and DynamoDB removes it for nothing.
//! One with something beside it would leave that behind: so a note is written before it is delivered, with the moment
//! of its delivery and the places of what is its alone. Its record names that moment, too, and only while it is
//! delivered. Once it is time, the letter goes first, if its record still names the moment of the note; then what lay
//! beside it; then the note. A crash anywhere leaves the note, and who reads it goes on. A note whose letter was never
//! delivered so (the commit was refused), or is no longer, only goes itself.

use super::fault::Fault;
use super::item::{Item, get_number, get_text, number, text};
use super::key::{self, FORGETTABLE_SHARDS, Key};
use super::large::Place;
use super::list::merged;
use super::table::{Range, Table};
use domain::id::LetterId;
use domain::letter::Letter;
use domain::time::Timestamp;
use futures_util::stream::{self, StreamExt};

/// Letters that are forgotten at once.
const TOGETHER: usize = 16;

/// The attribute with the moment of delivery, of a note and of the record of its letter.
pub(super) const DELIVERED_AT: &str = "da";

/// The note about a letter that is about to be delivered.
pub(super) fn note(letter: &Letter, delivered_at: Timestamp, content: &Place, rest: &Place) -> Item {
    let mut note = key::forgettable(&letter.id).item();
    let at = delivered_at.as_ms();
    note.insert("id".into(), text(letter.id.as_str()));
    note.insert(DELIVERED_AT.into(), number(at));
    note.insert("lp".into(), text(key::forgettables(key::forgettable_shard(&letter.id))));
    note.insert("ls".into(), text(key::letter_place(at, letter.id.as_str())));
    content.note_name(&mut note, "ch");
    rest.note_name(&mut note, "rh");
    note
}

/// Forgets letters with something beside them that were delivered before a moment. Gives how many.
pub(super) async fn forget(table: &Table, delivered_before: Timestamp, limit: usize) -> Result<usize, Fault> {
    let lists = (0..FORGETTABLE_SHARDS).map(key::forgettables).collect();
    let range = Range { to: Some(key::ordered(delivered_before.as_ms())), ..Range::default() };
    let (places, _) = merged(table, lists, &range, limit).await?;
    let each = stream::iter(places).map(|place| async move { forget_one(table, &place, delivered_before).await });
    let gone: Vec<_> = each.buffer_unordered(TOGETHER).collect().await;
    // One that cannot go must not keep the others.
    gone.into_iter().try_fold(0, |sum, gone| Ok(sum + usize::from(gone?)))
}

async fn forget_one(table: &Table, place: &Item, delivered_before: Timestamp) -> Result<bool, Fault> {
    let noted = Key::of(place)?;
    // The list may lag: the note is what counts.
    let Some(note) = table.get(&noted).await? else { return Ok(false) };
    let at: i64 = get_number(&note, DELIVERED_AT).ok_or(Fault::Lacks(DELIVERED_AT))?;
    if at >= delivered_before.as_ms() {
        return Ok(false);
    }
    let letter = key::letter(&LetterId::from(get_text(&note, "id")?));
    let was_kept = table.get(&letter).await?.is_some();
    let is_gone = !was_kept || table.delete(&letter, Some((DELIVERED_AT, at))).await?;
    if is_gone {
        for place in [Place::of(&note, "", "ch"), Place::of(&note, "", "rh")].into_iter().flatten() {
            place.remove(table).await?;
        }
    }
    // A later delivery of this letter has written its own note over this one.
    table.delete(&noted, Some((DELIVERED_AT, at))).await?;
    Ok(was_kept && is_gone)
}
