//! Delivered means gone from the main queue: consumers that take a letter and die, hold it for long, or never finish
//! with other messages.

use domain::id::{GroupId, ReplayId};
use domain::letter::LetterStateKind;
use domain::policy::{Policy, ReplayPolicy};
use domain::replay::{Ending, Outcome, OutcomeKind, PauseReason, PlanOptions, ReplayState, SkipReason};
use domain::time::Span;
use harness::world::World;
use local::queue::QueueSettings;
use office::{act, sweep};
use queue::{Queue as _, Received};
use std::sync::Arc;

const LETTERS: u64 = 40;
const CANARY: u64 = 2;

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Starts a replay and sends its canary.
async fn canary_sent() -> (World, GroupId, ReplayId) {
    let mut world = World::new().await;
    let replay = ReplayPolicy { backlog_ms_max: Span::from_mins(5), ..world.office.policy.replay.clone() };
    world.office.policy = Arc::new(Policy { replay, ..(*world.office.policy).clone() });
    let group = world.one_group(LETTERS).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let id = world.approve(&group, &plan).await.id().clone();
    world.steps().await;
    assert_eq!(world.ledger(&id).await.total().in_flight, CANARY);
    (world, group, id)
}

/// Lets the office work for some seconds while the consumer is off.
async fn pass(world: &World, seconds: u64) {
    for _ in 0..seconds {
        world.steps().await;
        world.advance(Span::from_secs(1));
    }
}

/// Other traffic: each second the consumer takes new orders and finishes those of the second before.
async fn busy(world: &World, seconds: u64) {
    let mut held: Vec<String> = Vec::new();
    for second in 0..seconds {
        world.place(1_000 + 2 * second, 2).await;
        let taken = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
        if !held.is_empty() {
            world.queue.delete_batch(&world.main, &held).await.unwrap();
        }
        held = taken.into_iter().map(|message| message.receipt_handle).collect();
        world.steps().await;
        world.advance(Span::from_secs(1));
    }
}

#[tokio::test]
async fn a_canary_whose_consumer_took_it_once_and_died_is_not_delivered() {
    let (world, _, id) = canary_sent().await;
    // Held when the office first looks, after two seconds: the backlog is drained.
    world.advance(Span::from_secs(1));
    let taken = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    assert_eq!(taken.len() as u64, CANARY);
    pass(&world, 120).await;
    assert_eq!(world.queue.attributes(&world.main).await.unwrap().visible_count, CANARY, "it lies there again");
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.in_flight), (0, CANARY));

    // The consumer comes back.
    let replay = world.run(&id, &works, "v2").await;
    assert!(matches!(replay.state(), ReplayState::Finished { ending: Ending::Completed, .. }), "{:?}", replay.state());
    assert_eq!(world.ledger(&id).await.total().delivered, LETTERS);
    assert_eq!(world.processed.lock().unwrap().len() as u64, LETTERS, "each letter was processed once");
}

#[tokio::test]
async fn a_letter_that_a_consumer_holds_for_long_is_in_flight_for_as_long() {
    let (world, _, id) = canary_sent().await;
    let long = Some(Span::from_mins(10));
    let taken = world.queue.receive(&world.main, 10, Span::ZERO, long).await.unwrap();
    pass(&world, 4 * 60).await;
    assert_eq!(world.ledger(&id).await.total().in_flight, CANARY);
    let handles: Vec<_> = taken.into_iter().map(|message| message.receipt_handle).collect();
    world.queue.delete_batch(&world.main, &handles).await.unwrap();
    pass(&world, 60).await;
    assert_eq!(world.ledger(&id).await.total().delivered, CANARY);
}

#[tokio::test]
async fn on_a_busy_queue_the_age_of_the_oldest_message_proves_delivery() {
    let (world, _, id) = canary_sent().await;
    busy(&world, 60).await;
    let total = world.ledger(&id).await.total();
    assert!(total.delivered >= CANARY, "{total:?}");
    assert!(world.queue.attributes(&world.main).await.unwrap().in_flight_count > 0, "the queue was never empty");
}

#[tokio::test]
async fn on_a_busy_queue_without_evidence_a_replay_pauses_and_an_abort_leaves_its_letters_in_doubt() {
    let (world, group, id) = canary_sent().await;
    world.faults.hide_ages();
    busy(&world, 330).await;
    let replay = world.replay(&id).await;
    let ReplayState::Paused { why: PauseReason::QueueNeverEmpty { in_flight_count, .. }, .. } = replay.state() else {
        panic!("{:?}", replay.state())
    };
    assert!(*in_flight_count > 0);
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.in_flight), (0, CANARY), "nothing is claimed");

    act::abort(&world.office, &world.otto(), &id, "the queue is never empty").await.unwrap();
    busy(&world, 30).await;
    assert!(world.replay(&id).await.is_finished());
    let skipped = world.entries(&id).await.into_iter().filter(|entry| {
        matches!(entry.outcome, Outcome::Skipped { reason: SkipReason::InDoubt, detail: Some(_) }) && entry.sends == 1
    });
    assert_eq!(skipped.count() as u64, CANARY);
    assert_eq!(world.letters(&group, Some(LetterStateKind::Waiting)).await.len() as u64, LETTERS);
    world.ledger_matches_entries(&id).await;
    world.counters_are_exact(&group).await;
}

#[tokio::test]
async fn a_letter_that_the_main_queue_kept_for_too_long_is_in_doubt_and_not_delivered() {
    let (world, group, id) = canary_sent().await;
    let settings = world.queue.settings(&world.main).await.unwrap();
    let short = QueueSettings { retention: Span::from_secs(60), ..settings };
    world.queue.configure(&world.main, short).await.unwrap();
    pass(&world, 120).await;
    assert_eq!(world.queue.attributes(&world.main).await.unwrap().visible_count, 0, "the queue deleted the canary");
    let replay = world.replay(&id).await;
    let why = PauseReason::BacklogNotDrained { visible_count: 0 };
    assert!(matches!(replay.state(), ReplayState::Paused { why: found, .. } if *found == why), "{:?}", replay.state());
    let total = world.ledger(&id).await.total();
    assert_eq!((total.get(OutcomeKind::Delivered), total.get(OutcomeKind::Skipped)), (0, CANARY));
    assert_eq!(world.letters(&group, Some(LetterStateKind::Waiting)).await.len() as u64, LETTERS);
    world.ledger_matches_entries(&id).await;
}

#[tokio::test]
async fn a_clock_set_back_by_two_hours_freezes_no_replay() {
    let (world, _, id) = canary_sent().await;
    world.consume(&works, "v2").await;
    world.advance(Span::from_mins(-120));
    for second in 0..1_800 {
        if second % 60 == 0 {
            sweep::run(&world.office).await.unwrap();
        }
        world.steps().await;
        world.consume(&works, "v2").await;
        world.advance(Span::from_secs(1));
    }
    assert!(world.replay(&id).await.is_finished(), "{:?}", world.replay(&id).await.state());
    assert_eq!(world.ledger(&id).await.total().delivered, LETTERS);
    let jumps = world.alerts.recent(10).into_iter().filter(|alert| alert.group.is_none()).count();
    assert_eq!(jumps, 0, "no sweep had run before");
}

/// Sweeps nudge every unfinished replay, and so do receipts and returns. None of them may leave a step behind that goes on
/// beside the others.
#[tokio::test]
async fn a_replay_that_waits_for_its_queue_has_one_chain_of_steps() {
    let (world, _, _) = canary_sent().await;
    world.advance(Span::from_secs(1));
    world.queue.receive(&world.main, 10, Span::ZERO, Some(Span::from_mins(60))).await.unwrap();
    let steps = async || {
        let counts = world.queue.attributes(&world.office.steps).await.unwrap();
        counts.visible_count + counts.delayed_count + counts.in_flight_count
    };
    let mut most = 0;
    // It runs for five minutes, and waits paused for the rest.
    for _ in 0..30 {
        sweep::run(&world.office).await.unwrap();
        pass(&world, 60).await;
        most = most.max(steps().await);
    }
    assert!(most <= 1, "{most} steps wait");
}
