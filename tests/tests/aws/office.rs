//! The office over DynamoDB, as MiniStack emulates it: letters are counted once although intake crashes, and a replay
//! delivers every letter.

use dlo_tests::endpoint::{Endpoint, new_name};
use domain::alert::{Alert, AlertKind};
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::message::{Content, DeadMessage};
use domain::policy::Policy;
use domain::replay::PlanOptions;
use domain::time::{Span, Timestamp};
use harness::world::{VISIBILITY, World};
use lambda::connect;
use lambda::events::{EventBridgeAlerts, SOURCE};
use lambda::payloads::S3Payloads;
use lambda::queue::SqsQueue;
use lambda::store::DynamoStore;
use office::office::Office;
use office::port::Alerts;
use queue::{Outgoing, Queue, Received};
use serde_json::{Value, json};
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

/// Runs intake with one failing call. Returns whether intake makes that many calls.
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
    world.faults.has_failed()
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
async fn processes_that_receive_the_same_letters_count_them_once() {
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
        // Each stands for a process, with its own connections and caches. Each letter goes to three of them.
        let config = connect::to_endpoint(&ENDPOINT.url).await;
        let own = DynamoStore::new(&config, store.table_name());
        let office = Office { store: Arc::new(own), ..world.office.clone() };
        let batch: Vec<_> = (0..60).map(|n| messages[(first * 20 + n) % 120].clone()).collect();
        processes.spawn(async move { office::intake::keep(&office, batch).await });
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
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    let replay = world.run(&plan.id, &works, "v2").await;
    assert!(replay.is_finished());
    assert_eq!(world.ledger(&plan.id).await.total().delivered, 25);
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.tally(LetterStateKind::Delivered).letters, 25);
}

#[tokio::test]
async fn letters_with_a_missing_payload_are_left_out_of_a_plan() {
    let mut world = World::new().await;
    world.office.payloads = Arc::new(S3Payloads::new(&connect::to_endpoint(&ENDPOINT.url).await));
    let mut policy = Policy::clone(&world.office.policy);
    policy.replay.send_pointers = true;
    world.office.policy = Arc::new(policy);

    let bucket = new_name("payloads");
    connect::provide_tls();
    let http = local::http::client().build().expect("a client");
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
    world.declare_fix(&group, "v2").await;
    let plan = world.plan(&group, &PlanOptions::default()).await;
    let left_out: Vec<_> = plan.left_out.iter().map(|row| (row.letters, &*row.reason)).collect();
    assert_eq!((plan.letters.letters, left_out), (2, vec![(2, "with a payload missing from S3")]));
    assert_eq!(plan.unchecked, []);
}

/// Includes content that is too large for its record and is stored in parts.
#[tokio::test]
async fn everything_goes_back_as_it_came() {
    harness::carried::everything_goes_back_as_it_came(&world().await).await;
}

/// Calls a service of the endpoint in JSON.
async fn call(target: &str, service: &str, body: Value) -> Value {
    connect::provide_tls();
    let request = local::http::client().build().expect("a client").post(&ENDPOINT.url).header("x-amz-target", target);
    // MiniStack checks no signature.
    let signed = format!("AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4");
    let request = request.header("content-type", "application/x-amz-json-1.1").header("authorization", signed);
    let answer = request.body(body.to_string()).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{target}: {}", answer.status());
    answer.json().await.unwrap_or_default()
}

#[tokio::test]
async fn alerts_are_events_that_a_rule_delivers() {
    let config = connect::to_endpoint(&ENDPOINT.url).await;
    let queue = SqsQueue::new(&config);
    let arn = queue.create(&new_name("alerts"), &[]).await.expect("a queue");
    let (bus, rule) = (new_name("bus"), new_name("rule"));
    call("AWSEvents.CreateEventBus", "events", json!({ "Name": bus })).await;
    let pattern = json!({ "source": [SOURCE], "detail": { "level": ["critical"] } }).to_string();
    call("AWSEvents.PutRule", "events", json!({ "Name": rule, "EventBusName": bus, "EventPattern": pattern })).await;
    let targets = json!([{ "Id": "alerts", "Arn": arn.as_str() }]);
    call("AWSEvents.PutTargets", "events", json!({ "Rule": rule, "EventBusName": bus, "Targets": targets })).await;

    let alerts = EventBridgeAlerts::new(&config, &bus, Some("https://office.example/".into()));
    let alert = |level, title: &str| Alert {
        kind: AlertKind::ReplayPaused,
        level,
        at: Timestamp::from_ms(1_700_000_000_000),
        group: Some("3fa9".into()),
        replay: Some("r-1".into()),
        title: title.into(),
        summary: String::new(),
        advice: "Open the replay.".into(),
    };
    alerts.raise(&alert(Severity::Info, "not critical")).await.expect("the bus accepts it");
    alerts.raise(&alert(Severity::Critical, "Replay paused: \u{1F4EE}")).await.expect("the bus accepts it");
    let mut received = Vec::new();
    while received.is_empty() {
        received = queue.receive(&arn, 10, Span::from_secs(5), None).await.expect("a receive");
    }
    let events: Vec<Value> =
        received.iter().map(|m| serde_json::from_str(&m.content.body).expect("an event")).collect();
    let [event] = events.as_slice() else { panic!("one event matches the rule: {events:?}") };
    assert_eq!((&event["source"], &event["detail-type"]), (&json!(SOURCE), &json!("Replay paused")));
    assert_eq!(event["detail"]["title"], "Replay paused: \u{1F4EE}");
    assert_eq!(event["detail"]["url"], "https://office.example/groups/3fa9");
    assert_eq!((&event["detail"]["kind"], &event["detail"]["replay"]), (&json!("replay_paused"), &json!("r-1")));

    let nowhere = EventBridgeAlerts::new(&config, "arn:aws:events:us-east-1:000000000000:rule/no-bus", None);
    nowhere.raise(&alert(Severity::Critical, "lost")).await.expect_err("the bus does not exist");
}
