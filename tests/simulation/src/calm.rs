//! The calm phase at the end: no more faults, and a consumer that processes everything. Every replay must finish.

use super::checks::{Contents, delivered_is_gone, store_is_consistent};
use super::fixture::Fixture;
use super::orders::number_of;
use super::{receipts, run_intake, step};
use domain::id::Actor;
use domain::letter::{Letter, LetterStateKind};
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
        let process = fixture.process();
        sweep::run(&process.office).await.map_err(|error| format!("sweep fails without faults: {error}"))?;
        fixture.checker.result()?;
        let contents = Contents::read(&fixture.store).await?;
        let unfinished: Vec<_> = contents.replays.iter().filter(|replay| !replay.is_finished()).collect();
        if unfinished.is_empty() && queues_are_empty(fixture).await {
            break;
        }
        if fixture.now() > start.plus(Span::from_secs(PATIENCE_S)) {
            let states: Vec<_> = unfinished.iter().map(|replay| (replay.id(), replay.state())).collect();
            return Err(format!("not idle after {PATIENCE_S} s: {states:?}"));
        }
        for replay in unfinished.iter().filter(|replay| replay.is_paused()) {
            aborts += 1;
            let by = Actor::from("anna");
            let done = act::abort(&process.office, &by, replay.id(), "the simulation ends").await;
            done.map_err(|error| format!("abort {aborts} fails without faults: {error}"))?;
        }
    }
    store_is_consistent(fixture).await?;
    nothing_is_lost(fixture).await
}

/// Returns whether no queue has a visible, in-flight or delayed message.
async fn queues_are_empty(fixture: &Fixture) -> bool {
    for queue in [&fixture.main, &fixture.dlq, &fixture.steps, &fixture.receipts] {
        match fixture.queue.attributes(queue).await {
            Ok(is) if is.visible_count + is.in_flight_count + is.delayed_count == 0 => {}
            _ => return false,
        }
    }
    true
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
        let is_kept =
            |state: &LetterStateKind| matches!(state, LetterStateKind::Waiting | LetterStateKind::Quarantined);
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
