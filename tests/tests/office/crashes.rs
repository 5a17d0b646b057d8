//! Whatever call is the last one that a handler makes before it is killed, the next run goes on, nothing is lost,
//! and the ledger closes (promises 1, 2, 5 and 8).

use domain::fix::FixKind;
use domain::group::GroupState;
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::replay::{PlanOptions, ReplayState};
use domain::time::Span;
use harness::world::{VISIBILITY, World};
use office::act;
use queue::Received;
use std::collections::BTreeMap;
use wire::{ApproveRequest, DeclareFixRequest};

const LETTERS: u64 = 13;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

async fn letters_in(world: &World) -> GroupId {
    world.place(0, LETTERS).await;
    world.consume(&fails, "v1").await;
    world.intake().await;
    world.only_group().await
}

/// A replay of which one call fails; true when there was such a call.
async fn replay_survives(call: i64, after: bool) -> bool {
    let world = World::new().await;
    let group = letters_in(&world).await;
    let declare = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &declare).await.unwrap();
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();

    world.faults.arm(call, after);
    let replay = world.run(&plan.id, &works, "v2").await;
    let place = format!("call {call}, {}", if after { "after" } else { "before" });
    assert!(matches!(replay.state(), ReplayState::Finished { .. }), "{place}: {:?}", replay.state());
    let total = world.ledger(&plan.id).await.total();
    assert_eq!(total.delivered, LETTERS, "{place}: {total:?}");
    assert!(matches!(world.store.group(&group).await.unwrap().unwrap().state, GroupState::Resolved { .. }), "{place}");
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.of(LetterStateKind::Delivered).letters, LETTERS as i64, "{place}");

    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for body in world.processed.lock().unwrap().iter() {
        *times.entry(body.clone()).or_default() += 1;
    }
    assert_eq!(times.len() as u64, LETTERS, "{place}: every letter was processed");
    let twice: u64 = times.values().map(|n| n - 1).sum();
    assert!(twice <= total.sent_twice, "{place}: {twice} doubles, {} counted", total.sent_twice);
    world.faults.has_failed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_goes_on_after_a_crash_at_any_call() {
    let mut calls = 0;
    while replay_survives(calls, false).await && replay_survives(calls, true).await {
        calls += 1;
    }
    assert!(calls > 60, "a replay makes more than {calls} calls");
}

/// Letters whose intake fails at one call; true when there was such a call.
async fn intake_survives(call: i64, after: bool) -> bool {
    let world = World::new().await;
    world.place(0, LETTERS).await;
    world.consume(&fails, "v1").await;
    world.faults.arm(call, after);
    let mut report = world.intake().await;
    if !report.failed.is_empty() {
        // What was reported as failed stayed in its queue, and comes again when its visibility timeout ends.
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
async fn a_message_handed_over_twice_is_counted_once() {
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
