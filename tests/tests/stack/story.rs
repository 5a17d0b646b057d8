//! The story through a deployed stack: `cargo aws up`, then `cargo aws test`.
//!
//! The demo's consumer is a function that really fails. Its orders die by SQS's redrive, deployed functions store and
//! count them, and replays that two people agreed on deliver them, although events arrive twice and a function is killed
//! in the middle of a wave.

mod alerts;

use alerts::AlertListener;

use dlo_tests::deployed::{Deployed, until, variable};
use dlo_tests::processes::{self, Process};
use domain::id::{GroupId, QueueArn, ReplayId};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::read::Stamp;
use domain::replay::{PauseReason, ReplayState, WaveLedger};
use domain::time::Timestamp;
use harness::world::order;
use lambda::connect;
use lambda::queue::SqsQueue;
use libtest_mimic::Trial;
use local::orders::{Kind, function};
use office::office::StepMessage;
use queue::Queue;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::SystemTime;
use tokio::runtime::Runtime;
use wire::{GroupRow, GroupsAnswer, PlanAnswer, ReplayAnswer};

const MAIN: &str = "arn:aws:sqs:us-east-1:000000000000:orders";
/// Orders that die by SQS's redrive because the consumer does not start.
const REDRIVEN: u64 = 20;
/// Orders that the consumer of version 1 gives up on.
const GIFT_CARDS: u64 = 100;
/// Letters that the test passes to intake itself.
const BY_HAND: u64 = 5;

struct Story {
    stack: Deployed,
    queue: SqsQueue,
    main: QueueArn,
    otto: String,
    anna: String,
}

impl Story {
    async fn begin() -> Self {
        let stack = Deployed::find();
        let queue = SqsQueue::new(&connect::to_endpoint(&stack.endpoint).await);
        let (otto, anna) = (variable("DLO_STACK_OPERATOR"), variable("DLO_STACK_APPROVER"));
        Self { stack, queue, main: QueueArn::from(MAIN), otto, anna }
    }

    async fn groups(&self) -> GroupsAnswer {
        self.stack.get(&self.otto, "/groups").await
    }

    async fn place(&self, count: u64, kind: Kind) {
        function::place(&self.queue, &self.main, count, Some(kind), now()).await.expect("orders are placed");
    }

    /// Waits until `letters` more letters are open than `before`. Returns the groups with more open letters, and how
    /// many more.
    async fn counted(&self, before: &GroupsAnswer, letters: u64) -> Vec<(GroupRow, i64)> {
        let expected = before.summary.open_letters + letters.cast_signed();
        let open_before =
            |id: &GroupId| before.groups.iter().find(|row| row.id == *id).map_or(0, |row| row.open.letters);
        until(&format!("{expected} open letters"), async || {
            let now = self.groups().await;
            assert!(now.summary.open_letters <= expected, "{} open letters", now.summary.open_letters);
            let more = |row: GroupRow| {
                let more = row.open.letters - open_before(&row.id);
                (more != 0).then_some((row, more))
            };
            (now.summary.open_letters == expected).then(|| now.groups.into_iter().filter_map(more).collect())
        })
        .await
    }

    /// Declares a fix and makes a plan.
    async fn plan(&self, group: &GroupId, version: &str) -> PlanAnswer {
        self.declare(group, version).await;
        let plan = self.stack.done(&self.otto, &format!("/groups/{group}/plan"), json!({})).await;
        serde_json::from_value(plan).expect("a plan")
    }

    async fn declare(&self, group: &GroupId, version: &str) {
        let fix = json!({ "kind": "deploy", "reference": version });
        self.stack.done(&self.otto, &format!("/groups/{group}/fix"), fix).await;
    }

    /// Posts a request until the gate opens, which happens once the group has been quiet for long enough.
    async fn through_the_gate(&self, path: &str, request: Value) {
        until("the gate opens", async || {
            let (status, answer) = self.stack.post(&self.anna, path, request.clone()).await;
            assert!(status == StatusCode::OK || answer["code"] == "gate_closed", "{status}: {answer}");
            (status == StatusCode::OK).then_some(())
        })
        .await;
    }

    async fn approve(&self, group: &GroupId, plan: &PlanAnswer) -> ReplayId {
        let request = json!({ "plan_hash": plan.hash, "reason": "tested", "waivers": [] });
        let path = format!("/groups/{group}/approve");
        let (status, answer) = self.stack.post(&self.otto, &path, request.clone()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "the operator cannot approve: {answer}");
        self.through_the_gate(&path, request).await;
        plan.plan.id.clone()
    }

    async fn replay(&self, id: &ReplayId) -> ReplayAnswer {
        self.stack.get(&self.otto, &format!("/replays/{id}")).await
    }

    async fn finished(&self, id: &ReplayId) -> WaveLedger {
        let look = async || {
            let view = self.replay(id).await;
            assert!(!view.replay.is_paused(), "{:?}", view.replay.state);
            view.replay.is_finished().then_some(view.total)
        };
        until("the replay finishes", look).await
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
    Timestamp::from_ms(i64::try_from(since.as_millis()).expect("a time in range"))
}

/// An event as the event source mapping of the dead-letter queue makes it: letters of one group, one of them twice.
fn letters_by_hand() -> Value {
    let run = now().as_ms();
    let stamp =
        Stamp { error_type: Some("orders::stock::Sold".into()), message: Some("sold".into()), ..Stamp::default() };
    let letter = |n: u64| {
        json!({
            "messageId": format!("by-hand-{run}-{n}"), "receiptHandle": "none", "body": order(n),
            "attributes": { "SentTimestamp": "1790000000000", "ApproximateReceiveCount": "4" },
            "messageAttributes": { (FAILURE_ATTRIBUTE): { "dataType": "String", "stringValue": stamp.print() } },
            "eventSource": "aws:sqs", "eventSourceARN": format!("{MAIN}-dlq"), "awsRegion": "us-east-1",
        })
    };
    json!({ "Records": (0..BY_HAND).chain([0]).map(letter).collect::<Vec<_>>() })
}

/// A step of a replay, as the event source mapping of the queue of steps passes it on.
fn step(replay: &ReplayId) -> Value {
    let body = serde_json::to_string(&StepMessage { replay: replay.clone(), nudge: true, chain: 0 }).expect("a step");
    let record = json!({ "messageId": "by-hand", "body": body, "eventSourceARN": "arn:aws:sqs:us-east-1:0:steps" });
    json!({ "Records": [record] })
}

/// The story as one test.
pub fn trial(runtime: &'static Runtime) -> Trial {
    let name = "story::orders_that_failed_are_counted_once_and_delivered_once_the_right_fix_is_in";
    crate::trial(runtime, name, orders_are_counted_once_and_delivered_once)
}

async fn orders_are_counted_once_and_delivered_once() {
    let story = Story::begin().await;
    let forged = story.stack.ask("forged", Method::GET, "/groups", None).await.0;
    assert_eq!(forged, StatusCode::UNAUTHORIZED);
    let before = Measured::read(&story).await;
    let redriven = dies_by_redrive(&story).await;
    let cards = dies_of_a_bug(&story).await;
    arrives_twice(&story).await;
    let alerts = AlertListener::start(&story.stack, &story.queue, now().as_ms()).await;
    let replay = pauses_by_itself(&story, &cards).await;
    let alert = alerts.alert_on(&story.queue, &replay).await;
    assert_eq!((&alert["kind"], &alert["group"]), (&json!("replay_paused"), &json!(cards.id)), "{alert}");
    alerts.delete(&story.stack).await;
    finishes_with_the_right_fix(&story, &cards, &replay).await;
    survives_a_kill(&story, &redriven).await;
    metrics_match(&story, &before).await;
}

/// The consumer does not start: after three receives SQS moves the orders, without error details.
async fn dies_by_redrive(story: &Story) -> GroupRow {
    let before = story.groups().await;
    story.stack.deploy("v0").await;
    story.place(REDRIVEN, Kind::Good).await;
    let new = story.counted(&before, REDRIVEN).await;
    assert_eq!(new.iter().map(|(_, more)| more).sum::<i64>(), REDRIVEN.cast_signed());
    assert!(new.iter().all(|(group, _)| group.queue == "orders"), "{new:?}");
    new.into_iter().max_by_key(|(_, more)| *more).expect("a group").0
}

/// Version 1 panics on gift cards, and the consumer's stamp names the location.
async fn dies_of_a_bug(story: &Story) -> GroupRow {
    story.stack.deploy("v1").await;
    // Sweep records deployments once a minute. After a manual deployment of v2, it would miss the change back to v1.
    let (failed, answer) = story.stack.invoke("Sweep", &json!({})).await;
    assert!(!failed, "{answer}");
    let before = story.groups().await;
    story.place(GIFT_CARDS, Kind::GiftCard).await;
    let new = story.counted(&before, GIFT_CARDS).await;
    let [(group, more)] = new.as_slice() else { panic!("one group: {new:?}") };
    assert_eq!((*more, group.open.priced), (GIFT_CARDS.cast_signed(), group.open.letters));
    assert_eq!(group.consumer.as_deref(), Some("orders"));
    assert!(group.title.contains("index out of bounds"), "{}", group.title);
    group.clone()
}

/// Intake receives the same event twice at once, and once more.
async fn arrives_twice(story: &Story) {
    let (before, event) = (story.groups().await, letters_by_hand());
    let (one, other) = tokio::join!(story.stack.invoke("Intake", &event), story.stack.invoke("Intake", &event));
    let third = story.stack.invoke("Intake", &event).await;
    for answer in [one, other, third] {
        assert_eq!(answer, (false, json!({ "batchItemFailures": [] })));
    }
    let new = story.counted(&before, BY_HAND).await;
    let [(_, more)] = new.as_slice() else { panic!("one group: {new:?}") };
    assert_eq!(*more, BY_HAND.cast_signed());
}

/// Version 2 is the wrong fix: letters return, and the replay pauses itself.
async fn pauses_by_itself(story: &Story, group: &GroupRow) -> ReplayId {
    story.stack.deploy("v2").await;
    let plan = story.plan(&group.id, "v2").await;
    let id = story.approve(&group.id, &plan).await;
    let look = async || story.replay(&id).await.replay.is_paused().then_some(());
    until("the replay pauses", look).await;
    let view = story.replay(&id).await;
    let ReplayState::Paused { why: PauseReason::TooManyReturned { returned, sent, .. }, .. } = view.replay.state else {
        panic!("it did not pause itself: {:?}", view.replay.state)
    };
    assert!(returned > 0 && sent >= returned && view.total.pending > 0, "{:?}", view.total);
    // Sweep and intake send the metric; CloudWatch raises the alarm.
    until("the alarm on paused replays", async || (story.stack.alarm("ReplayPaused").await == "ALARM").then_some(()))
        .await;
    id
}

/// Version 3 is the right fix. Each step arrives twice at once.
async fn finishes_with_the_right_fix(story: &Story, group: &GroupRow, id: &ReplayId) {
    story.stack.deploy("v3").await;
    story.declare(&group.id, "v3").await;
    let look = async || {
        let total = story.replay(id).await.total;
        (total.in_flight + total.sending == 0).then_some(())
    };
    until("letters sent before the pause have an outcome", look).await;
    let resume = format!("/replays/{id}/resume");
    story.through_the_gate(&resume, json!({ "reason": "v3 is live", "waivers": [] })).await;
    let event = step(id);
    let look = async || {
        let (one, other) = tokio::join!(story.stack.invoke("Replay", &event), story.stack.invoke("Replay", &event));
        assert!(!one.0 && !other.0, "{one:?} {other:?}");
        let view = story.replay(id).await;
        assert!(!view.replay.is_paused(), "{:?}", view.replay.state);
        view.replay.is_finished().then_some(view.total)
    };
    let total = until("the replay finishes", look).await;
    // Includes letters of the same group from an earlier `cargo aws demo`.
    let all = group.open.letters.cast_unsigned();
    assert_eq!(total.selected(), all);
    assert_eq!((total.delivered + total.returned, total.sent_twice), (all, 0), "{total:?}");

    let plan = story.stack.done(&story.otto, &format!("/groups/{}/plan", group.id), json!({})).await;
    let plan: PlanAnswer = serde_json::from_value(plan).expect("a plan");
    assert_eq!(plan.plan.letters.letters, total.returned.cast_signed(), "the returned letters");
    let id = story.approve(&group.id, &plan).await;
    let finished = story.finished(&id).await;
    assert_eq!(finished.delivered, total.returned);
    assert!(finished.confirmed > 0, "the consumer sends receipts: {finished:?}");
    let now = story.groups().await;
    let now = now.groups.iter().find(|row| row.id == group.id).expect("the group");
    assert_eq!((now.open.letters, now.delivered - group.delivered), (0, group.open.letters));
}

/// The replay function is killed while it may be sending; sweep restarts the chain of steps.
async fn survives_a_kill(story: &Story, group: &GroupRow) {
    let function = story.stack.function("Replay").await;
    let variables = story.stack.variables(&function).await;
    let mut marked = variables.clone();
    marked[processes::RUN] = processes::run().into();
    story.stack.set_variables(&function, &marked).await;
    let plan = story.plan(&group.id, "v3").await;
    let id = story.approve(&group.id, &plan).await;
    until("a letter is sent", async || (story.replay(&id).await.total.sent() > 0).then_some(())).await;
    let found = Process::with_variable("AWS_LAMBDA_FUNCTION_NAME", &function);
    assert!(!found.is_empty(), "no process of {function} belongs to this test run");
    found.iter().for_each(Process::kill);
    let look = async || {
        let (failed, answer) = story.stack.invoke("Sweep", &json!({})).await;
        assert!(!failed, "{answer}");
        let view = story.replay(&id).await;
        view.replay.is_finished().then_some(view.total)
    };
    let total = until("the replay finishes", look).await;
    assert_eq!(total.delivered, group.open.letters.cast_unsigned(), "{total:?}");
    story.stack.set_variables(&function, &variables).await;
}

/// The metrics in CloudWatch, and the counters in the store.
struct Measured {
    delivered: f64,
    returned: f64,
    deaths: f64,
    in_store: i64,
}

impl Measured {
    async fn read(story: &Story) -> Self {
        Self {
            delivered: story.stack.metric("Delivered", "Sum").await,
            returned: story.stack.metric("Returned", "Sum").await,
            deaths: story.stack.metric("AgeAtDeath", "SampleCount").await,
            in_store: story.groups().await.groups.iter().map(|group| group.delivered).sum(),
        }
    }
}

async fn metrics_match(story: &Story, before: &Measured) {
    let waiting = story.queue.attributes(&story.main).await.expect("the main queue").visible_count;
    assert_eq!(waiting, 0, "the consumer has processed every sent letter");
    let now = until("deliveries are measured", async || {
        let now = Measured::read(story).await;
        (now.delivered - before.delivered == (now.in_store - before.in_store) as f64).then_some(now)
    })
    .await;
    // Letters without a stamp carry no time of their last failure.
    let deaths = GIFT_CARDS as f64 + now.returned - before.returned;
    assert!(now.returned > before.returned, "{} returned", now.returned);
    assert_eq!(now.deaths - before.deaths, deaths, "each death is measured once");
}
