//! `dlo open` against a real dead-letter queue, as MiniStack plays it: looking leaves it as it was, custody empties it
//! and replays for real.
#![cfg(feature = "aws")]

use consumer::queue::{Outgoing, Queue};
use dlo_tests::endpoint::Endpoint;
use dlo_tests::world::order;
use domain::fix::FixKind;
use domain::id::{Actor, QueueArn};
use domain::message::Content;
use domain::policy::{GatePolicy, Policy, ReplayPolicy};
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use lambda::aws::connect;
use lambda::aws::queue::SqsQueue;
use lambda::error::OfficeError;
use local::open::{OpenConfig, OpenError, Opened};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

const LETTERS: usize = 25;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

struct World {
    queue: SqsQueue,
    main: QueueArn,
    dlq: QueueArn,
    folder: TempDir,
}

impl World {
    /// Letters that died by redrive.
    async fn new() -> Self {
        static WORLDS: AtomicU64 = AtomicU64::new(0);
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let queue = SqsQueue::new(&connect::to_endpoint(&ENDPOINT.url).await);
        let dlq = queue.create(&format!("shop-{number}-dlq"), &[]).await.expect("a queue");
        let redrive = format!(r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":1}}"#, dlq.as_str());
        let attributes = [("RedrivePolicy", redrive), ("VisibilityTimeout", "1".to_owned())];
        let main = queue.create(&format!("shop-{number}"), &attributes).await.expect("a queue");
        let world = Self { queue, main, dlq, folder: TempDir::new().expect("a folder") };
        for n in 0..LETTERS as u64 {
            let content = Content { body: order(n), ..Content::default() };
            let sent = world.queue.send_batch(&world.main, &[Outgoing { content, ..Outgoing::default() }]).await;
            assert!(sent.expect("the main queue").iter().all(Result::is_ok));
        }
        // Seen once and let go; the next receive moves them.
        until("the orders are dead", async || {
            world.queue.receive(&world.main, 10, Span::ZERO, Some(Span::ZERO)).await.expect("a receive");
            (world.visible().await == LETTERS as u64).then_some(())
        })
        .await;
        world
    }

    async fn open(&self, custody: bool) -> Opened {
        self.try_open(&self.dlq, custody).await.expect("an office")
    }

    async fn try_open(&self, queue: &QueueArn, custody: bool) -> Result<Opened, OpenError> {
        let window =
            ReplayPolicy { window_slack_ms: Span::from_ms(500), rest_ms: Span::ZERO, ..ReplayPolicy::default() };
        let gate = GatePolicy { quiet_ms: Span::ZERO, ..GatePolicy::default() };
        let config = OpenConfig {
            aws: connect::to_endpoint(&ENDPOINT.url).await,
            queue: format!("{}/000000000000/{}", ENDPOINT.url, queue.name()),
            main: None,
            custody,
            folder: self.folder.path().to_owned(),
            port: 0,
            policy: Policy { gate, replay: window, ..Policy::default() },
        };
        Opened::start(config).await
    }

    async fn visible(&self) -> u64 {
        self.queue.attributes(&self.dlq).await.expect("the queue").visible_count
    }

    /// How often each letter was received, this time included. Leaves them in sight.
    async fn receives(&self) -> BTreeMap<String, u32> {
        let mut receives = BTreeMap::new();
        let mut handles = Vec::new();
        while receives.len() < LETTERS {
            for letter in self.queue.receive(&self.dlq, 10, Span::ZERO, None).await.expect("a receive") {
                receives.insert(letter.content.body, letter.system.receive_count.unwrap_or_default());
                handles.push(letter.receipt_handle);
            }
        }
        for handle in &handles {
            self.queue.change_visibility(&self.dlq, handle, Span::ZERO).await.expect("a change");
        }
        receives
    }
}

async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "did not come true: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The letters that are open, and the only group.
async fn open_letters(opened: &Opened) -> (i64, Option<domain::id::GroupId>) {
    let page = opened.office.store.groups(i64::MAX, None, 10).await.expect("groups");
    let open = page.items.iter().map(|facts| facts.counts.open().letters).sum();
    (open, page.items.first().map(|facts| facts.group.id.clone()))
}

#[tokio::test]
async fn looking_leaves_every_letter_where_it_was() {
    let world = World::new().await;
    let before = world.receives().await;
    let opened = world.open(false).await;
    assert_eq!((opened.looked_at, open_letters(&opened).await.0), (Some(LETTERS), LETTERS as i64));
    assert_eq!(world.visible().await, LETTERS as u64, "all can be seen again at once");
    let after = world.receives().await;
    let expected: BTreeMap<_, _> = before.into_iter().map(|(body, receives)| (body, receives + 2)).collect();
    assert_eq!(after, expected, "received once more by the office, and once by this test");
    let links = opened.links.print().expect("links");
    assert!(links.contains("viewer") && !links.contains("operator") && !links.contains("approver"), "{links}");
    opened.close().await;
    let again = world.open(false).await;
    assert_eq!(
        (again.looked_at, open_letters(&again).await.0),
        (Some(LETTERS), LETTERS as i64),
        "nothing was remembered"
    );
    again.close().await;
}

#[tokio::test]
async fn queue_that_moves_letters_on_is_not_looked_at() {
    let world = World::new().await;
    let Err(OpenError::MovesOn { receives_max, .. }) = world.try_open(&world.main, false).await else {
        panic!("it was opened")
    };
    assert_eq!(receives_max, 1);
}

#[tokio::test]
async fn custody_takes_every_letter_and_a_replay_delivers_it_for_real() {
    let world = World::new().await;
    let opened = world.open(true).await;
    until("every letter is in custody", async || {
        let done = world.visible().await == 0 && open_letters(&opened).await.0 == LETTERS as i64;
        done.then_some(())
    })
    .await;
    let (office, group) = (&opened.office, open_letters(&opened).await.1.expect("a group"));
    let (otto, anna) = (Actor::from("otto"), Actor::from("anna"));
    let fix = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(office, &otto, &group, &fix).await.expect("a fix");
    let plan = act::make_plan(office, &otto, &group, &PlanOptions::default()).await.expect("a plan");
    let approve = Approve { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    until("the gate opens", async || match act::approve(office, &anna, &group, &approve).await {
        Ok(_) => Some(()),
        Err(OfficeError::GateClosed(_)) => None,
        Err(error) => panic!("{error}"),
    })
    .await;
    let mut processed = BTreeMap::new();
    until("every letter is delivered", async || {
        for message in world.queue.receive(&world.main, 10, Span::ZERO, None).await.expect("a receive") {
            *processed.entry(message.content.body).or_insert(0) += 1;
            world.queue.delete_batch(&world.main, &[message.receipt_handle]).await.expect("a delete");
        }
        office.store.replay(&plan.id).await.expect("the store").is_some_and(|replay| replay.is_finished()).then_some(())
    })
    .await;
    let expected: BTreeMap<_, _> = (0..LETTERS as u64).map(|n| (order(n), 1)).collect();
    assert_eq!(processed, expected, "each once, as it was");
    assert_eq!(open_letters(&opened).await.0, 0);
    opened.close().await;
}
