//! Receipts of consumers: a confirmed letter is delivered at once, and a receipt that proves nothing changes nothing.

use domain::group::GroupState;
use domain::id::{GroupId, MessageId, ReplayId};
use domain::letter::LetterStateKind;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::MARKER_ATTRIBUTE;
use domain::replay::{Outcome, PlanOptions, RECEIPT_VERSION, Receipt};
use domain::time::{Span, Timestamp};
use harness::world::World;
use office::replay::take_receipts;
use queue::{Queue as _, Received};

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

/// Creates letters of one group and an approved replay of them.
async fn replaying(letters: u64) -> (World, GroupId, ReplayId) {
    let world = World::new().await;
    let group = world.one_group(letters).await;
    let options = PlanOptions { canary_letters: Some(2), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    let replay = world.approve(&group, &plan).await;
    (world, group, replay.id().clone())
}

fn receipt(message: &Received) -> Option<Receipt> {
    let marker = message.content.attributes.get(MARKER_ATTRIBUTE)?.as_text()?;
    Some(Receipt {
        v: RECEIPT_VERSION,
        marker: marker.into(),
        message_id: message.message_id.clone(),
        consumer: "orders".into(),
        consumer_version: "v2".into(),
        processed_at: Timestamp::from_ms(1),
        idempotent: false,
    })
}

/// Processes the messages that a replay sent, and leaves other orders in the queue. Returns their receipts.
async fn processed(world: &World) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    loop {
        let received = world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
        if received.is_empty() {
            return receipts;
        }
        for message in received {
            if let Some(receipt) = receipt(&message) {
                receipts.push(receipt);
                world.queue.delete_batch(&world.main, &[message.receipt_handle]).await.unwrap();
            }
        }
    }
}

async fn take(world: &World, receipts: &[Receipt]) -> Vec<MessageId> {
    let message = |(n, receipt): (usize, &Receipt)| (MessageId::new(format!("receipt-{n}")), receipt.print());
    take_receipts(&world.office, receipts.iter().enumerate().map(message).collect()).await
}

#[tokio::test]
async fn a_replay_whose_letters_are_all_confirmed_waits_for_no_window_and_no_backlog() {
    let (world, group, id) = replaying(40).await;
    // No consumer receives these, so the backlog of the main queue never drains.
    world.place(1_000, 30).await;
    let window = world.replay(&id).await.window();
    for second in 0.. {
        world.steps().await;
        let receipts = processed(&world).await;
        assert_eq!(take(&world, &receipts).await, []);
        world.ledger_matches_entries(&id).await;
        if world.replay(&id).await.is_finished() {
            break;
        }
        assert!(second < 20, "{:?}", world.replay(&id).await.state());
        world.advance(Span::from_secs(1));
    }
    assert!(window >= Span::from_secs(8), "two windows would take longer: {window:?}");
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.confirmed), (40, 40));
    let confirmations = world.entries(&id).await.into_iter().filter_map(|entry| entry.outcome.confirmation().cloned());
    assert!(confirmations.into_iter().all(|by| (by.consumer.as_str(), by.version.as_str()) == ("orders", "v2")));
    let state = world.store.group(&group).await.unwrap().unwrap().state;
    assert!(matches!(state, GroupState::Resolved { .. }), "{state:?}");
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.tally(LetterStateKind::Delivered).letters, 40);
}

#[tokio::test]
async fn a_receipt_that_proves_nothing_changes_nothing() {
    let (world, _, id) = replaying(2).await;
    world.steps().await;
    let genuine = processed(&world).await;
    let first = genuine[0].clone();
    let marker = first.sending().unwrap();
    let forged = |change: &dyn Fn(&mut domain::marker::Marker)| {
        let mut marker = marker.clone();
        change(&mut marker);
        Receipt { marker: marker.print(), ..first.clone() }
    };
    let before = world.entries(&id).await;
    for (what, receipt) in [
        ("another attempt", forged(&|marker| marker.attempt += 1)),
        ("another replay", forged(&|marker| marker.replay = ReplayId::new("0".repeat(32)))),
        ("another letter", forged(&|marker| marker.letter = domain::id::LetterId::new("0".repeat(32)))),
        ("another message", Receipt { message_id: "m".into(), ..first.clone() }),
        ("a garbled marker", Receipt { marker: "1.2.3".into(), ..first.clone() }),
    ] {
        assert_eq!(take(&world, &[receipt]).await, [], "{what} is not retried");
        assert_eq!(world.entries(&id).await, before, "{what}");
    }
    let garbled = vec![("m".into(), "not JSON".into()), ("n".into(), "{}".into())];
    assert_eq!(take_receipts(&world.office, garbled).await, [MessageId::from("m"), "n".into()], "not receipts");
    assert_eq!(world.entries(&id).await, before);

    // The genuine receipt twice, in one batch with a forged one of the same letter; then once more.
    let forged = Receipt { message_id: "m".into(), ..first.clone() };
    take(&world, &[forged, first.clone(), first.clone()]).await;
    let after = world.entries(&id).await;
    take(&world, &[first]).await;
    assert_eq!(world.entries(&id).await, after);
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.confirmed, total.in_flight), (1, 1, 1));

    // Without a receipt the window decides. A receipt after that is late.
    for _ in 0..20 {
        world.advance(Span::from_secs(1));
        world.steps().await;
    }
    let decided = world.entries(&id).await;
    assert_eq!(world.ledger(&id).await.total().delivered, 2);
    take(&world, &genuine).await;
    assert_eq!(world.entries(&id).await, decided, "a late receipt");
    world.ledger_matches_entries(&id).await;
    assert_eq!(world.ledger(&id).await.total().confirmed, 1);
}

#[tokio::test]
async fn a_confirmed_letter_that_returns_is_returned() {
    let (world, group, id) = replaying(2).await;
    world.steps().await;
    let received = world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
    let receipts: Vec<Receipt> = received.iter().filter_map(receipt).collect();
    take(&world, &receipts).await;
    world.steps().await;
    assert_eq!(world.ledger(&id).await.total().confirmed, 2);
    // The consumer did not delete them, and its next version fails on them.
    world.advance(Span::from_secs(3));
    world.consume(&nothing_works, "v3").await;
    assert_eq!(world.intake().await.returned, 2);
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.confirmed, total.returned), (0, 0, 2));
    world.ledger_matches_entries(&id).await;
    assert_eq!(world.counters_are_exact(&group).await.tally(LetterStateKind::Waiting).letters, 2);
}

#[tokio::test]
async fn a_receipt_shows_that_a_letter_was_sent_whose_answer_was_lost() {
    // Tries each call of the first step until the send takes effect and its answer is lost.
    for call in 0.. {
        let (world, _, id) = replaying(2).await;
        world.faults.arm(call, true);
        world.steps().await;
        assert!(world.faults.has_failed(), "one of the calls sends");
        let receipts = processed(&world).await;
        let is_open = |entry: &domain::replay::Entry| matches!(entry.outcome, Outcome::Sending { .. });
        if receipts.is_empty() || !world.entries(&id).await.iter().any(is_open) {
            continue;
        }
        take(&world, &receipts).await;
        let total = world.ledger(&id).await.total();
        assert_eq!((total.delivered, total.confirmed, total.sending), (2, 2, 0));
        let notices = world.store.notices(&world.main).await.unwrap();
        assert_eq!(notices, None, "such a receipt says nothing of its consumer");
        for _ in 0..60 {
            world.advance(Span::from_secs(1));
            world.steps().await;
        }
        assert!(world.replay(&id).await.is_finished());
        assert_eq!(processed(&world).await.len(), 0, "no letter is sent again");
        assert_eq!(world.ledger(&id).await.total().sent_twice, 0);
        return;
    }
}

/// Handles receipts with one failing call. Returns whether handling makes that many calls.
async fn receipts_survive(call: i64, after: bool) -> bool {
    let (world, group, id) = replaying(2).await;
    world.steps().await;
    let receipts = processed(&world).await;
    world.faults.arm(call, after);
    let failed = take(&world, &receipts).await;
    assert!(failed.is_empty() || failed.len() == 2, "receipts of one replay are retried together: {failed:?}");
    if !failed.is_empty() {
        assert_eq!(take(&world, &receipts).await, []);
    }
    world.ledger_matches_entries(&id).await;
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.confirmed), (2, 2), "call {call}, after: {after}");
    assert_eq!(world.counters_are_exact(&group).await.tally(LetterStateKind::Delivered).letters, 2);
    world.faults.has_failed()
}

#[tokio::test]
async fn receipts_count_once_after_a_crash_at_any_call() {
    let mut calls = 0;
    while receipts_survive(calls, false).await && receipts_survive(calls, true).await {
        calls += 1;
    }
    assert!(calls > 4, "handling receipts makes more than {calls} calls");
}

#[tokio::test]
async fn two_functions_that_get_the_same_receipts_at_once_count_them_once() {
    let (world, group, id) = replaying(30).await;
    for _ in 0..30 {
        world.steps().await;
        let receipts = processed(&world).await;
        let (one, other) = tokio::join!(take(&world, &receipts), take(&world, &receipts));
        assert_eq!((one.len(), other.len()), (0, 0));
        world.ledger_matches_entries(&id).await;
        world.advance(Span::from_secs(1));
    }
    assert_eq!(world.ledger(&id).await.total().confirmed, 30);
    assert_eq!(world.counters_are_exact(&group).await.tally(LetterStateKind::Delivered).letters, 30);
}
