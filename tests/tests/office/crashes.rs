//! A handler killed at any call: the next run continues, no letter is lost or counted twice, the ledger equals its
//! entries, and every possible double send is counted.

use domain::group::GroupState;
use domain::letter::LetterStateKind;
use domain::replay::{PlanOptions, ReplayState};
use domain::time::Span;
use harness::world::{VISIBILITY, World};
use queue::Received;
use std::collections::BTreeMap;

const LETTERS: u64 = 13;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Runs a replay in which one call fails. Returns whether the replay makes that many calls.
async fn replay_survives(call: i64, after: bool) -> bool {
    let world = World::new().await;
    let group = world.one_group(LETTERS).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    world.approve(&group, &plan).await;

    world.faults.arm(call, after);
    let replay = world.run(&plan.id, &works, "v2").await;
    let case = format!("call {call}, {}", if after { "after" } else { "before" });
    assert!(matches!(replay.state(), ReplayState::Finished { .. }), "{case}: {:?}", replay.state());
    let total = world.ledger(&plan.id).await.total();
    assert_eq!(total.delivered, LETTERS, "{case}: {total:?}");
    assert!(matches!(world.store.group(&group).await.unwrap().unwrap().state, GroupState::Resolved { .. }), "{case}");
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.tally(LetterStateKind::Delivered).letters, LETTERS as i64, "{case}");

    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for body in world.processed.lock().unwrap().iter() {
        *times.entry(body.clone()).or_default() += 1;
    }
    assert_eq!(times.len() as u64, LETTERS, "{case}: every letter was processed");
    let twice: u64 = times.values().map(|n| n - 1).sum();
    assert!(twice <= total.sent_twice, "{case}: {twice} doubles, {} counted", total.sent_twice);
    world.faults.has_failed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_continues_after_a_crash_at_any_call() {
    let mut calls = 0;
    while replay_survives(calls, false).await && replay_survives(calls, true).await {
        calls += 1;
    }
    assert!(calls > 60, "a replay makes more than {calls} calls");
}

/// Runs intake with one failing call. Returns whether intake makes that many calls.
async fn intake_survives(call: i64, after: bool) -> bool {
    let world = World::new().await;
    world.place(0, LETTERS).await;
    world.consume(&fails, "v1").await;
    world.faults.arm(call, after);
    let mut report = world.intake().await;
    if !report.failed.is_empty() {
        // Failed messages stay in their queue and become visible again after the visibility timeout.
        world.advance(Span::from_secs(31).plus(VISIBILITY));
        report = world.intake().await;
    }
    assert!(report.failed.is_empty());
    let group = world.only_group().await;
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.open().letters, LETTERS as i64, "call {call}, after: {after}");
    assert_eq!(counts.deaths, LETTERS);
    world.faults.has_failed()
}

#[tokio::test]
async fn intake_counts_each_letter_once_after_a_crash_at_any_call() {
    let mut calls = 0;
    while intake_survives(calls, false).await && intake_survives(calls, true).await {
        calls += 1;
    }
    assert!(calls > 8, "intake makes more than {calls} calls");
}

#[tokio::test]
async fn a_message_received_twice_is_counted_once() {
    let world = World::new().await;
    world.place(0, 1).await;
    world.consume(&fails, "v1").await;
    use queue::Queue;
    let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap().remove(0);
    let twice = vec![world.dead(received.clone()), world.dead(received.clone())];
    let report = office::intake::keep(&world.office, twice.clone()).await;
    assert_eq!((report.kept, report.duplicates), (1, 1));
    let again = office::intake::keep(&world.office, twice.clone()).await;
    assert_eq!((again.kept, again.duplicates), (0, 2));
    let (one, two) = tokio::join!(
        office::intake::keep(&world.office, twice.clone()),
        office::intake::keep(&world.office, twice.clone())
    );
    assert_eq!((one.kept, two.kept), (0, 0));
    let group = world.only_group().await;
    assert_eq!(world.counters_are_exact(&group).await.deaths, 1);
}

#[tokio::test]
async fn two_intakes_of_one_batch_at_once_count_it_once() {
    let world = World::new().await;
    world.place(0, 10).await;
    world.consume(&fails, "v1").await;
    use queue::Queue;
    let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
    let batch: Vec<_> = received.into_iter().map(|message| world.dead(message)).collect();
    let (one, two) = tokio::join!(
        office::intake::keep(&world.office, batch.clone()),
        office::intake::keep(&world.office, batch.clone())
    );
    assert_eq!(one.kept + two.kept, 10, "{one:?} {two:?}");
    assert!(one.failed.is_empty() && two.failed.is_empty());
    let group = world.only_group().await;
    assert_eq!(world.counters_are_exact(&group).await.open().letters, 10);
}
