//! The end: no more faults, a consumer that processes everything, and patience. All must come to rest.

use super::checks::{Books, books_are_right};
use super::fixture::Fixture;
use super::orders::number_of;
use super::{receipts, step, take_in};
use domain::id::Actor;
use domain::letter::LetterStateKind;
use domain::time::Span;
use office::{act, sweep};
use queue::Queue as _;
use std::collections::BTreeMap;

/// How long it may take until nothing moves any more, seconds of the scene.
const PATIENCE_S: i64 = 900;

pub(super) async fn comes_to_rest(fixture: &mut Fixture) -> Result<(), String> {
    fixture.calms_down();
    let start = fixture.now();
    let mut aborts = 0;
    loop {
        for second in 0..10 {
            step(fixture).await;
            fixture.consume().await;
            while take_in(fixture).await + receipts::take(fixture).await > 0 {}
            fixture.advance(Span::from_ms(1_000 + second));
        }
        let process = fixture.process();
        sweep::run(&process.office).await.map_err(|error| format!("sweep fails in the calm: {error}"))?;
        fixture.checker.verdict()?;
        let books = Books::read(&fixture.store).await?;
        let unfinished: Vec<_> = books.replays.iter().filter(|replay| !replay.is_finished()).collect();
        if unfinished.is_empty() && is_idle(fixture).await {
            break;
        }
        if fixture.now() > start.plus(Span::from_secs(PATIENCE_S)) {
            let states: Vec<_> = unfinished.iter().map(|replay| (replay.id(), replay.state())).collect();
            return Err(format!("nothing comes to rest: {states:?}"));
        }
        for replay in unfinished.iter().filter(|replay| replay.is_paused()) {
            aborts += 1;
            let by = Actor::from("anna");
            let done = act::abort(&process.office, &by, replay.id(), "the end").await;
            done.map_err(|error| format!("abort {aborts} fails in the calm: {error}"))?;
        }
    }
    books_are_right(fixture).await?;
    nothing_is_lost(fixture).await
}

/// Whether no message lies in any queue, in anybody's hands or with a delay.
async fn is_idle(fixture: &Fixture) -> bool {
    for queue in [&fixture.main, &fixture.dlq, &fixture.steps, &fixture.receipts] {
        match fixture.queue.attributes(queue).await {
            Ok(is) if is.visible_count + is.in_flight_count + is.delayed_count == 0 => {}
            _ => return false,
        }
    }
    true
}

/// Every order was processed, or is a letter that waits; what counts as delivered was processed.
async fn nothing_is_lost(fixture: &Fixture) -> Result<(), String> {
    let books = Books::read(&fixture.store).await?;
    let mut letters: BTreeMap<u64, Vec<LetterStateKind>> = BTreeMap::new();
    for letter in books.letters.values() {
        let n = number_of(&letter.content.body).ok_or_else(|| format!("letter {} is no order", letter.id))?;
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
        // Of a message that had no room for the marker and whose answer was lost nobody can tell that it came back: it
        // is a letter of its own, which waits, and the sending counts as delivered.
        let in_the_dark = states.iter().any(is_kept) && fixture.checker.was_sent_in_the_dark(n);
        if processed == 0 && states.contains(&LetterStateKind::Delivered) && !in_the_dark {
            return Err(format!("order {n} counts as delivered, and nobody processed it"));
        }
        if states.contains(&LetterStateKind::InReplay) {
            return Err(format!("order {n} is in a replay that is over"));
        }
        if states.len() > 1 && !fixture.checker.was_sent_in_the_dark(n) {
            return Err(format!("order {n} is {} letters", states.len()));
        }
    }
    if let Some(n) = letters.keys().next() {
        return Err(format!("there is a letter of order {n}, which nobody placed"));
    }
    Ok(())
}
