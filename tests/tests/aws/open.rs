//! `dlo open` against a real dead-letter queue, as MiniStack and LocalStack emulate it: looking leaves the queue as it was,
//! custody empties it and replays for real, and receipts end a replay before its windows do.

use consumer::{Consumer, ConsumerConfig, Failure, Handler};
use dlo_tests::endpoint::new_name;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::{Actor, QueueArn, ReplayId};
use domain::message::Content;
use domain::policy::{GatePolicy, Policy, ReplayPolicy};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::order;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::open::{OpenConfig, OpenError, Opened};
use office::act;
use office::error::OfficeError;
use queue::{Outgoing, Queue, Received};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;
use wire::{ApproveRequest, DeclareFixRequest, WaiverRequest};

/// Makes a module with a test of each case at an endpoint; `skip` names cases that the endpoint cannot run.
macro_rules! cases_at {
    ($endpoint:ident: $($case:ident),*; $(skip $skipped:ident: $reason:literal),*) => {
        mod $endpoint {
            use dlo_tests::endpoint::Endpoint;
            use std::sync::LazyLock;

            static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::$endpoint);

            $(
                #[tokio::test]
                async fn $case() {
                    super::$case(&ENDPOINT.url).await;
                }
            )*

            $(
                #[test]
                fn $skipped() {
                    dlo_tests::skipped::report(module_path!(), stringify!($skipped), $reason);
                }
            )*
        }
    };
}

cases_at! { ministack:
    looking_leaves_every_letter_where_it_was,
    main_queue_is_refused_with_and_without_custody,
    custody_takes_every_letter_and_a_replay_delivers_it_for_real,
    receipts_deliver_long_before_the_windows_end,
    queue_with_letters_is_refused_for_receipts;
    skip chain_is_opened_with_custody_only: "MiniStack lacks ListDeadLetterSourceQueues",
    skip letters_without_a_source_go_to_the_only_queue_that_names_theirs: "MiniStack lacks ListDeadLetterSourceQueues"
}

cases_at! { localstack:
    looking_leaves_every_letter_where_it_was,
    main_queue_is_refused_with_and_without_custody,
    custody_takes_every_letter_and_a_replay_delivers_it_for_real,
    receipts_deliver_long_before_the_windows_end,
    queue_with_letters_is_refused_for_receipts,
    chain_is_opened_with_custody_only,
    letters_without_a_source_go_to_the_only_queue_that_names_theirs;
}

const LETTERS: usize = 25;
/// The deadline for every condition.
const DEADLINE: Duration = Duration::from_secs(60);

struct World {
    endpoint: String,
    queue: Arc<SqsQueue>,
    main: QueueArn,
    dlq: QueueArn,
    folder: TempDir,
}

impl World {
    /// Creates empty queues.
    async fn empty(endpoint: &str) -> Self {
        Self::with_dlq(endpoint, &[]).await
    }

    /// Creates empty queues. The dead-letter queue has these attributes.
    async fn with_dlq(endpoint: &str, attributes: &[(&str, String)]) -> Self {
        let queue = SqsQueue::new(&connect::to_endpoint(endpoint).await);
        let dlq = queue.create(&new_name("shop-dlq"), attributes).await.expect("a queue");
        let redrive = redrive_to(&dlq);
        let attributes = [("RedrivePolicy", redrive), ("VisibilityTimeout", "1".to_owned())];
        let main = queue.create(&new_name("shop"), &attributes).await.expect("a queue");
        let folder = TempDir::new().expect("a folder");
        Self { endpoint: endpoint.to_owned(), queue: Arc::new(queue), main, dlq, folder }
    }

    async fn place(&self, queue: &QueueArn) {
        for n in 0..LETTERS as u64 {
            self.send(queue, order(n)).await;
        }
    }

    async fn send(&self, queue: &QueueArn, body: String) {
        let content = Content { body, ..Content::default() };
        let sent = self.queue.send_batch(queue, &[Outgoing { content, ..Outgoing::default() }]).await;
        assert!(sent.expect("the queue").iter().all(Result::is_ok));
    }

    /// Creates queues with letters that died by redrive.
    async fn new(endpoint: &str) -> Self {
        let world = Self::empty(endpoint).await;
        world.place(&world.main).await;
        // Each is received once and visible again at once; the next receive moves it.
        until("the orders are dead", async || {
            world.queue.receive(&world.main, 10, Span::ZERO, Some(Span::ZERO)).await.expect("a receive");
            (world.visible().await == LETTERS as u64).then_some(())
        })
        .await;
        world
    }

    async fn look(&self) -> Opened {
        Opened::start(OpenConfig { custody: false, ..self.config().await }).await.expect("an office")
    }

    /// Opens the queue with custody, and waits until every letter is in custody.
    async fn custody(&self, config: OpenConfig) -> Opened {
        let opened = Opened::start(config).await.expect("an office");
        until("every letter is in custody", async || {
            let done = self.visible().await == 0 && open_letters(&opened).await.0 == LETTERS as i64;
            done.then_some(())
        })
        .await;
        opened
    }

    /// Returns the configuration for custody of the dead-letter queue.
    async fn config(&self) -> OpenConfig {
        let window =
            ReplayPolicy { window_slack_ms: Span::from_ms(500), wave_delay_ms: Span::ZERO, ..ReplayPolicy::default() };
        let gate = GatePolicy { quiet_ms: Span::ZERO, ..GatePolicy::default() };
        OpenConfig {
            aws: connect::to_endpoint(&self.endpoint).await,
            queue: self.url(&self.dlq).await,
            main: None,
            receipts: None,
            custody: true,
            folder: self.folder.path().to_owned(),
            port: 0,
            accept_damage: false,
            user: "maria".into(),
            policy: Policy { gate, replay: window, ..Policy::default() },
            dashboard: &[],
        }
    }

    /// Returns the URL of a queue, as the endpoint prints it.
    async fn url(&self, queue: &QueueArn) -> String {
        self.queue.url(queue).await.expect("an address")
    }

    async fn visible(&self) -> u64 {
        self.queue.attributes(&self.dlq).await.expect("the queue").visible_count
    }

    /// Consumes the main queue until the replay is finished. Returns how often each body came.
    async fn processed_until_finished(&self, opened: &Opened, replay: &ReplayId) -> BTreeMap<String, u32> {
        let mut processed = BTreeMap::new();
        until("every letter is delivered", async || {
            for message in self.queue.receive(&self.main, 10, Span::ZERO, None).await.expect("a receive") {
                *processed.entry(message.content.body).or_insert(0) += 1;
                self.queue.delete_batch(&self.main, &[message.receipt_handle]).await.expect("a delete");
            }
            is_finished(opened, replay).await.then_some(())
        })
        .await;
        processed
    }

    /// Receives every letter and makes it visible again. Returns the receive count of each body.
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

fn redrive_to(dlq: &QueueArn) -> String {
    format!(r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":1}}"#, dlq.as_str())
}

async fn until<T>(what: &str, check: impl AsyncFnMut() -> Option<T>) -> T {
    harness::running::until(what, DEADLINE, check).await
}

/// Returns the number of open letters, and the only group.
async fn open_letters(opened: &Opened) -> (i64, Option<domain::id::GroupId>) {
    let page = opened.office.store.groups(i64::MAX, None, 10).await.expect("groups");
    let open = page.items.iter().map(|facts| facts.counts.open().letters).sum();
    (open, page.items.first().map(|facts| facts.variant.id.clone()))
}

/// Approves a replay of the only group.
async fn approved(opened: &Opened, options: &PlanOptions) -> ReplayId {
    let (office, group) = (&opened.office, open_letters(opened).await.1.expect("a group"));
    let (otto, anna) = (Actor::from("otto"), Actor::from("anna"));
    let fix = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2".into(), note: None, transform: None };
    act::declare_fix(office, &otto, &group, &fix).await.expect("a fix");
    let plan = act::make_plan(office, &otto, &group, options).await.expect("a plan");
    // The orders carry money, and these consumers say nothing of themselves.
    let waiver = WaiverRequest { condition: ConditionKind::SafeToRepeat, reason: "tested".into() };
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: vec![waiver] };
    until("the gate opens", async || match act::approve(office, &anna, &group, &approve).await {
        Ok(_) => Some(()),
        Err(OfficeError::GateClosed(_)) => None,
        Err(error) => panic!("{error}"),
    })
    .await;
    plan.id
}

async fn is_finished(opened: &Opened, replay: &ReplayId) -> bool {
    opened.office.store.replay(replay).await.expect("the store").is_some_and(|replay| replay.is_finished())
}

/// Returns every order once.
fn each_once() -> BTreeMap<String, u32> {
    (0..LETTERS as u64).map(|n| (order(n), 1)).collect()
}

async fn looking_leaves_every_letter_where_it_was(endpoint: &str) {
    let world = World::new(endpoint).await;
    let before = world.receives().await;
    let opened = world.look().await;
    assert_eq!((opened.peeked_count, open_letters(&opened).await.0), (Some(LETTERS), LETTERS as i64));
    assert_eq!(world.visible().await, LETTERS as u64, "every letter is visible again at once");
    let after = world.receives().await;
    let expected: BTreeMap<_, _> = before.into_iter().map(|(body, receives)| (body, receives + 2)).collect();
    assert_eq!(after, expected, "received once more by the office, and once by this test");
    let links = opened.links.print().expect("links");
    assert!(links.contains("viewer") && !links.contains("operator") && !links.contains("approver"), "{links}");
    assert!(links.contains("maria"), "{links}");
    opened.close().await;
    let again = world.look().await;
    assert_eq!(
        (again.peeked_count, open_letters(&again).await.0),
        (Some(LETTERS), LETTERS as i64),
        "the first look stored nothing"
    );
    again.close().await;
}

async fn main_queue_is_refused_with_and_without_custody(endpoint: &str) {
    let world = World::empty(endpoint).await;
    world.place(&world.main).await;
    for custody in [false, true] {
        let config = OpenConfig { queue: world.url(&world.main).await, custody, ..world.config().await };
        let Err(error @ OpenError::MainQueue { .. }) = Opened::start(config).await else {
            panic!("the queue was opened")
        };
        let said = error.to_string();
        assert!(said.contains("looks like a main queue") && !said.contains("--custody"), "{said}");
        assert!(said.ends_with(&format!("dlo open --queue {}", world.url(&world.dlq).await)), "{said}");
        // MiniStack lacks the call that tells.
        let is_unread = said.contains("could not be checked") && said.contains("sqs:ListDeadLetterSourceQueues");
        assert!(is_unread || said.contains("no queue names it as its dead-letter queue"), "{said}");
        let main = world.queue.attributes(&world.main).await.expect("the queue");
        assert_eq!((main.visible_count, main.in_flight_count), (LETTERS as u64, 0), "nothing was received");
    }
}

async fn chain_is_opened_with_custody_only(endpoint: &str) {
    let queue = SqsQueue::new(&connect::to_endpoint(endpoint).await);
    let next = queue.create(&new_name("shop-dlq-dlq"), &[]).await.expect("a queue");
    let world = World::with_dlq(endpoint, &[("RedrivePolicy", redrive_to(&next))]).await;
    world.place(&world.dlq).await;
    let config = OpenConfig { custody: false, ..world.config().await };
    let Err(OpenError::MovesOn { receives_max, .. }) = Opened::start(config).await else {
        panic!("the queue was opened")
    };
    assert_eq!(receives_max, 1);
    world.custody(world.config().await).await.close().await;
}

async fn custody_takes_every_letter_and_a_replay_delivers_it_for_real(endpoint: &str) {
    let world = World::new(endpoint).await;
    let opened = world.custody(world.config().await).await;
    let replay = approved(&opened, &PlanOptions::default()).await;
    assert_eq!(world.processed_until_finished(&opened, &replay).await, each_once());
    assert_eq!(open_letters(&opened).await.0, 0);
    opened.close().await;
}

struct Works;

#[async_trait::async_trait]
impl Handler for Works {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        Ok(())
    }
}

async fn receipts_deliver_long_before_the_windows_end(endpoint: &str) {
    let world = World::new(endpoint).await;
    let receipts = world.queue.create(&new_name("receipts"), &[]).await.expect("a queue");
    world.send(&receipts, order(0)).await;
    let config = OpenConfig { receipts: Some(world.url(&receipts).await), ..world.config().await };
    let opened = world.custody(config).await;
    let an_hour = PlanOptions { window_s: Some(3600), ..PlanOptions::default() };
    let replay = approved(&opened, &an_hour).await;
    let (shutdown, receiver) = watch::channel(false);
    let config = ConsumerConfig {
        wait: Span::from_secs(1),
        receipts: Some(receipts.clone()),
        ..ConsumerConfig::new(world.main.clone(), "orders", || "v2".into())
    };
    let consumer = tokio::spawn(Consumer::new(config, world.queue.clone(), Arc::new(Works)).run(receiver));
    until("every letter is confirmed", async || is_finished(&opened, &replay).await.then_some(())).await;
    let total = opened.office.store.ledger(&replay).await.expect("the store").total();
    assert_eq!((total.delivered, total.confirmed), (LETTERS as u64, LETTERS as u64));
    shutdown.send_replace(true);
    consumer.await.expect("the consumer ends");
    opened.close().await;
    let remaining = world.queue.attributes(&receipts).await.expect("the queue");
    assert_eq!(remaining.visible_count + remaining.in_flight_count, 1, "a message that is not a receipt stays");
}

async fn queue_with_letters_is_refused_for_receipts(endpoint: &str) {
    let world = World::empty(endpoint).await;
    for wrong in [&world.dlq, &world.main] {
        let receipts = Some(world.url(wrong).await);
        let config = OpenConfig { receipts, main: Some(world.main.clone()), ..world.config().await };
        let Err(OpenError::NotForReceipts { queue }) = Opened::start(config).await else {
            panic!("the queue was opened")
        };
        assert_eq!(queue, *wrong);
    }
}

async fn letters_without_a_source_go_to_the_only_queue_that_names_theirs(endpoint: &str) {
    let world = World::empty(endpoint).await;
    world.place(&world.dlq).await;
    let config = OpenConfig { receipts: Some(world.url(&world.main).await), ..world.config().await };
    assert!(matches!(Opened::start(config).await, Err(OpenError::NotForReceipts { .. })), "it is a main queue");
    let opened = world.custody(world.config().await).await;
    let replay = approved(&opened, &PlanOptions::default()).await;
    assert_eq!(world.processed_until_finished(&opened, &replay).await, each_once());
    opened.close().await;
}
