//! Reads, each inside one snapshot of the database.

use super::fault::Fault;
use super::sql;
use domain::audit::AuditRecord;
use domain::group::{CountedCustomers, GroupCounts, Variant};
use domain::id::{GroupId, LetterId, ReplayId};
use domain::impact::NEVER;
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::{Block, Ledger, Replay};
use domain::time::Timestamp;
use office::port::{ChangePoint, Changed, Cursor, EntryKey, GroupFacts, ListPosition, Page, TransformFacts};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::de::DeserializeOwned;
use std::collections::HashSet;

/// Parses a record.
pub(super) fn decode<T: DeserializeOwned>(kind: &'static str, record: &str) -> Result<T, Fault> {
    serde_json::from_str(record).map_err(|source| Fault::Record { kind, source })
}

/// Returns the record that a statement selects, if any.
pub(super) fn one<T>(db: &Connection, kind: &'static str, text: &str, values: impl Params) -> Result<Option<T>, Fault>
where
    T: DeserializeOwned,
{
    let record: Option<String> = db.prepare_cached(text)?.query_row(values, |row| row.get(0)).optional()?;
    record.map(|record| decode(kind, &record)).transpose()
}

/// Returns the records that a statement selects.
pub(super) fn many<T>(db: &Connection, kind: &'static str, text: &str, values: impl Params) -> Result<Vec<T>, Fault>
where
    T: DeserializeOwned,
{
    let mut statement = db.prepare_cached(text)?;
    let mut rows = statement.query(values)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(decode(kind, row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
    }
    Ok(records)
}

/// The start and the size of a page of a list.
pub(super) struct Window {
    from: ListPosition,
    limit: usize,
}

impl Window {
    /// Starts at a cursor of this list; without a valid cursor, at `beginning`.
    pub(super) fn new(list: &str, after: Option<&Cursor>, beginning: ListPosition, limit: usize) -> Self {
        Self { from: ListPosition::parse(list, after).unwrap_or(beginning), limit: limit.clamp(1, PAGE_MAX) }
    }

    /// Returns one more than the page size, to learn whether another page follows.
    fn fetch(&self) -> i64 {
        self.limit as i64 + 1
    }

    fn page<T>(&self, list: &str, mut items: Vec<T>, position: impl Fn(&T) -> ListPosition) -> Page<T> {
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let next = items.last().filter(|_| more).map(|item| position(item).print(list));
        Page { items, next }
    }
}

/// Returns the checksum of a record, which the store keeps beside it. SQLite's own checks see whether a page has the right
/// structure, and not whether a body on it has changed.
pub(super) fn checksum(record: &str) -> i64 {
    i64::from(crc32fast::hash(record.as_bytes()))
}

/// Checks a record against its checksum. Records of older versions have none.
fn check(kind: &'static str, record: &str, stored: Option<i64>) -> Result<(), Fault> {
    match stored {
        Some(stored) if stored != checksum(record) => Err(Fault::Changed { kind }),
        _ => Ok(()),
    }
}

/// Returns a letter's record and its content from the first four columns of a statement; the others are their checksums.
fn checked<'a>(row: &'a Row<'_>) -> Result<(&'a str, &'a str), Fault> {
    let text = |at| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
    let (record, content) = (text(0)?, text(1)?);
    check("letter", record, row.get(2)?)?;
    check("content", content, row.get(3)?)?;
    Ok((record, content))
}

fn decode_letter(row: &Row<'_>) -> Result<Letter, Fault> {
    let (record, content) = checked(row)?;
    let mut letter: Letter = decode("letter", record)?;
    letter.content = decode("content", content)?;
    Ok(letter)
}

/// Reads every letter, and describes the first that is not as it was written.
pub(crate) fn first_changed(db: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let mut statement = db.prepare(sql::CHECKSUMS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(fault) = checked(row) {
            return Ok(Some(format!("{fault} (letter {})", row.get::<_, String>(4)?)));
        }
    }
    Ok(None)
}

fn select_letters(db: &Connection, text: &str, values: impl Params) -> Result<Vec<Letter>, Fault> {
    let mut statement = db.prepare_cached(text)?;
    let mut rows = statement.query(values)?;
    let mut letters = Vec::new();
    while let Some(row) = rows.next()? {
        letters.push(decode_letter(row)?);
    }
    Ok(letters)
}

pub(super) fn letter(db: &Connection, id: &LetterId) -> Result<Option<Letter>, Fault> {
    Ok(select_letters(db, sql::LETTER, [id.as_str()])?.pop())
}

pub(super) const LETTERS: &str = "letters";

pub(super) fn letters_of(
    db: &Connection,
    group: &GroupId,
    state: Option<LetterStateKind>,
    window: &Window,
) -> Result<Page<Letter>, Fault> {
    let (group, sent_at, id, fetch) = (group.as_str(), window.from.number, &window.from.id, window.fetch());
    let letters = match state {
        None => select_letters(db, sql::LETTERS_OF_GROUP, params![group, sent_at, id, fetch])?,
        Some(kind) => select_letters(db, sql::LETTERS_IN_STATE, params![group, sent_at, id, fetch, kind.as_str()])?,
    };
    Ok(window.page(LETTERS, letters, |letter| ListPosition {
        number: letter.sent_at.as_ms(),
        id: letter.id.as_str().into(),
    }))
}

/// Reads the counters of a variant, `None` before its first letter.
pub(super) fn counts(db: &Connection, group: &GroupId) -> Result<Option<GroupCounts>, Fault> {
    let mut statement = db.prepare_cached(sql::COUNTS)?;
    let mut rows = statement.query([group.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(decode("counter", checked_count(row)?)?))
}

/// Returns the record of counters from the first two columns of a statement; the other is its checksum.
fn checked_count<'a>(row: &'a Row<'_>) -> Result<&'a str, Fault> {
    let record = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    check("counter", record, row.get(1)?)?;
    Ok(record)
}

/// Reads the counters of all groups, and describes the first that are not as they were written.
pub(crate) fn first_changed_count(db: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let mut statement = db.prepare("SELECT record, checksum, group_id FROM group_count ORDER BY group_id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(fault) = checked_count(row) {
            return Ok(Some(format!("{fault} (group {})", row.get::<_, String>(2)?)));
        }
    }
    Ok(None)
}

/// Takes all counters as they are.
pub(super) fn believe_counts(db: &Connection) -> Result<(), rusqlite::Error> {
    db.execute("UPDATE group_count SET checksum = NULL", []).map(drop)
}

/// Reads the counters and dates of a variant.
pub(super) fn facts(db: &Connection, variant: Variant, arrivals_from: i64) -> Result<GroupFacts, Fault> {
    let id = variant.id.as_str();
    let counts = counts(db, &variant.id)?;
    let moment = |text| -> Result<Option<Timestamp>, Fault> {
        let ms: Option<i64> = db.prepare_cached(text)?.query_row([id], |row| row.get(0))?;
        Ok(ms.map(Timestamp::from_ms))
    };
    let mut statement = db.prepare_cached(sql::ARRIVALS)?;
    let arrivals = statement
        .query_map(params![id, arrivals_from], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(GroupFacts {
        counts: counts.unwrap_or_default(),
        oldest_sent_at: moment(sql::OLDEST_SENT_AT)?,
        loss_at: moment(sql::FIRST_LOSS_AT)?.filter(|at| *at < NEVER),
        arrivals,
        variant,
    })
}

pub(super) const GROUPS: &str = "groups";

pub(super) fn groups(db: &Connection, arrivals_from: i64, window: &Window) -> Result<Page<GroupFacts>, Fault> {
    let variants: Vec<Variant> = many(db, "group", sql::GROUPS, params![window.from.id, window.fetch()])?;
    let page = window.page(GROUPS, variants, |variant| ListPosition::id(variant.id.as_str()));
    let items = page.items.into_iter().map(|variant| facts(db, variant, arrivals_from)).collect::<Result<_, _>>()?;
    Ok(Page { items, next: page.next })
}

/// Counts the customers of groups.
pub(super) fn customers_of(db: &Connection, groups: &[GroupId]) -> Result<CountedCustomers, Fault> {
    let mut statement = db.prepare_cached(sql::CUSTOMERS)?;
    let (mut sum, mut different) = (0, HashSet::new());
    for group in groups {
        for customer in statement.query_map([group.as_str()], |row| row.get::<_, String>(0))? {
            sum += 1;
            different.insert(customer?);
        }
    }
    Ok(CountedCustomers { sum, different: different.len() as u64 })
}

/// Lists the groups that were changed since a point; none without a point.
pub(super) fn changed(db: &Connection, since: Option<ChangePoint>) -> Result<Changed, Fault> {
    let last: Option<i64> = db.prepare_cached(sql::LAST_CHANGE)?.query_row([], |row| row.get(0))?;
    let ids = |since: ChangePoint| {
        let mut statement = db.prepare_cached(sql::CHANGES)?;
        statement.query_map([since.0], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
    };
    let groups = since.map(ids).transpose()?.unwrap_or_default().into_iter().map(GroupId::new).collect();
    Ok(Changed { groups, next: ChangePoint(last.unwrap_or(0)) })
}

pub(super) const REPLAYS: &str = "replays";

pub(super) fn replays(db: &Connection, group: Option<&GroupId>, window: &Window) -> Result<Page<Replay>, Fault> {
    let (approved_at, id, fetch) = (window.from.number, &window.from.id, window.fetch());
    let replays = match group {
        None => many(db, "replay", sql::REPLAYS, params![approved_at, id, fetch])?,
        Some(group) => many(db, "replay", sql::REPLAYS_OF_GROUP, params![approved_at, id, fetch, group.as_str()])?,
    };
    Ok(window.page(REPLAYS, replays, |replay: &Replay| ListPosition {
        number: replay.approval().at.as_ms(),
        id: replay.id().as_str().into(),
    }))
}

pub(super) fn unfinished_replays(db: &Connection) -> Result<Vec<ReplayId>, Fault> {
    let mut statement = db.prepare_cached(sql::UNFINISHED_REPLAYS)?;
    let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(ids.map(|id| id.map(ReplayId::new)).collect::<Result<_, _>>()?)
}

pub(super) fn ledger(db: &Connection, replay: &ReplayId) -> Result<Ledger, Fault> {
    let stored: Option<String> =
        db.prepare_cached(sql::BOOK)?.query_row([replay.as_str()], |row| row.get(1)).optional()?;
    stored.map(|ledger| decode("ledger", &ledger)).transpose().map(Option::unwrap_or_default)
}

/// Returns the blocks of a replay that a statement selects.
pub(super) fn blocks(db: &Connection, replay: &ReplayId, text: &str, values: impl Params) -> Result<Vec<Block>, Fault> {
    let mut statement = db.prepare_cached(text)?;
    let mut rows = statement.query(values)?;
    let mut blocks = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, version): (i64, i64) = (row.get(0)?, row.get(1)?);
        let entries = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let block = Block::from_bytes(replay.clone(), number.cast_unsigned(), version.cast_unsigned(), entries);
        blocks.push(block.map_err(|source| Fault::Block { number, source })?);
    }
    Ok(blocks)
}

pub(super) fn sent(db: &Connection, message: &str) -> Result<Option<EntryKey>, Fault> {
    let key = |row: &Row<'_>| {
        let (replay, seq, letter): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(EntryKey { replay: ReplayId::new(replay), seq: seq.cast_unsigned(), letter: LetterId::new(letter) })
    };
    Ok(db.prepare_cached(sql::SENT)?.query_row([message], key).optional()?)
}

pub(super) fn transforms(db: &Connection, text: &str, values: impl Params) -> Result<Vec<TransformFacts>, Fault> {
    let mut statement = db.prepare_cached(text)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (transform, run): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let transform = decode("transform", &transform)?;
        found.push(TransformFacts { transform, dry_run: run.map(|run| decode("dry run", &run)).transpose()? });
    }
    Ok(found)
}

pub(super) const AUDIT: &str = "audit";

pub(super) fn audit(db: &Connection, group: &GroupId, window: &Window) -> Result<Page<AuditRecord>, Fault> {
    // A record's position is its time, then its key, in hexadecimal digits as in every store.
    let key = i64::from_str_radix(&window.from.id, 16).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(sql::AUDIT)?;
    let mut rows = statement.query(params![group.as_str(), window.from.number, key, window.fetch()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let record: AuditRecord = decode("audit record", row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
        found.push((record, row.get::<_, i64>(2)?));
    }
    let page =
        window.page(AUDIT, found, |(record, key)| ListPosition { number: record.at.as_ms(), id: format!("{key:x}") });
    Ok(Page { items: page.items.into_iter().map(|(record, _)| record).collect(), next: page.next })
}
