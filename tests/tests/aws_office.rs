//! The office over DynamoDB, as MiniStack plays it: letters are counted once whatever happens to those who keep them,
//! and a replay ends with every letter delivered.
#![cfg(feature = "aws")]

use consumer::queue::{Queue, Received};
use dlo_tests::endpoint::Endpoint;
use dlo_tests::world::{VISIBILITY, World};
use domain::fix::FixKind;
use domain::letter::LetterStateKind;
use domain::message::DeadMessage;
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use lambda::aws::connect;
use lambda::aws::store::DynamoStore;
use lambda::office::Office;
use std::sync::{Arc, LazyLock};
use tokio::task::JoinSet;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

async fn world() -> World {
    World::on(Arc::new(ENDPOINT.store().await)).await
}

/// Letters whose intake fails at one call; true when there was such a call.
async fn intake_survives(call: i64, after: bool) -> bool {
    let world = world().await;
    world.place(0, 7).await;
    world.consume(&fails, "v1").await;
    world.faults.arm(call, after);
    let mut report = world.intake().await;
    if !report.failed.is_empty() {
        world.advance(Span::from_secs(31).plus(VISIBILITY));
        report = world.intake().await;
    }
    assert!(report.failed.is_empty());
    let group = world.only_group().await;
    let counts = world.counters_are_exact(&group).await;
    assert_eq!((counts.open().letters, counts.deaths, counts.customers), (7, 7, 7), "call {call}, after: {after}");
    world.faults.has_struck()
}

#[tokio::test]
async fn intake_counts_each_letter_once_after_a_crash_at_any_call() {
    let mut calls = 0;
    while intake_survives(calls, false).await && intake_survives(calls, true).await {
        calls += 1;
    }
    assert!(calls > 4, "intake makes more than {calls} calls");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_get_the_same_letters_at_once_count_them_once() {
    let store = Arc::new(ENDPOINT.store().await);
    let world = World::on(store.clone()).await;
    world.place(0, 120).await;
    world.consume(&fails, "v1").await;
    let mut messages: Vec<DeadMessage> = Vec::new();
    while messages.len() < 120 {
        let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
        messages.extend(received.into_iter().map(|message| world.dead(message)));
    }
    let mut processes = JoinSet::new();
    for first in 0..6 {
        // Each a process of its own, with connections and memories of its own; each letter goes to three of them.
        let config = connect::to_endpoint(&ENDPOINT.url).await;
        let own = DynamoStore::new(&config, store.table_name());
        let office = Office { store: Arc::new(own), ..world.office.clone() };
        let batch: Vec<_> = (0..60).map(|n| messages[(first * 20 + n) % 120].clone()).collect();
        processes.spawn(async move { lambda::intake::keep(&office, batch).await });
    }
    let reports = processes.join_all().await;
    assert!(reports.iter().all(|report| report.failed.is_empty()), "{reports:?}");
    assert_eq!(reports.iter().map(|report| report.kept).sum::<usize>(), 120);
    assert_eq!(reports.iter().map(|report| report.new_groups).sum::<usize>(), 1);
    let group = world.only_group().await;
    let counts = world.counters_are_exact(&group).await;
    assert_eq!((counts.open().letters, counts.deaths, counts.customers), (120, 120, 7));
}

#[tokio::test]
async fn replay_delivers_every_letter() {
    let world = world().await;
    world.place(0, 25).await;
    world.consume(&fails, "v1").await;
    world.intake().await;
    let group = world.only_group().await;
    let declare = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &declare).await.unwrap();
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let approve = Approve { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();
    let replay = world.run(&plan.id, &works, "v2").await;
    assert!(replay.is_finished());
    assert_eq!(world.ledger(&plan.id).await.total().delivered, 25);
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.of(LetterStateKind::Delivered).letters, 25);
}

/// Also what is too large for its record, and lies beside it in parts.
#[tokio::test]
async fn everything_goes_back_as_it_came() {
    dlo_tests::carried::everything_goes_back_as_it_came(&world().await).await;
}
