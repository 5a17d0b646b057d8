//! Intake's own deadline: letters for which no time is left fail at once, and come again.

use domain::id::MessageId;
use domain::limits::{BATCH_ENTRIES_MAX, KEEP_LETTERS_MAX};
use domain::message::DeadMessage;
use domain::time::{Span, Timestamp};
use harness::world::World;
use office::intake;
use queue::{Queue as _, Received};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// More than one commit holds.
const LETTERS: usize = KEEP_LETTERS_MAX + 6;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

async fn dead(world: &World) -> Vec<DeadMessage> {
    world.place(0, LETTERS as u64).await;
    world.consume(&fails, "v1").await;
    let mut all = Vec::new();
    while all.len() < LETTERS {
        let received = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
        assert!(!received.is_empty(), "all {LETTERS} are dead");
        all.extend(received.into_iter().map(|message| world.dead(message)));
    }
    all
}

/// A second passes whenever the office looks at its clock.
#[tokio::test]
async fn what_cannot_be_stored_in_time_fails_and_is_counted_once_when_it_comes_again() {
    let mut world = World::new().await;
    let messages = dead(&world).await;
    let (start, clock) = (world.office.now(), world.office.clock.clone());
    let looks = Arc::new(AtomicI64::new(0));
    let counted = looks.clone();
    world.office.clock = Arc::new(move || start.plus(Span::from_secs(counted.fetch_add(1, Ordering::Relaxed))));

    let late = intake::keep_until(&world.office, messages.clone(), Some(Timestamp::from_ms(0))).await;
    let ids: BTreeSet<&MessageId> = messages.iter().map(|message| &message.message_id).collect();
    assert_eq!((late.kept, late.failed.iter().collect::<BTreeSet<_>>()), (0, ids), "nothing was begun");

    // The first deadline that leaves time for a commit leaves none for the second.
    let mut seconds = 0;
    let partial = loop {
        seconds += 1;
        looks.store(0, Ordering::Relaxed);
        let deadline = start.plus(Span::from_secs(seconds));
        let report = intake::keep_until(&world.office, messages.clone(), Some(deadline)).await;
        if report.kept > 0 {
            break report;
        }
        assert!(seconds < 1_000, "no deadline leaves time for a commit");
    };
    assert_eq!((partial.kept, partial.failed.len()), (KEEP_LETTERS_MAX, LETTERS - KEEP_LETTERS_MAX));

    world.office.clock = clock;
    let rest = intake::keep(&world.office, messages).await;
    assert_eq!((rest.kept, rest.duplicates, rest.failed.len()), (LETTERS - KEEP_LETTERS_MAX, KEEP_LETTERS_MAX, 0));
    let group = world.only_group().await;
    assert_eq!(world.counters_are_exact(&group).await.open().letters, LETTERS as i64);
}
