//! The story through a deployed stack: `cargo aws up`, then `cargo aws test`. The demo's consumer is a function that
//! really fails; its orders die by real redrive, real functions keep and count them, and replays that two people agreed
//! on deliver them, though events come twice and a function is killed in the middle of a wave.

mod told;

use dlo_tests::deployed::{Deployed, until, variable};
use domain::id::{GroupId, QueueArn, ReplayId};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::read::Stamp;
use domain::replay::{PauseReason, ReplayState, WaveLedger};
use domain::time::Timestamp;
use harness::world::order;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::orders::{Kind, function};
use office::office::StepMessage;
use queue::Queue;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::SystemTime;
use told::Told;
use wire::{GroupRow, GroupsAnswer, PlanView, ReplayView};

const MAIN: &str = "arn:aws:sqs:us-east-1:000000000000:orders";
/// Orders that die by SQS's own redrive, because the consumer does not start.
const REDRIVEN: u64 = 20;
/// Orders that the consumer of version 1 gives up on.
const GIFT_CARDS: u64 = 100;
/// Letters that are handed to intake by hand.
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

    /// Waits until so many more letters are open than before; the groups that they are in, and how many in each.
    async fn counted(&self, before: &GroupsAnswer, letters: u64) -> Vec<(GroupRow, i64)> {
        let expected = before.summary.open_letters + letters.cast_signed();
        let open_before =
            |id: &GroupId| before.groups.iter().find(|row| row.id == *id).map_or(0, |row| row.open.letters);
        until(&format!("{expected} open letters"), async || {
            let now = self.groups().await;
            assert!(now.summary.open_letters <= expected, "{} letters are counted", now.summary.open_letters);
            let more = |row: GroupRow| {
                let more = row.open.letters - open_before(&row.id);
                (more != 0).then_some((row, more))
            };
            (now.summary.open_letters == expected).then(|| now.groups.into_iter().filter_map(more).collect())
        })
        .await
    }

    /// Declares a fix and plans.
    async fn plan(&self, group: &GroupId, version: &str) -> PlanView {
        self.declare(group, version).await;
        let plan = self.stack.done(&self.otto, &format!("/groups/{group}/plan"), json!({})).await;
        serde_json::from_value(plan).expect("a plan")
    }

    async fn declare(&self, group: &GroupId, version: &str) {
        let fix = json!({ "kind": "deploy", "reference": version });
        self.stack.done(&self.otto, &format!("/groups/{group}/fix"), fix).await;
    }

    /// Asks until the gate opens, which it does by itself once the group has been quiet for long enough.
    async fn through_the_gate(&self, path: &str, ask: Value) {
        until("the gate opens", async || {
            let (status, answer) = self.stack.post(&self.anna, path, ask.clone()).await;
            assert!(status == StatusCode::OK || answer["code"] == "gate_closed", "{status}: {answer}");
            (status == StatusCode::OK).then_some(())
        })
        .await;
    }

    async fn approve(&self, group: &GroupId, plan: &PlanView) -> ReplayId {
        let ask = json!({ "plan_hash": plan.hash, "reason": "tested", "waivers": [] });
        let path = format!("/groups/{group}/approve");
        let (status, answer) = self.stack.post(&self.otto, &path, ask.clone()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "four eyes: {answer}");
        self.through_the_gate(&path, ask).await;
        plan.plan.id.clone()
    }

    async fn replay(&self, id: &ReplayId) -> ReplayView {
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
    Timestamp::from_ms(i64::try_from(since.as_millis()).expect("years to come"))
}

/// An event as a mapping of the dead-letter queue makes it: letters of one cause, one of them twice.
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

/// A step of a replay, as the mapping of the queue of steps hands it over.
fn step(replay: &ReplayId) -> Value {
    let body = serde_json::to_string(&StepMessage { replay: replay.clone(), nudge: true }).expect("a step");
    let record = json!({ "messageId": "by-hand", "body": body, "eventSourceARN": "arn:aws:sqs:us-east-1:0:steps" });
    json!({ "Records": [record] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_that_failed_are_counted_once_and_delivered_once_the_right_fix_is_in() {
    let story = Story::begin().await;
    let forged = story.stack.ask("forged", Method::GET, "/groups", None).await.0;
    assert_eq!(forged, StatusCode::UNAUTHORIZED);
    let before = Measured::of(&story).await;
    let redriven = dies_by_redrive(&story).await;
    let cards = dies_of_a_bug(&story).await;
    comes_twice(&story).await;
    let told = Told::listen(&story.stack, &story.queue, now().as_ms()).await;
    let replay = stops_by_itself(&story, &cards).await;
    let alert = told.of(&story.queue, &replay).await;
    assert_eq!((&alert["kind"], &alert["group"]), (&json!("replay_stopped"), &json!(cards.id)), "{alert}");
    told.end(&story.stack).await;
    goes_on_with_the_right_fix(&story, &cards, &replay).await;
    survives_a_kill(&story, &redriven).await;
    is_measured(&story, &before).await;
}

/// A version that does not start: three receives, then SQS moves the orders. They say nothing of why.
async fn dies_by_redrive(story: &Story) -> GroupRow {
    let before = story.groups().await;
    story.stack.deploy("v0").await;
    story.place(REDRIVEN, Kind::Good).await;
    let new = story.counted(&before, REDRIVEN).await;
    assert_eq!(new.iter().map(|(_, more)| more).sum::<i64>(), REDRIVEN.cast_signed());
    assert!(new.iter().all(|(group, _)| group.queue == "orders"), "{new:?}");
    new.into_iter().max_by_key(|(_, more)| *more).expect("a group").0
}

/// Version 1 panics on gift cards, and the consumer's stamp says where.
async fn dies_of_a_bug(story: &Story) -> GroupRow {
    story.stack.deploy("v1").await;
    // Who has just deployed v2 by hand would otherwise be taken for one who never went back: sweep looks each minute.
    let (failed, answer) = story.stack.invoke("Sweep", &json!({})).await;
    assert!(!failed, "{answer}");
    let before = story.groups().await;
    story.place(GIFT_CARDS, Kind::GiftCard).await;
    let new = story.counted(&before, GIFT_CARDS).await;
    let [(group, more)] = new.as_slice() else { panic!("one cause: {new:?}") };
    assert_eq!((*more, group.open.priced), (GIFT_CARDS.cast_signed(), group.open.letters));
    assert_eq!(group.consumer.as_deref(), Some("orders"));
    assert!(group.title.contains("index out of bounds"), "{}", group.title);
    group.clone()
}

/// The same event is delivered to intake twice at once, and once more.
async fn comes_twice(story: &Story) {
    let (before, event) = (story.groups().await, letters_by_hand());
    let (one, other) = tokio::join!(story.stack.invoke("Intake", &event), story.stack.invoke("Intake", &event));
    let third = story.stack.invoke("Intake", &event).await;
    for answer in [one, other, third] {
        assert_eq!(answer, (false, json!({ "batchItemFailures": [] })));
    }
    let new = story.counted(&before, BY_HAND).await;
    let [(_, more)] = new.as_slice() else { panic!("one cause: {new:?}") };
    assert_eq!(*more, BY_HAND.cast_signed());
}

/// Version 2 is the wrong fix: letters come back, and the replay stops by itself.
async fn stops_by_itself(story: &Story, group: &GroupRow) -> ReplayId {
    story.stack.deploy("v2").await;
    let plan = story.plan(&group.id, "v2").await;
    let id = story.approve(&group.id, &plan).await;
    let look = async || story.replay(&id).await.replay.is_paused().then_some(());
    until("the replay stops", look).await;
    let view = story.replay(&id).await;
    let ReplayState::Paused { why: PauseReason::TooManyReturned { returned, sent, .. }, .. } = view.replay.state else {
        panic!("it stopped by itself: {:?}", view.replay.state)
    };
    assert!(returned * 2 > sent && view.total.pending > 0, "{:?}", view.total);
    // Sweep and intake measure; the alarm on it is CloudWatch's.
    until("the alarm on paused replays", async || (story.stack.alarm("ReplayPaused").await == "ALARM").then_some(()))
        .await;
    id
}

/// Version 3 is the right one. Its steps come twice, at once.
async fn goes_on_with_the_right_fix(story: &Story, group: &GroupRow, id: &ReplayId) {
    story.stack.deploy("v3").await;
    story.declare(&group.id, "v3").await;
    let look = async || {
        let total = story.replay(id).await.total;
        (total.in_flight + total.sending == 0).then_some(())
    };
    until("what was sent before the stop has its outcome", look).await;
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
    // With those of the same cause that somebody placed before: `cargo aws demo` comes before `cargo aws test`.
    let all = group.open.letters.cast_unsigned();
    assert_eq!(total.selected(), all);
    assert_eq!((total.delivered + total.returned, total.sent_twice), (all, 0), "{total:?}");

    let plan = story.stack.done(&story.otto, &format!("/groups/{}/plan", group.id), json!({})).await;
    let rest: PlanView = serde_json::from_value(plan).expect("a plan");
    assert_eq!(rest.plan.letters.letters, total.returned.cast_signed(), "what came back");
    let id = story.approve(&group.id, &rest).await;
    let finished = story.finished(&id).await;
    assert_eq!(finished.delivered, total.returned);
    assert!(finished.confirmed > 0, "the consumer tells what it has processed: {finished:?}");
    let now = story.groups().await;
    let now = now.groups.iter().find(|row| row.id == group.id).expect("the group");
    assert_eq!((now.open.letters, now.delivered - group.delivered), (0, group.open.letters));
}

/// The function that sends is killed while it may be sending; sweep starts the chain of steps anew.
async fn survives_a_kill(story: &Story, group: &GroupRow) {
    let plan = story.plan(&group.id, "v3").await;
    let id = story.approve(&group.id, &plan).await;
    until("something is sent", async || (story.replay(&id).await.total.sent() > 0).then_some(())).await;
    kill(&story.stack.function("Replay").await);
    let look = async || {
        let (failed, answer) = story.stack.invoke("Sweep", &json!({})).await;
        assert!(!failed, "{answer}");
        let view = story.replay(&id).await;
        view.replay.is_finished().then_some(view.total)
    };
    let total = until("the replay finishes", look).await;
    assert_eq!(total.delivered, group.open.letters.cast_unsigned(), "{total:?}");
}

/// Ends every process of a function at once, as the platform may.
fn kill(function: &str) {
    let wanted = format!("AWS_LAMBDA_FUNCTION_NAME={function}\0");
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(&wanted) {
            let pid = process.file_name().to_string_lossy().into_owned();
            // It may be gone already.
            let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
        }
    }
}

/// What CloudWatch was told, and what the store says.
struct Measured {
    delivered: f64,
    returned: f64,
    deaths: f64,
    in_store: i64,
}

impl Measured {
    async fn of(story: &Story) -> Self {
        Self {
            delivered: story.stack.metric("Delivered", "Sum").await,
            returned: story.stack.metric("Returned", "Sum").await,
            deaths: story.stack.metric("AgeAtDeath", "SampleCount").await,
            in_store: story.groups().await.groups.iter().map(|group| group.delivered).sum(),
        }
    }
}

async fn is_measured(story: &Story, before: &Measured) {
    let waiting = story.queue.attributes(&story.main).await.expect("the main queue").visible_count;
    assert_eq!(waiting, 0, "the consumer has taken what was sent");
    let now = until("deliveries are measured", async || {
        let now = Measured::of(story).await;
        (now.delivered - before.delivered == (now.in_store - before.in_store) as f64).then_some(now)
    })
    .await;
    // Letters without a stamp do not say when they failed last.
    let deaths = GIFT_CARDS as f64 + now.returned - before.returned;
    assert!(now.returned > before.returned, "{} returned", now.returned);
    assert_eq!(now.deaths - before.deaths, deaths, "each death once");
}
