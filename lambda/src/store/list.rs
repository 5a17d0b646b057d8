//! Lists: merged from the shards that they are spread over, page by page.
//!
//! The index follows the records by moments, so a list only says which records to look at; what they are is read from
//! the records themselves, and those that have left the list meanwhile are dropped.

use super::fault::Fault;
use super::item::{Item, get_text};
use super::key::{self, ENTRY_SHARDS, Key};
use super::read::{self, record};
use super::table::{Range, Table};
use domain::audit::AuditRecord;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::{Entry, OutcomeKind, Replay};
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use office::port::{Cursor, GroupFacts, ListPosition, Page};

/// The longest id that a cursor may hold: no key of ours has a longer one, and DynamoDB refuses keys over 1 KB.
const CURSOR_ID_MAX: usize = 256;
/// Groups whose facts are read at once.
const FACTS_TOGETHER: usize = 32;

fn place(list: &str, after: Option<&Cursor>) -> Option<ListPosition> {
    ListPosition::parse(list, after).filter(|place| place.id.len() <= CURSOR_ID_MAX)
}

fn page_limit(limit: usize) -> usize {
    limit.clamp(1, PAGE_MAX)
}

/// The first places after some range, over several lists of the index that are each in order.
pub(super) async fn merged(
    table: &Table,
    lists: Vec<String>,
    range: &Range,
    limit: usize,
) -> Result<(Vec<Item>, bool), Fault> {
    let found = try_join_all(lists.iter().map(|list| table.indexed(list, range, Some(limit + 1)))).await?;
    let mut places: Vec<(String, Item)> = Vec::new();
    for item in found.into_iter().flatten() {
        places.push((get_text(&item, "ls")?.to_owned(), item));
    }
    places.sort_by(|a, b| a.0.cmp(&b.0));
    // A record on its way from one list to another may be seen in both for a moment.
    places.dedup_by(|a, b| a.0 == b.0);
    let more = places.len() > limit;
    places.truncate(limit);
    Ok((places.into_iter().map(|(_, item)| item).collect(), more))
}

/// The cursor after the last of some places, where more follow.
fn next(list: &str, last: Option<&Item>, more: bool, number: impl Fn(&str) -> Option<ListPosition>) -> Option<Cursor> {
    let last = last.filter(|_| more)?;
    number(get_text(last, "ls").ok()?).map(|place| place.print(list))
}

pub(super) async fn letters(
    table: &Table,
    group: &GroupId,
    state: Option<LetterStateKind>,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<Letter>, Fault> {
    const LIST: &str = "letters";
    let shards = read::shards(table, group).await?;
    let states: Vec<_> = state.map_or(LetterStateKind::ALL.to_vec(), |state| vec![state]);
    let lists = states.iter().flat_map(|state| shards.iter().map(|shard| key::letters_of(group, *shard, *state)));
    let after = place(LIST, after).map(|place| key::letter_place(place.number, &place.id));
    let range = Range { after, ..Range::default() };
    let (places, more) = merged(table, lists.collect(), &range, page_limit(limit)).await?;
    let next = next(LIST, places.last(), more, |ls| {
        let (sent_at, id) = ls.split_once('#')?;
        Some(ListPosition { number: key::number(sent_at)?, id: id.into() })
    });
    let keys = places.iter().map(Key::of).collect::<Result<Vec<_>, _>>()?;
    let found = read::many(table, keys.clone()).await?;
    let mut items = read::letters_of(table, keys.iter().filter_map(|key| found.get(key)).collect()).await?;
    items.retain(|letter| letter.group == *group && state.is_none_or(|state| letter.state.kind() == state));
    Ok(Page { items, next })
}

/// The deaths of a letter, first one first.
pub(super) async fn deaths(table: &Table, letter: &LetterId, max: usize) -> Result<Vec<Death>, Fault> {
    let places = table.indexed(&key::deaths_of(letter), &Range::default(), Some(max)).await?;
    in_order(table, "death", places.iter().map(Key::of).collect::<Result<_, _>>()?).await
}

async fn in_order<T: serde::de::DeserializeOwned>(
    table: &Table,
    kind: &'static str,
    keys: Vec<Key>,
) -> Result<Vec<T>, Fault> {
    let found = read::many(table, keys.clone()).await?;
    keys.iter().filter_map(|key| found.get(key)).map(|item| record(kind, item)).collect()
}

pub(super) async fn groups(
    table: &Table,
    arrivals_from: i64,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<GroupFacts>, Fault> {
    const LIST: &str = "groups";
    let limit = page_limit(limit);
    let after = place(LIST, after).map(|place| place.id).filter(|id| !id.is_empty());
    let mut places = table.list(key::GROUPS, &Range { after, ..Range::default() }, Some(limit + 1)).await?;
    let more = places.len() > limit;
    places.truncate(limit);
    let last = places.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.map(|sk| ListPosition::id(sk).print(LIST));
    let ids = places.iter().map(|item| get_text(item, "id").map(GroupId::from)).collect::<Result<Vec<_>, _>>()?;
    let facts = stream::iter(ids).map(|id| async move { read::facts(table, &id, arrivals_from).await });
    let found: Vec<Option<GroupFacts>> = facts.buffered(FACTS_TOGETHER).try_collect().await?;
    Ok(Page { items: found.into_iter().flatten().collect(), next })
}

pub(super) async fn replays(
    table: &Table,
    group: Option<&GroupId>,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<Replay>, Fault> {
    const LIST: &str = "replays";
    let limit = page_limit(limit);
    let pk = group.map_or(key::REPLAYS.into(), key::replays_of);
    let after = place(LIST, after).map(|place| key::replay_place(place.number, &place.id));
    let mut places = table.list(&pk, &Range { after, descending: true, ..Range::default() }, Some(limit + 1)).await?;
    let more = places.len() > limit;
    places.truncate(limit);
    let last = places.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.and_then(|sk| {
        let (at, id) = sk.split_once('#')?;
        Some(ListPosition { number: key::number(at)?, id: id.into() }.print(LIST))
    });
    let ids = places.iter().map(|item| get_text(item, "id").map(ReplayId::from)).collect::<Result<Vec<_>, _>>()?;
    Ok(Page { items: in_order(table, "replay", ids.iter().map(key::replay).collect()).await?, next })
}

pub(super) async fn unfinished(table: &Table) -> Result<Vec<ReplayId>, Fault> {
    let places = table.list(key::UNFINISHED, &Range::default(), None).await?;
    places.iter().map(|item| get_text(item, "id").map(ReplayId::from)).collect()
}

pub(super) async fn entries(
    table: &Table,
    replay: &ReplayId,
    wave: Option<u32>,
    outcome: Option<OutcomeKind>,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<Entry>, Fault> {
    const LIST: &str = "entries";
    let outcomes: Vec<_> = outcome.map_or(OutcomeKind::ALL.to_vec(), |outcome| vec![outcome]);
    let lists =
        outcomes.iter().flat_map(|outcome| (0..ENTRY_SHARDS).map(|shard| key::entries_of(replay, *outcome, shard)));
    // The cursor names place and wave: lists are ordered by both, and waves follow the order of the entries.
    let after = place(LIST, after).and_then(|place| {
        let wave = u32::from_str_radix(&place.id, 16).ok()?;
        Some(key::entry_place(wave, place.number.cast_unsigned()))
    });
    let range = Range {
        after,
        from: wave.map(|wave| key::entry_place(wave, 0)),
        to: wave.map(|wave| format!("{}~", key::entry_place(wave, u64::MAX))),
        descending: false,
    };
    let (places, more) = merged(table, lists.collect(), &range, page_limit(limit)).await?;
    let next = next(LIST, places.last(), more, |ls| {
        let (wave, seq) = ls.split_once('#')?;
        Some(ListPosition { number: u64::from_str_radix(seq, 16).ok()?.cast_signed(), id: wave.into() })
    });
    let keys = places.iter().map(Key::of).collect::<Result<_, _>>()?;
    let mut items: Vec<Entry> = in_order(table, "entry", keys).await?;
    items.retain(|entry| outcome.is_none_or(|outcome| entry.outcome.kind() == outcome));
    Ok(Page { items, next })
}

pub(super) async fn audit(
    table: &Table,
    group: &GroupId,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<AuditRecord>, Fault> {
    const LIST: &str = "audit";
    let limit = page_limit(limit);
    let after = place(LIST, after).map(|place| format!("{}#{}", key::ordered(place.number), place.id));
    let range = Range { after, descending: true, ..Range::default() };
    let mut found = table.list(&key::audit_pk(group), &range, Some(limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.and_then(|sk| {
        let (at, rest) = sk.split_once('#')?;
        Some(ListPosition { number: key::number(at)?, id: rest.into() }.print(LIST))
    });
    let items = found.iter().map(|item| record("audit record", item)).collect::<Result<_, _>>()?;
    Ok(Page { items, next })
}
