//! The calm phase at the end: no more faults, and a consumer that processes everything. Every replay must finish.

use super::checks::{self, Contents, delivered_is_gone, store_is_consistent};
use super::fixture::Fixture;
use super::orders::number_of;
use super::{people, receipts, reports, run_intake, step};
use domain::group::{Customers, GroupCounts, GroupState, Variant};
use domain::id::{Actor, GroupId};
use domain::letter::{Letter, LetterStateKind};
use domain::replay::Draft;
use domain::time::Span;
use office::{act, sweep};
use queue::Queue as _;
use std::collections::BTreeMap;

/// The deadline for every replay to finish, in seconds of simulated time.
const PATIENCE_S: i64 = 900;

/// Runs the office until every replay has finished and every queue is empty, then checks that nothing is lost.
pub(super) async fn finishes(fixture: &mut Fixture) -> Result<(), String> {
    fixture.end_faults();
    let start = fixture.now();
    let mut aborts = 0;
    loop {
        for second in 0..10 {
            step(fixture).await;
            delivered_is_gone(fixture).await?;
            fixture.consume().await;
            while run_intake(fixture).await + receipts::handle(fixture).await > 0 {}
            fixture.advance(Span::from_ms(1_000 + second));
        }
        reports::look(fixture).await;
        let process = fixture.process();
        sweep::run(&process.office).await.map_err(|error| format!("sweep fails without faults: {error}"))?;
        fixture.checker.result()?;
        let replays = checks::replays(&fixture.store).await?;
        let unfinished: Vec<_> = replays.iter().filter(|replay| !replay.is_finished()).collect();
        let drafted = drafted(fixture).await?;
        if unfinished.is_empty() && drafted.is_empty() && waiting(fixture).await.is_empty() {
            break;
        }
        if fixture.now() > start.plus(Span::from_secs(PATIENCE_S)) {
            let states: Vec<_> = unfinished.iter().map(|replay| (replay.id(), replay.state())).collect();
            let queues = waiting(fixture).await;
            return Err(format!("not idle after {PATIENCE_S} s: {states:?}, {drafted:?}, {queues:?}"));
        }
        // One that has failed waits for a person.
        for draft in drafted.iter().filter(|draft| draft.ending.as_ref().is_some_and(|ending| ending.failed.is_some()))
        {
            people::cancel(&process.office, &draft.group).await;
        }
        for replay in unfinished.iter().filter(|replay| replay.is_paused()) {
            aborts += 1;
            let by = Actor::from("anna");
            let done = act::abort(&process.office, &by, replay.id(), "the simulation ends").await;
            done.map_err(|error| format!("abort {aborts} fails without faults: {error}"))?;
        }
    }
    store_is_consistent(fixture).await?;
    groups_are_closed(fixture).await?;
    nothing_is_lost(fixture).await
}

/// Returns the drafts of all groups. Each group names exactly its own.
async fn drafted(fixture: &Fixture) -> Result<Vec<Draft>, String> {
    let mut drafts = Vec::new();
    for facts in checks::groups(&fixture.store).await? {
        for id in &facts.variant.drafts {
            let draft = fixture.store.draft(id).await.map_err(|error| error.to_string())?;
            drafts.push(draft.ok_or_else(|| format!("group {} names draft {id}, which is gone", facts.variant.id))?);
        }
    }
    Ok(drafts)
}

/// The sweeps after which groups no longer change, at the latest. Four fingerprints merge in fewer.
const SWEEPS_MAX: u32 = 12;

/// Checks that every discard is complete, that the customers of every group are counted exactly, and that a group with
/// discarded letters is closed if and only if no letter of it is open.
async fn groups_are_closed(fixture: &mut Fixture) -> Result<(), String> {
    let process = fixture.process();
    // A sweep merges groups after it has looked at them, so what a merge changes is seen by the next one, which may
    // merge more. They settle.
    let mut versions = BTreeMap::new();
    for sweep in 0.. {
        sweep::run(&process.office).await.map_err(|error| format!("sweep fails without faults: {error}"))?;
        let listed = checks::groups(&fixture.store).await?;
        let after: BTreeMap<_, _> = listed.into_iter().map(|facts| (facts.variant.id, facts.variant.version)).collect();
        if after == versions {
            break;
        }
        versions = after;
        if sweep == SWEEPS_MAX {
            return Err(format!("groups still change after {sweep} sweeps without faults"));
        }
    }
    let mut groups: BTreeMap<GroupId, (Variant, GroupCounts)> = BTreeMap::new();
    let listed = checks::groups(&fixture.store).await?;
    for facts in &listed {
        groups.insert(facts.variant.id.clone(), (facts.variant.clone(), facts.counts.clone()));
    }
    for facts in listed.iter().filter(|facts| facts.variant.merge.into.is_some()) {
        let into = facts.variant.merge.into.as_ref().and_then(|id| groups.get_mut(id));
        into.into_iter().for_each(|(_, counts)| counts.add(&facts.counts));
    }
    for (group, counts) in groups.values().filter(|(group, _)| group.merge.into.is_none()) {
        if group.discarding.is_some() {
            return Err(format!("a discard of group {} is not complete: {:?}", group.id, group.discarding));
        }
        let customers = group.merge.customers(counts.customers);
        if !matches!(customers, Customers::Exact(_)) {
            return Err(format!("group {} has {customers:?} customers after all sweeps", group.id));
        }
        let (open, discarded) = (counts.open().letters, counts.tally(LetterStateKind::Discarded).letters);
        let is_closed = matches!(group.state, GroupState::Discarded { .. } | GroupState::Resolved { .. });
        if open > 0 && is_closed || open == 0 && discarded > 0 && !is_closed {
            return Err(format!(
                "group {} is {:?} with {open} open and {discarded} discarded letters",
                group.id, group.state
            ));
        }
    }
    Ok(())
}

/// Returns what waits in the queues: for each the visible, in-flight and delayed messages, or why it cannot be read.
async fn waiting(fixture: &Fixture) -> Vec<String> {
    let mut waiting = Vec::new();
    for queue in [&fixture.main, &fixture.dlq, &fixture.steps, &fixture.receipts] {
        match fixture.queue.attributes(queue).await {
            Ok(is) if is.visible_count + is.in_flight_count + is.delayed_count == 0 => {}
            Ok(is) => waiting.push(format!(
                "{queue}: {} visible, {} in flight, {} delayed",
                is.visible_count, is.in_flight_count, is.delayed_count
            )),
            Err(error) => waiting.push(format!("{queue}: {error}")),
        }
    }
    waiting
}

/// Checks that every order was processed or is a waiting letter, and that every delivered letter was processed.
async fn nothing_is_lost(fixture: &Fixture) -> Result<(), String> {
    let contents = Contents::read(&fixture.store).await?;
    let mut letters: BTreeMap<u64, Vec<LetterStateKind>> = BTreeMap::new();
    for letter in contents.letters.values() {
        let n = number_of(&letter.content.body).ok_or_else(|| format!("letter {} is not an order", letter.id))?;
        letters.entry(n).or_default().push(letter.state.kind());
    }
    for n in 0..fixture.orders() {
        let processed = fixture.processed.get(&n).copied().unwrap_or_default();
        let states = letters.remove(&n).unwrap_or_default();
        let is_kept = |state: &LetterStateKind| {
            matches!(state, LetterStateKind::Waiting | LetterStateKind::Quarantined | LetterStateKind::Discarded)
        };
        if processed == 0 && !states.iter().any(is_kept) {
            return Err(format!("order {n} is lost: {states:?}"));
        }
        // A message without room for a marker, sent in a call whose answer was lost, cannot be recognised when it
        // returns: it becomes a waiting letter of its own, and the original counts as delivered.
        let unattributed = states.iter().any(is_kept) && fixture.checker.was_sent_unattributed(n);
        if processed == 0 && states.contains(&LetterStateKind::Delivered) && !unattributed {
            return Err(format!("order {n} counts as delivered but was not processed"));
        }
        if states.contains(&LetterStateKind::InReplay) {
            return Err(format!("order {n} is still in a finished replay"));
        }
        if states.len() > 1 && !fixture.checker.was_sent_unattributed(n) && !fixture.forger.claims(n) {
            let of_order = |letter: &&Letter| number_of(&letter.content.body) == Some(n);
            let name = |letter: &Letter| {
                (letter.original_message_id.clone(), letter.dead_message_id.clone(), letter.state.kind())
            };
            let names: Vec<_> = contents.letters.values().filter(of_order).map(name).collect();
            return Err(format!("order {n} is {} letters: {names:?}", states.len()));
        }
    }
    if let Some(n) = letters.keys().next() {
        return Err(format!("a letter of order {n} exists, which was not placed"));
    }
    Ok(())
}
