//! Reads lists page by page, and merges the shards that they are spread over.
//!
//! The index lags behind the records by moments. A list therefore only names the records. The reader then reads the
//! records themselves, and drops those that have left the list in the meantime.

use super::fault::Fault;
use super::item::{Item, get_text};
use super::key::{self, Key};
use super::read::{self, record};
use super::table::{Range, Table};
use domain::audit::AuditRecord;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::{Block, Replay};
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use office::port::{Cursor, GroupFacts, ListPosition, Page};

/// Longest accepted id in a cursor. The store's keys contain no longer one, and DynamoDB rejects keys over 1 KB.
const CURSOR_ID_MAX: usize = 256;
/// Groups whose facts are read concurrently.
const FACTS_CONCURRENCY: usize = 32;

/// Parses the cursor of a list. An invalid cursor counts as none, so the list starts from the beginning.
fn position(list: &str, after: Option<&Cursor>) -> Option<ListPosition> {
    ListPosition::parse(list, after).filter(|position| position.id.len() <= CURSOR_ID_MAX)
}

fn page_limit(limit: usize) -> usize {
    limit.clamp(1, PAGE_MAX)
}

/// Merges several lists of the index, each of which is in order. Returns the first `limit` items of a range, and
/// whether more follow.
pub(super) async fn merged(
    table: &Table,
    lists: Vec<String>,
    range: &Range,
    limit: usize,
) -> Result<(Vec<Item>, bool), Fault> {
    let found = try_join_all(lists.iter().map(|list| table.indexed(list, range, Some(limit + 1)))).await?;
    let mut items: Vec<(String, Item)> = Vec::new();
    for item in found.into_iter().flatten() {
        items.push((get_text(&item, "ls")?.to_owned(), item));
    }
    items.sort_by(|a, b| a.0.cmp(&b.0));
    // A record that moves from one list to another may be in both for a moment.
    items.dedup_by(|a, b| a.0 == b.0);
    let more = items.len() > limit;
    items.truncate(limit);
    Ok((items.into_iter().map(|(_, item)| item).collect(), more))
}

/// Returns the cursor after the last item of a page if more items follow.
fn next(list: &str, last: Option<&Item>, more: bool, parse: impl Fn(&str) -> Option<ListPosition>) -> Option<Cursor> {
    let last = last.filter(|_| more)?;
    parse(get_text(last, "ls").ok()?).map(|position| position.print(list))
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
    let after = position(LIST, after).map(|position| key::letter_position(position.number, &position.id));
    let range = Range { after, ..Range::default() };
    let (listed, more) = merged(table, lists.collect(), &range, page_limit(limit)).await?;
    let next = next(LIST, listed.last(), more, |ls| {
        let (sent_at, id) = ls.split_once('#')?;
        Some(ListPosition { number: key::number(sent_at)?, id: id.into() })
    });
    let keys = listed.iter().map(Key::from_item).collect::<Result<Vec<_>, _>>()?;
    let found = read::many(table, keys.clone()).await?;
    let mut items = read::letters_of(table, keys.iter().filter_map(|key| found.get(key)).collect()).await?;
    items.retain(|letter| letter.group == *group && state.is_none_or(|state| letter.state.kind() == state));
    Ok(Page { items, next })
}

/// Reads the deaths of a letter, oldest first.
pub(super) async fn deaths(table: &Table, letter: &LetterId, max: usize) -> Result<Vec<Death>, Fault> {
    let listed = table.indexed(&key::deaths_of(letter), &Range::default(), Some(max)).await?;
    in_order(table, "death", listed.iter().map(Key::from_item).collect::<Result<_, _>>()?).await
}

/// Reads records in the order of their keys. Missing records are omitted.
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
    let after = position(LIST, after).map(|position| position.id).filter(|id| !id.is_empty());
    let mut listed = table.list(key::GROUPS, &Range { after, ..Range::default() }, Some(limit + 1)).await?;
    let more = listed.len() > limit;
    listed.truncate(limit);
    let last = listed.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.map(|sk| ListPosition::id(sk).print(LIST));
    let ids = listed.iter().map(|item| get_text(item, "id").map(GroupId::from)).collect::<Result<Vec<_>, _>>()?;
    let facts = stream::iter(ids).map(|id| async move { read::facts(table, &id, arrivals_from).await });
    let found: Vec<Option<GroupFacts>> = facts.buffered(FACTS_CONCURRENCY).try_collect().await?;
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
    let after = position(LIST, after).map(|position| key::replay_position(position.number, &position.id));
    let mut listed = table.list(&pk, &Range { after, descending: true, ..Range::default() }, Some(limit + 1)).await?;
    let more = listed.len() > limit;
    listed.truncate(limit);
    let last = listed.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.and_then(|sk| {
        let (at, id) = sk.split_once('#')?;
        Some(ListPosition { number: key::number(at)?, id: id.into() }.print(LIST))
    });
    let ids = listed.iter().map(|item| get_text(item, "id").map(ReplayId::from)).collect::<Result<Vec<_>, _>>()?;
    Ok(Page { items: in_order(table, "replay", ids.iter().map(key::replay).collect()).await?, next })
}

pub(super) async fn unfinished(table: &Table) -> Result<Vec<ReplayId>, Fault> {
    let listed = table.list(key::UNFINISHED, &Range::default(), None).await?;
    listed.iter().map(|item| get_text(item, "id").map(ReplayId::from)).collect()
}

pub(super) async fn blocks(table: &Table, replay: &ReplayId, from: u64, limit: usize) -> Result<Vec<Block>, Fault> {
    let range = Range { from: Some(key::block_position(from)), ..Range::default() };
    let found = table.list(&key::blocks_pk(replay), &range, Some(limit)).await?;
    found.iter().map(|item| read::block(replay, item)).collect()
}

pub(super) async fn audit(
    table: &Table,
    group: &GroupId,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<AuditRecord>, Fault> {
    const LIST: &str = "audit";
    let limit = page_limit(limit);
    let after = position(LIST, after).map(|position| format!("{}#{}", key::ordered(position.number), position.id));
    let range = Range { after, descending: true, ..Range::default() };
    let mut found = table.list(&key::audit_pk(group), &range, Some(limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|item| get_text(item, "sk")).transpose()?;
    let next = last.and_then(|sk| {
        let (at, order) = sk.split_once('#')?;
        Some(ListPosition { number: key::number(at)?, id: order.into() }.print(LIST))
    });
    let items = found.iter().map(|item| record("audit record", item)).collect::<Result<_, _>>()?;
    Ok(Page { items, next })
}
