//! What must hold in the store at every moment.

use super::fixture::Fixture;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::money::Purse;
use domain::replay::{Entry, OutcomeKind, Replay};
use office::port::{GroupFacts, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that a store has, read page by page.
pub(super) struct Books {
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

impl Books {
    pub async fn read(store: &Arc<dyn Store>) -> Result<Self, String> {
        let groups = all!(cursor, store.groups(i64::MAX, cursor.as_ref(), PAGE_MAX));
        let mut letters = BTreeMap::new();
        for facts in &groups {
            let group: &GroupId = &facts.group.id;
            let of_group = all!(cursor, store.letters_of(group, None, cursor.as_ref(), PAGE_MAX));
            letters.extend(of_group.into_iter().map(|letter| (letter.id.clone(), letter)));
        }
        let replays = all!(cursor, store.replays(None, cursor.as_ref(), PAGE_MAX));
        let mut entries = BTreeMap::new();
        for replay in &replays {
            let of_replay = all!(cursor, store.entries(replay.id(), None, None, cursor.as_ref(), PAGE_MAX));
            entries.insert(replay.id().clone(), of_replay);
        }
        Ok(Self { groups, letters, replays, entries })
    }
}

/// Counters are the fold of the letters, ledgers of the entries, and each letter is where its state says.
pub(super) async fn books_are_right(fixture: &Fixture) -> Result<(), String> {
    let books = Books::read(&fixture.store).await?;
    books.groups.iter().try_for_each(|facts| counters_are_exact(facts, &books))?;
    books.groups.iter().try_for_each(|facts| kin_agree(facts, &books))?;
    for replay in &books.replays {
        let ledger = fixture.store.ledger(replay.id()).await.map_err(|error| error.to_string())?;
        let entries = &books.entries[replay.id()];
        for (wave, planned) in replay.plan().waves.iter().enumerate() {
            let columns = ledger.wave(wave as u32);
            for kind in OutcomeKind::ALL {
                let is = |entry: &&Entry| entry.wave as usize == wave && entry.outcome.kind() == kind;
                let counted = entries.iter().filter(is).count() as u64;
                if columns.get(kind) != counted {
                    return Err(format!(
                        "{}: wave {wave} has {counted} {}, not {columns:?}",
                        replay.id(),
                        kind.as_str()
                    ));
                }
            }
            if columns.selected() != *planned {
                return Err(format!("{}: wave {wave} of {planned} letters does not close: {columns:?}", replay.id()));
            }
        }
        let twice = entries.iter().filter(|entry| entry.sends > 1).count() as u64;
        if ledger.total().sent_twice != twice {
            let told = ledger.total().sent_twice;
            return Err(format!("{}: {twice} letters may have been sent twice, {told} are told", replay.id()));
        }
        let confirmed = entries.iter().filter(|entry| entry.outcome.confirmation().is_some()).count() as u64;
        if ledger.total().confirmed != confirmed {
            return Err(format!("{}: {confirmed} are confirmed, {} are told", replay.id(), ledger.total().confirmed));
        }
        no_send_is_untold(fixture, replay, entries, &books)?;
    }
    books.letters.values().try_for_each(|letter| letter_is_in_its_replay(letter, &books))
}

/// Each send is told. Letters with one content are told together: without a marker nobody sees which of them a message
/// was.
fn no_send_is_untold(fixture: &Fixture, replay: &Replay, entries: &[Entry], books: &Books) -> Result<(), String> {
    let mut sends: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let letter = books.letters.get(&entry.letter);
        let (sent, told) = sends.entry(letter.map_or("", |letter| letter.content.body.as_str())).or_default();
        *sent += fixture.checker.sends_of(replay.id(), &entry.letter);
        *told += entry.sends;
    }
    match sends.iter().find(|(_, (sent, told))| sent > told) {
        Some((body, (sent, told))) => Err(format!("{}: {body} was sent {sent} times, {told} are told", replay.id())),
        None => Ok(()),
    }
}

fn counters_are_exact(facts: &GroupFacts, books: &Books) -> Result<(), String> {
    let id = &facts.group.id;
    for kind in LetterStateKind::ALL {
        let of_kind = books.letters.values().filter(|letter| letter.group == *id && letter.state.kind() == kind);
        let (mut count, mut money) = (0, Purse::empty());
        for letter in of_kind {
            count += 1;
            letter.diagnosis.impact.money.into_iter().for_each(|sum| money.add(sum));
        }
        let tally = facts.counts.of(kind);
        if (tally.letters, &tally.money) != (count, &money) {
            return Err(format!("group {id} has {count} {} worth {money:?}, told are {tally:?}", kind.as_str()));
        }
    }
    Ok(())
}

/// A head names those that point to it, and is merged into none itself.
fn kin_agree(facts: &GroupFacts, books: &Books) -> Result<(), String> {
    let (id, merge) = (&facts.group.id, &facts.group.merge);
    let pointing = books.groups.iter().filter(|other| other.group.merge.into.as_ref() == Some(id));
    let pointing: BTreeSet<_> = pointing.map(|other| other.group.id.clone()).collect();
    let is_right = pointing == merge.members && (merge.into.is_none() || merge.members.is_empty());
    if is_right { Ok(()) } else { Err(format!("group {id} says {merge:?}, and {pointing:?} point to it")) }
}

/// A letter that a replay has in hand is one that this replay is sending, or has sent and watches.
fn letter_is_in_its_replay(letter: &Letter, books: &Books) -> Result<(), String> {
    let LetterState::InReplay { replay } = &letter.state else { return Ok(()) };
    let entries = books.entries.get(replay).map(Vec::as_slice).unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.letter == letter.id);
    match entry.map(|entry| entry.outcome.kind()) {
        Some(OutcomeKind::Sending | OutcomeKind::InFlight) => Ok(()),
        other => Err(format!("letter {} is in replay {replay}, where it is {other:?}", letter.id)),
    }
}
