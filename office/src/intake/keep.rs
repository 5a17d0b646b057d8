//! Storing new letters: one atomic commit for up to 64 of them, with their groups and counters.

use super::{IntakeSummary, Measures, ReadMessage, discarded, fail};
use crate::commit::{Committed, Tries, commit};
use crate::error::OfficeError;
use crate::groups;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::group::{CountsDeltas, Variant};
use domain::id::{GroupId, LetterId};
use domain::letter::Letter;
use domain::time::Timestamp;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};

/// How often a commit is tried. Each conflict removes at least one letter, gives it its own id, or reads at least one
/// variant again, or was a passing conflict on a counter.
const TRIES_MAX: usize = 3 * domain::limits::KEEP_LETTERS_MAX + 8;

/// Groups that are read at once: a batch may have letters of a hundred, and each is a call to the store or several.
const GROUPS_AT_ONCE: usize = 16;

struct Fresh {
    source: ReadMessage,
    letter: Letter,
}

/// Stores a chunk of messages that no replay of ours sent.
pub(super) async fn keep(
    office: &Office,
    chunk: Vec<ReadMessage>,
    report: &mut IntakeSummary,
    measures: &mut Measures,
) {
    let now = office.now();
    let mut fresh: Vec<Fresh> = Vec::with_capacity(chunk.len());
    let mut later = Vec::new();
    for source in chunk {
        let retention = office.retention(&source.message.dlq).await;
        let letter = Letter::first(&source.message, source.reading.clone(), retention, now);
        match fresh.iter().find(|f| f.letter.id == letter.id) {
            None => fresh.push(Fresh { source, letter }),
            Some(first) if first.letter.is_same_death(&letter) => report.duplicates += 1,
            // Which of the two has the id is known only once the first is stored: its commit may fail.
            Some(_) => later.push(vec![Fresh { source, letter }]),
        }
    }
    later.push(fresh);
    let (mut batches, mut again) = (later, Vec::new());
    while let Some(mut fresh) = batches.pop() {
        match commit_all(office, &mut fresh, report, &mut again, now).await {
            Ok(opened) => kept(office, &fresh, opened, report, measures, now).await,
            // One permanently rejected letter must not block the others.
            Err(OfficeError::Store(error)) if error.refused && fresh.len() > 1 => {
                let second_half = fresh.split_off(fresh.len() / 2);
                batches.extend([second_half, fresh]);
            }
            Err(error) => fresh.iter().for_each(|f| fail(report, &f.source.message, &error)),
        }
    }
    for (id, source) in again {
        discarded::keep(office, &id, &source, report, measures).await;
    }
}

/// Counts stored letters, raises the alerts of new groups, and opens resolved groups.
async fn kept(
    office: &Office,
    fresh: &[Fresh],
    opened: Vec<Variant>,
    report: &mut IntakeSummary,
    measures: &mut Measures,
    now: Timestamp,
) {
    report.kept += fresh.len();
    report.new_groups += opened.len();
    for kept in fresh {
        measures.count(&kept.source.reading);
    }
    for group in opened {
        office.alert(groups::new_group(office, &group, now)).await;
    }
    report.regressions += follow_up(office, fresh, now).await;
}

/// Commits the letters. Removes those from the list that are already stored. Returns the groups that were opened.
async fn commit_all(
    office: &Office,
    fresh: &mut Vec<Fresh>,
    report: &mut IntakeSummary,
    again: &mut Vec<(LetterId, ReadMessage)>,
    now: Timestamp,
) -> Result<Vec<Variant>, OfficeError> {
    let mut known: Known = BTreeMap::new();
    let mut tries = Tries::up_to(TRIES_MAX, "a batch of letters");
    loop {
        tries.begin()?;
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<&GroupId> = fresh.iter().map(|f| &f.letter.group).collect();
        let ids: Vec<GroupId> = ids.into_iter().filter(|id| !known.contains_key(*id)).cloned().collect();
        let read = |id: GroupId| async move { office.store.group(&id).await.map(|group| (id, group)) };
        known.extend(stream::iter(ids).map(read).buffered(GROUPS_AT_ONCE).try_collect::<Vec<_>>().await?);
        let (writes, opened) = writes(fresh, &known, now);
        let Committed::Conflict(failed) = commit(office, writes).await? else { return Ok(opened) };
        let mut taken = Vec::new();
        for write in failed {
            match write {
                Write::Letter { letter, .. } => taken.push(letter.id),
                Write::Variant { variant, .. } => drop(known.remove(&variant.id)),
                _ => {}
            }
        }
        report.duplicates += drop_duplicates(office, fresh, &taken, again).await?;
    }
}

/// Removes the letters that are already stored. Those whose id belongs to another letter get their own. Adds the messages
/// of discarded letters that died again to `again`. Returns the number of duplicates.
async fn drop_duplicates(
    office: &Office,
    fresh: &mut Vec<Fresh>,
    taken: &[LetterId],
    again: &mut Vec<(LetterId, ReadMessage)>,
) -> Result<usize, OfficeError> {
    if taken.is_empty() {
        return Ok(0);
    }
    let stored = office.store.letters(taken).await?;
    let before = std::mem::take(fresh);
    let mut duplicates = 0;
    for Fresh { source, letter } in before {
        let is_new_death = discarded::is_new_death(&source, &letter, &stored, office.now());
        match beside(letter.clone(), &stored) {
            Some(letter) => fresh.push(Fresh { source, letter }),
            None if is_new_death => again.push((letter.id, source)),
            None => duplicates += 1,
        }
    }
    Ok(duplicates)
}

/// Returns a new letter under an id that no stored letter has; `None` if it is a stored letter once more. Two messages may
/// be copies of one dead message: a consumer that was killed after it sent a message to the dead-letter queue, and before
/// it deleted it, sends it again. But an id that a message claims proves nothing by itself.
fn beside(letter: Letter, stored: &[Letter]) -> Option<Letter> {
    match stored.iter().find(|other| other.id == letter.id) {
        None => Some(letter),
        Some(other) if other.is_same_death(&letter) || letter.is_under_its_own_id() => None,
        Some(_) => Some(letter.under_its_own_id()),
    }
}

/// The stored variants of letters; `None` for a new fingerprint.
type Known = BTreeMap<GroupId, Option<Variant>>;

fn writes(fresh: &[Fresh], known: &Known, now: Timestamp) -> (Vec<Write>, Vec<Variant>) {
    let mut writes = Vec::with_capacity(fresh.len() + 4);
    let mut counts = CountsDeltas::default();
    let mut opened: BTreeMap<GroupId, Variant> = BTreeMap::new();
    let mut letters_of: BTreeMap<&GroupId, Vec<&Letter>> = BTreeMap::new();
    for f in fresh {
        counts.moved(None, &f.letter);
        counts.died(&f.letter);
        letters_of.entry(&f.letter.group).or_default().push(&f.letter);
        if known.get(&f.letter.group) == Some(&None) && !opened.contains_key(&f.letter.group) {
            opened.insert(f.letter.group.clone(), Variant::opened_by(&f.letter, &f.source.reading));
        }
        writes.push(Write::Letter { letter: Box::new(f.letter.clone()), expect: Expect::Absent });
    }
    for (id, letters) in letters_of {
        // A group is as old as its first death, in whatever order letters arrive: its oldest variant names it.
        let after = |group: &Variant| group.after_letters(letters.iter().copied());
        if let Some(group) = opened.get_mut(id) {
            if let Some(after) = after(group) {
                *group = Variant { version: group.version, ..after };
            }
        } else if let Some(group) = known.get(id).and_then(Option::as_ref)
            && let Some(after) = after(group)
        {
            writes.push(Write::Variant { variant: Box::new(after), expect: Expect::Version(group.version) });
        }
    }
    for group in opened.values() {
        writes.extend(groups::open_group(group, now));
    }
    writes.extend(groups::count_writes(counts));
    (writes, opened.into_values().collect())
}

/// Opens resolved groups that got a letter again, and notes the versions that letters died on. Returns the number of regressions.
async fn follow_up(office: &Office, fresh: &[Fresh], now: Timestamp) -> usize {
    let mut latest: BTreeMap<GroupId, (Timestamp, groups::Versions)> = BTreeMap::new();
    for f in fresh {
        let (at, versions) =
            latest.entry(f.letter.group.clone()).or_insert((f.letter.died_not_before(), groups::Versions::new()));
        *at = (*at).max(f.letter.died_not_before());
        versions.extend(groups::version_of(&f.letter));
    }
    let after = |(group, (died_at, versions)): (GroupId, (Timestamp, groups::Versions))| async move {
        groups::after_death(office, &group, died_at, &versions, now).await
    };
    let regressed = stream::iter(latest).map(after).buffered(GROUPS_AT_ONCE);
    regressed.fold(0, async |count, regressed| count + usize::from(regressed)).await
}
