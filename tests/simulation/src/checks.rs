//! Checks that must hold for the store at every moment.

use super::fixture::Fixture;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::money::Purse;
use domain::replay::{Entry, OutcomeKind, Replay};
use office::office::Office;
use office::port::{GroupFacts, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The contents of a store, read page by page.
pub(super) struct Contents {
    pub groups: Vec<GroupFacts>,
    pub letters: BTreeMap<LetterId, Letter>,
    pub replays: Vec<Replay>,
    pub entries: BTreeMap<ReplayId, Vec<Entry>>,
}

macro_rules! all {
    ($cursor:ident, $page:expr) => {{
        let mut items = Vec::new();
        let mut $cursor = None;
        loop {
            let page = $page.await.map_err(|error| error.to_string())?;
            items.extend(page.items);
            let Some(next) = page.next else { break items };
            $cursor = Some(next);
        }
    }};
}

/// Returns all groups.
pub(super) async fn groups(store: &Arc<dyn Store>) -> Result<Vec<GroupFacts>, String> {
    Ok(all!(cursor, store.groups(i64::MAX, cursor.as_ref(), PAGE_MAX)))
}

/// Returns all replays.
pub(super) async fn replays(store: &Arc<dyn Store>) -> Result<Vec<Replay>, String> {
    Ok(all!(cursor, store.replays(None, cursor.as_ref(), PAGE_MAX)))
}

impl Contents {
    pub async fn read(store: &Arc<dyn Store>) -> Result<Self, String> {
        let groups = groups(store).await?;
        let mut letters = BTreeMap::new();
        for facts in &groups {
            let group: &GroupId = &facts.variant.id;
            let of_group = all!(cursor, store.letters_of(group, None, cursor.as_ref(), PAGE_MAX));
            letters.extend(of_group.into_iter().map(|letter| (letter.id.clone(), letter)));
        }
        let replays = replays(store).await?;
        let mut entries = BTreeMap::new();
        for replay in &replays {
            let of_replay = all!(cursor, store.entries(replay.id(), None, None, cursor.as_ref(), PAGE_MAX));
            entries.insert(replay.id().clone(), of_replay);
        }
        Ok(Self { groups, letters, replays, entries })
    }
}

/// Messages of the main queue that one check reads: more than a run ever has.
const PEEKED_MAX: usize = 10_000;

/// Checks that no letter counts as delivered whose message is still on the main queue, unless a receipt confirmed it.
pub(super) async fn delivered_is_gone(fixture: &Fixture) -> Result<(), String> {
    // Most of the time there is no such letter, and reading the queue takes long.
    if !fixture.checker.counts_any_as_delivered() {
        return Ok(());
    }
    let peeked = fixture.queue.peek(&fixture.main, PEEKED_MAX).await.map_err(|error| error.to_string())?;
    match peeked.iter().find(|message| fixture.checker.counts_as_delivered(&message.message_id)) {
        Some(found) => Err(format!("message {} counts as delivered, but is on the main queue", found.message_id)),
        None => Ok(()),
    }
}

/// Checks that counters equal the letters, ledgers equal the entries, and every letter is where its state says.
pub(super) async fn store_is_consistent(fixture: &Fixture) -> Result<(), String> {
    let contents = Contents::read(&fixture.store).await?;
    contents.groups.iter().try_for_each(|facts| counters_are_exact(facts, &contents))?;
    contents.groups.iter().try_for_each(|facts| merges_agree(facts, &contents))?;
    contents.groups.iter().try_for_each(|facts| titles_agree(facts, &contents))?;
    fixture.checker.customers_agree(&contents.groups)?;
    for replay in &contents.replays {
        let ledger = fixture.store.ledger(replay.id()).await.map_err(|error| error.to_string())?;
        let entries = &contents.entries[replay.id()];
        for (wave, planned) in replay.plan().waves.iter().enumerate() {
            let columns = ledger.wave(wave as u32);
            for kind in OutcomeKind::ALL {
                let matches = |entry: &&Entry| entry.wave as usize == wave && entry.outcome.kind() == kind;
                let counted = entries.iter().filter(matches).count() as u64;
                if columns.get(kind) != counted {
                    return Err(format!(
                        "{}: wave {wave} has {counted} {}, not {columns:?}",
                        replay.id(),
                        kind.as_str()
                    ));
                }
            }
            if columns.selected() != *planned {
                return Err(format!("{}: wave {wave} has {planned} letters, its ledger says {columns:?}", replay.id()));
            }
        }
        let twice = entries.iter().filter(|entry| entry.sends > 1).count() as u64;
        if ledger.total().sent_twice != twice {
            let counted = ledger.total().sent_twice;
            return Err(format!("{}: {twice} letters may have been sent twice, {counted} are counted", replay.id()));
        }
        let confirmed = entries.iter().filter(|entry| entry.outcome.confirmation().is_some()).count() as u64;
        if ledger.total().confirmed != confirmed {
            return Err(format!(
                "{}: {confirmed} are confirmed, {} are counted",
                replay.id(),
                ledger.total().confirmed
            ));
        }
        every_send_is_counted(fixture, replay, entries, &contents)?;
    }
    contents.letters.values().try_for_each(|letter| letter_is_in_its_replay(letter, &contents))?;
    for office in fixture.offices() {
        knows_all_groups(office, fixture, &contents).await?;
    }
    Ok(())
}

/// Checks that what a process knows of all groups, with what the store says has changed since, is what the store has.
async fn knows_all_groups(office: &Office, fixture: &Fixture, contents: &Contents) -> Result<(), String> {
    let known = office.known_groups.now(&*fixture.store, 0, office.now()).await.map_err(|error| error.to_string())?;
    let facts = |facts: &GroupFacts| {
        let GroupFacts { variant: group, counts, oldest_sent_at, loss_at, .. } = facts.clone();
        (group.id, group.version, group.state, group.merge, counts, oldest_sent_at, loss_at)
    };
    let known: Vec<_> = known.variants().map(|variant| facts(&variant.facts)).collect();
    let stored: Vec<_> = contents.groups.iter().map(facts).collect();
    let wrong = known.iter().zip(&stored).find(|(known, stored)| known != stored);
    match wrong {
        Some((known, stored)) => Err(format!("a process knows {known:?}, but the store has {stored:?}")),
        None if known.len() != stored.len() => {
            Err(format!("a process knows {} of {} groups", known.len(), stored.len()))
        }
        None => Ok(()),
    }
}

/// Checks that the entries count at least as many sends as the queue received. Letters with equal content are checked
/// together: without a marker, a message does not show which of them it is.
fn every_send_is_counted(
    fixture: &Fixture,
    replay: &Replay,
    entries: &[Entry],
    contents: &Contents,
) -> Result<(), String> {
    let mut sends: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let letter = contents.letters.get(&entry.letter);
        let (sent, counted) = sends.entry(letter.map_or("", |letter| letter.content.body.as_str())).or_default();
        *sent += fixture.checker.sends_of(replay.id(), &entry.letter);
        *counted += entry.sends;
    }
    match sends.iter().find(|(_, (sent, counted))| sent > counted) {
        Some((body, (sent, counted))) => {
            Err(format!("{}: {body} was sent {sent} times, {counted} are counted", replay.id()))
        }
        None => Ok(()),
    }
}

fn counters_are_exact(facts: &GroupFacts, contents: &Contents) -> Result<(), String> {
    let id = &facts.variant.id;
    for kind in LetterStateKind::ALL {
        let of_kind = contents.letters.values().filter(|letter| letter.group == *id && letter.state.kind() == kind);
        let (mut count, mut money) = (0, Purse::empty());
        for letter in of_kind {
            count += 1;
            letter.diagnosis.impact.money.into_iter().for_each(|sum| money.add(sum));
        }
        let tally = facts.counts.tally(kind);
        if (tally.letters, &tally.money) != (count, &money) {
            return Err(format!(
                "group {id} has {count} {} worth {money:?}, its counters say {tally:?}",
                kind.as_str()
            ));
        }
    }
    Ok(())
}

/// Checks that no title has a value that a letter of its fingerprint lacks.
fn titles_agree(facts: &GroupFacts, contents: &Contents) -> Result<(), String> {
    let group = &facts.variant;
    let letters = contents.letters.values().filter(|letter| letter.group == group.id);
    match group.contradicted_by(letters) {
        Some(after) => {
            Err(format!("variant {} has {:?}, but letters {:?}", group.id, group.title_values, after.title_values))
        }
        None => Ok(()),
    }
}

/// Checks that a representative names exactly the variants merged into it, and is not merged itself.
fn merges_agree(facts: &GroupFacts, contents: &Contents) -> Result<(), String> {
    let (id, merge) = (&facts.variant.id, &facts.variant.merge);
    let merged = contents.groups.iter().filter(|other| other.variant.merge.into.as_ref() == Some(id));
    let merged: BTreeSet<_> = merged.map(|other| other.variant.id.clone()).collect();
    let is_right = merged == merge.members && (merge.into.is_none() || merge.members.is_empty());
    if is_right { Ok(()) } else { Err(format!("variant {id} says {merge:?}, but {merged:?} are merged into it")) }
}

/// Checks that the entry of a letter in a replay is being sent or is in flight.
fn letter_is_in_its_replay(letter: &Letter, contents: &Contents) -> Result<(), String> {
    let LetterState::InReplay { replay } = &letter.state else { return Ok(()) };
    let entries = contents.entries.get(replay).map(Vec::as_slice).unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.letter == letter.id);
    match entry.map(|entry| entry.outcome.kind()) {
        Some(OutcomeKind::Sending | OutcomeKind::InFlight) => Ok(()),
        other => Err(format!("letter {} is in replay {replay}, where it is {other:?}", letter.id)),
    }
}
