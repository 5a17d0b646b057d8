//! The office over DynamoDB, as MiniStack plays it: letters are counted once whatever happens to those who keep them,
//! and a replay ends with every letter delivered.
#![cfg(feature = "aws")]

use consumer::queue::{Outgoing, Queue, Received};
use dlo_tests::endpoint::{Endpoint, new_name};
use dlo_tests::world::{VISIBILITY, World};
use domain::fix::FixKind;
use domain::letter::LetterStateKind;
use domain::message::{Content, DeadMessage};
use domain::policy::Policy;
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use lambda::aws::connect;
use lambda::aws::payloads::S3Payloads;
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

#[tokio::test]
async fn letters_whose_payload_is_gone_are_left_out_of_a_plan() {
    let mut world = World::new().await;
    world.office.payloads = Arc::new(S3Payloads::new(&connect::to_endpoint(&ENDPOINT.url).await));
    let mut policy = Policy::clone(&world.office.policy);
    policy.replay.send_pointers = true;
    world.office.policy = Arc::new(policy);

    let bucket = new_name("payloads");
    connect::provide_tls();
    let http = reqwest::Client::new();
    for path in [bucket.clone(), format!("{bucket}/there"), format!("{bucket}/there/too")] {
        let put = http.put(format!("{}/{path}", ENDPOINT.url)).body("{}").send().await.expect("an answer");
        put.error_for_status().expect("a bucket, and two payloads in it");
    }
    let pointer = |bucket: &str, key: &str| {
        let body = format!(
            r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{{"s3BucketName":"{bucket}","s3Key":"{key}"}}]"#
        );
        Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() }
    };
    let letters = [("there", &*bucket), ("there/too", &bucket), ("gone", &bucket), ("there", "no-such-bucket-here")];
    let letters = letters.map(|(key, bucket)| pointer(bucket, key));
    for sent in world.queue.send_batch(&world.main, &letters).await.expect("the main queue") {
        sent.expect("a pointer is sent");
    }
    world.consume(&fails, "v1").await;
    assert_eq!(world.intake().await.kept, 4);
    let group = world.only_group().await;
    let fix = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.expect("a fix");
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.expect("a plan");
    let left_out: Vec<_> = plan.left_out.iter().map(|left| (left.letters, &*left.reason)).collect();
    assert_eq!((plan.letters.letters, left_out), (2, vec![(2, "whose payload is gone from S3")]));
    assert_eq!(plan.unchecked, []);
}

/// Also what is too large for its record, and lies beside it in parts.
#[tokio::test]
async fn everything_goes_back_as_it_came() {
    dlo_tests::carried::everything_goes_back_as_it_came(&world().await).await;
}
