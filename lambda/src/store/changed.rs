//! Which groups commits have changed: one note for each group, process and minute.
//!
//! A process puts the note before its first commit of a minute that touches the group, and remembers it for the rest of
//! the minute. So a busy group costs one write unit a minute and process, however many letters come. A note may stand for
//! a commit that never happened; no commit takes effect without its note.
//!
//! A commit takes effect within seconds of its attempt's note, and clocks differ by a minute at most
//! ([`CLOCK_SKEW_MAX`](domain::limits::CLOCK_SKEW_MAX)). So a reader that has seen all changes up to a minute reads the
//! notes of two more minutes before it again.

use super::fault::Fault;
use super::item::{get_text, number, text};
use super::key::{self, EXPIRES};
use super::table::{Range, Table};
use domain::id::GroupId;
use domain::limits::CLOCK_SKEW_MAX;
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use office::port::{ChangePoint, Changed, Write};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The longest time between the beginning of a commit's attempt and its effect: four tries of a call of 3 s each, and
/// their waits, several times over.
const EFFECT_MAX: Span = Span::from_secs(60);
/// How many minutes before its own a reader reads notes again.
const AGAIN_MINUTES: i64 = (EFFECT_MAX.as_ms() + CLOCK_SKEW_MAX.as_ms()) / MINUTE_MS;
/// A reader that comes later reads everything.
const READ_MINUTES_MAX: i64 = 180;
/// How long notes are kept: longer than any reader asks for.
const KEPT: Span = Span::from_days(1);
const MINUTE_MS: i64 = 60_000;

const _: () = assert!(READ_MINUTES_MAX * MINUTE_MS < KEPT.as_ms());

/// The notes that this process has put in the current minute.
#[derive(Debug, Default)]
pub(super) struct Notes(Mutex<(i64, HashSet<GroupId>)>);

impl Notes {
    /// Puts the notes of a commit that begins now, unless they are there.
    pub(super) async fn put(&self, table: &Table, writes: &[Write]) -> Result<(), Fault> {
        let now = table.now();
        let minute = minute_of(now);
        let groups: HashSet<&GroupId> = writes.iter().filter_map(touched).collect();
        let missing: Vec<&GroupId> = {
            let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.0 != minute {
                *noted = (minute, HashSet::new());
            }
            groups.into_iter().filter(|group| !noted.1.contains(*group)).collect()
        };
        let note = |group: &&GroupId| {
            let mut item = key::change(minute, group).item();
            item.insert("id".into(), text(group.as_str()));
            item.insert(EXPIRES.into(), number(key::expiry(now.plus(KEPT))));
            table.put(item)
        };
        try_join_all(missing.iter().map(note)).await?;
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.0 == minute {
            noted.1.extend(missing.into_iter().cloned());
        }
        Ok(())
    }
}

/// Returns the group whose record or counters a write changes.
fn touched(write: &Write) -> Option<&GroupId> {
    match write {
        Write::Variant { variant, .. } => Some(&variant.id),
        Write::Counts { group, .. } => Some(group),
        _ => None,
    }
}

fn minute_of(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(MINUTE_MS)
}

/// Lists the groups with notes since a point: the number of a minute.
pub(super) async fn since(table: &Table, since: Option<ChangePoint>) -> Result<Option<Changed>, Fault> {
    let minute = minute_of(table.now());
    let mut changed = Changed { groups: [].into(), next: ChangePoint(minute - AGAIN_MINUTES) };
    let Some(ChangePoint(from)) = since else { return Ok(Some(changed)) };
    // A point in the future was given by a clock that has gone back since.
    if !(from..=from.saturating_add(READ_MINUTES_MAX)).contains(&minute) {
        return Ok(None);
    }
    // Other processes' clocks may be ahead.
    let to = minute + CLOCK_SKEW_MAX.as_ms() / MINUTE_MS;
    for hour in key::hour_of_minute(from)..=key::hour_of_minute(to) {
        let range = Range { from: Some(key::ordered(from)), ..Range::default() };
        for item in table.list(&key::changes(hour), &range, None).await? {
            changed.groups.insert(GroupId::from(get_text(&item, "id")?));
        }
    }
    Ok(Some(changed))
}
