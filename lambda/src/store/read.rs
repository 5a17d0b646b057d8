//! Reads records, single ones and batches.

use super::counts::{self, Extremes, shard_of};
use super::fault::Fault;
use super::item::{Item, get_bytes, get_number, get_text};
use super::key::{self, Key};
use super::large::{self, Location};
use super::pack::unpack;
use super::table::{Range, Table};
use domain::group::{GroupCounts, Variant};
use domain::id::{GroupId, LetterId, MessageId, ReplayId};
use domain::impact::NEVER;
use domain::letter::{Letter, LetterStateKind};
use domain::policy::PolicyVersion;
use domain::replay::{Block, Ledger, LedgerMove, OutcomeKind};
use domain::reported::{KeptReports, ReportKey};
use domain::time::{Span, Timestamp};
use office::port::{BUCKETS_TOGETHER, EntryKey, GroupFacts, TransformFacts};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Letters per page while searching for the letter that is lost first. One page is usually enough; more are read only
/// if letters of one group have very different times to live.
const AGES_PAGE: usize = 25;

/// Reads the record with this key.
pub(super) async fn one<T: DeserializeOwned>(table: &Table, kind: &'static str, key: Key) -> Result<Option<T>, Fault> {
    table.get(&key).await?.map(|item| record(kind, &item)).transpose()
}

/// Unpacks a record.
pub(super) fn record<T: DeserializeOwned>(kind: &'static str, item: &Item) -> Result<T, Fault> {
    unpack(kind, get_bytes(item, "r")?)
}

/// Reads the records with these keys, and returns them by key. Missing records are omitted.
pub(super) async fn many(table: &Table, keys: Vec<Key>) -> Result<HashMap<Key, Item>, Fault> {
    let mut distinct = keys;
    distinct.sort_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
    distinct.dedup();
    let found = table.get_all(distinct, true).await?;
    found.into_iter().map(|item| Ok((Key::from_item(&item)?, item))).collect()
}

/// Finds the messages that replays have sent. The read is eventually consistent, which costs half: a message returns
/// only after its consumer has given up, long after the record was written.
pub(super) async fn sent(table: &Table, messages: &[MessageId]) -> Result<BTreeMap<MessageId, EntryKey>, Fault> {
    let keys: HashMap<Key, &MessageId> = messages.iter().map(|message| (key::sent(message), message)).collect();
    let mut sent = BTreeMap::new();
    for item in table.get_all(keys.keys().cloned().collect(), false).await? {
        let message = keys.get(&Key::from_item(&item)?).ok_or(Fault::MissingAttribute("pk"))?;
        let seq = get_number(&item, "n").ok_or(Fault::MissingAttribute("n"))?;
        let entry = EntryKey { replay: get_text(&item, "r")?.into(), seq, letter: get_text(&item, "l")?.into() };
        sent.insert((*message).clone(), entry);
    }
    Ok(sent)
}

/// Reads blocks of a replay by their numbers.
pub(super) async fn blocks_at(table: &Table, replay: &ReplayId, numbers: &[u64]) -> Result<Vec<Block>, Fault> {
    let keys = numbers.iter().map(|number| key::block(replay, *number)).collect();
    many(table, keys).await?.values().map(|item| block(replay, item)).collect()
}

/// Unpacks a block.
pub(super) fn block(replay: &ReplayId, item: &Item) -> Result<Block, Fault> {
    let number = u64::from_str_radix(get_text(item, "sk")?, 16).map_err(|_| Fault::MissingAttribute("sk"))?;
    let version = get_number(item, "v").ok_or(Fault::MissingAttribute("v"))?;
    let block = Block::from_bytes(replay.clone(), number, version, get_bytes(item, "r")?);
    block.map_err(|source| Fault::Block { number, source })
}

/// Reads records of reports. The read is eventually consistent: a report precedes its letter by the visibility timeout.
pub(super) async fn reports(table: &Table, of: &[ReportKey]) -> Result<Vec<KeptReports>, Fault> {
    let mut keys: Vec<Key> = of.iter().map(key::reports).collect();
    keys.sort_by(|a, b| a.pk.cmp(&b.pk));
    keys.dedup();
    table.get_all(keys, false).await?.iter().map(|item| record("reports", item)).collect()
}

/// Reads letters, in the order of the given ids. Missing letters are omitted.
pub(super) async fn letters(table: &Table, ids: &[LetterId]) -> Result<Vec<Letter>, Fault> {
    let keys: Vec<Key> = ids.iter().map(key::letter).collect();
    let found = many(table, keys.clone()).await?;
    letters_of(table, keys.iter().filter_map(|key| found.get(key)).collect()).await
}

/// Unpacks letters from their records, and reads the blobs beside the records.
pub(super) async fn letters_of(table: &Table, items: Vec<&Item>) -> Result<Vec<Letter>, Fault> {
    let locations = items.iter().flat_map(|item| match Location::from_item(item, "w", "") {
        Some(whole) => vec![whole],
        None => {
            [Location::from_item(item, "r", "rh"), Location::from_item(item, "c", "ch")].into_iter().flatten().collect()
        }
    });
    let mut packed = large::read(table, locations.collect()).await?.into_iter();
    let mut next = || packed.next().ok_or(Fault::MissingAttribute("r"));
    let mut letters = Vec::with_capacity(items.len());
    for item in items {
        let mut letter: Letter = unpack("letter", &next()?)?;
        if !item.contains_key("w") {
            letter.content = unpack("content", &next()?)?;
        }
        letters.push(letter);
    }
    Ok(letters)
}

/// Returns the shards with counters of a group. Shard 0 is always among them.
pub(super) async fn shards(table: &Table, group: &GroupId) -> Result<BTreeSet<u8>, Fault> {
    let range = Range { from: Some(key::COUNTS.into()), to: Some(format!("{}~", key::COUNTS)), ..Range::default() };
    let found = table.list(&key::group_pk(group), &range, None).await?;
    let mut shards: BTreeSet<u8> = found.iter().map(shard_of).collect::<Result<_, _>>()?;
    shards.insert(0);
    Ok(shards)
}

/// Reads a variant with its counters and arrivals in one query, and the ages of its open letters.
pub(super) async fn facts(table: &Table, id: &GroupId, from_bucket: i64) -> Result<Option<GroupFacts>, Fault> {
    let from = key::arrivals_from(from_bucket.div_euclid(BUCKETS_TOGETHER));
    let range = Range { from: Some(from), to: Some(format!("{}~", key::COUNTS)), ..Range::default() };
    let found = table.list(&key::group_pk(id), &range, None).await?;
    let (mut variant, mut counters, mut arrivals) = (None, Vec::new(), BTreeMap::new());
    for item in &found {
        match get_text(item, "sk")? {
            "H" => variant = Some(record::<Variant>("variant", item)?),
            sk if sk.starts_with(key::COUNTS) => counters.push(item),
            sk => {
                let hour = key::hour_of(sk).ok_or(Fault::MissingAttribute("sk"))?;
                add_arrivals(&mut arrivals, hour, item);
            }
        }
    }
    let Some(group) = variant else { return Ok(None) };
    let (counts, extremes) = counts::sum(&counters)?;
    let mut shards: BTreeSet<u8> = counters.iter().map(|item| shard_of(item)).collect::<Result<_, _>>()?;
    shards.insert(0);
    let (oldest_sent_at, loss_at) = ages(table, id, &counts, extremes, &shards).await?;
    let arrivals = arrivals.split_off(&from_bucket).into_iter().collect();
    Ok(Some(GroupFacts { variant: group, counts, oldest_sent_at, loss_at, arrivals }))
}

fn add_arrivals(arrivals: &mut BTreeMap<i64, u64>, hour: i64, item: &Item) {
    for (name, value) in item {
        let within = name.strip_prefix('b').and_then(|text| i64::from_str_radix(text, 16).ok());
        if let (Some(within), Ok(deaths)) = (within, value.as_n()) {
            *arrivals.entry(hour * BUCKETS_TOGETHER + within).or_default() += deaths.parse::<u64>().unwrap_or_default();
        }
    }
}

/// Returns when the oldest open letter was sent, and when the first open letter is lost.
///
/// The lists are ordered by send time. A letter that was sent later can be lost earlier only if its time to live is
/// shorter, and the group's shortest time to live is known. So the first letter of each list is usually enough.
async fn ages(
    table: &Table,
    group: &GroupId,
    counts: &GroupCounts,
    extremes: Extremes,
    shards: &BTreeSet<u8>,
) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
    let (mut oldest, mut loss): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    let kinds = LetterStateKind::ALL.into_iter().filter(|kind| kind.is_open() && counts.tally(*kind).letters > 0);
    let mut lists = Vec::new();
    for kind in kinds {
        lists.extend(shards.iter().map(|shard| key::letters_of(group, *shard, kind)));
    }
    for list in lists {
        let mut range = Range::default();
        'list: loop {
            let page = table.indexed(&list, &range, Some(if range.after.is_none() { 1 } else { AGES_PAGE })).await?;
            for item in &page {
                let sent_at = sent_at(get_text(item, "ls")?).ok_or(Fault::MissingAttribute("ls"))?;
                let lost_at = get_number(item, "lo").map(Timestamp::from_ms);
                let soonest = extremes.shortest_ms.map(|ms| sent_at.plus(Span::from_ms(ms)));
                if loss.is_some_and(|loss| soonest.is_none_or(|soonest| soonest >= loss)) {
                    oldest = oldest.into_iter().chain([sent_at]).min();
                    break 'list;
                }
                oldest = oldest.into_iter().chain([sent_at]).min();
                loss = loss.into_iter().chain(lost_at).min();
            }
            let Some(last) = page.last() else { break };
            range.after = Some(get_text(last, "ls")?.into());
        }
    }
    Ok((oldest, loss.filter(|at| *at < NEVER)))
}

/// Returns the send time from a letter's position in a list.
fn sent_at(position: &str) -> Option<Timestamp> {
    key::number(position.get(..16)?).map(Timestamp::from_ms)
}

/// Reads one version of a group's transform, with its dry run.
pub(super) async fn transform(table: &Table, group: &GroupId, version: u32) -> Result<Option<TransformFacts>, Fault> {
    let Some(transform) = one(table, "transform", key::transform(group, version)).await? else { return Ok(None) };
    let dry_run = one(table, "dry run", key::dry_run(group, version)).await?;
    Ok(Some(TransformFacts { transform, dry_run }))
}

/// Reads all versions of a group's transform with their dry runs, newest first.
pub(super) async fn transforms(table: &Table, group: &GroupId) -> Result<Vec<TransformFacts>, Fault> {
    let mut found: Vec<TransformFacts> = Vec::new();
    for item in table.list(&key::transforms_pk(group), &Range::default(), None).await? {
        match found.last_mut().filter(|_| get_text(&item, "sk").is_ok_and(|sk| sk.ends_with("#Y"))) {
            Some(version) => version.dry_run = Some(record("dry run", &item)?),
            None => found.push(TransformFacts { transform: record("transform", &item)?, dry_run: None }),
        }
    }
    found.reverse();
    Ok(found)
}

/// Reads versions of the policy below `before`, newest first.
pub(super) async fn policies(table: &Table, before: Option<u64>, limit: usize) -> Result<Vec<PolicyVersion>, Fault> {
    let after = before.map_or_else(key::newest_policy, key::policy_version).sk;
    let range = Range { after: Some(after), descending: true, ..Range::default() };
    let found = table.list(key::POLICY, &range, Some(limit)).await?;
    found.iter().map(|item| record("policy", item)).collect()
}

/// Reads the ledger of a plan or replay.
pub(super) async fn ledger(table: &Table, replay: &ReplayId) -> Result<Ledger, Fault> {
    let range = Range { from: Some(key::LEDGER.into()), to: Some(format!("{}~", key::LEDGER)), ..Range::default() };
    let mut ledger = Ledger::default();
    for item in table.list(&key::replay_pk(replay), &range, None).await? {
        let eight =
            get_text(&item, "sk")?.strip_prefix(key::LEDGER).and_then(|text| u32::from_str_radix(text, 16).ok());
        let first = eight.ok_or(Fault::MissingAttribute("sk"))? * office::port::WAVES_TOGETHER;
        for within in 0..office::port::WAVES_TOGETHER {
            let column = |name: &str| get_number::<i64>(&item, &format!("{within}{name}")).unwrap_or(0);
            for to in OutcomeKind::ALL {
                let letters = column(to.as_str()).max(0).cast_unsigned();
                if letters > 0 {
                    ledger.apply(&LedgerMove::plain(first + within, None, to, letters));
                }
            }
            let (sent_twice, confirmed) = (column("sent_twice").max(0), column("confirmed").max(0));
            if sent_twice + confirmed > 0 {
                let no_move = LedgerMove::plain(first + within, None, OutcomeKind::Delivered, 0);
                ledger.apply(&LedgerMove { sent_twice, confirmed, ..no_move });
            }
        }
    }
    Ok(ledger)
}
