//! The demo service on the embedded queue: each failure is real and carries a stamp.

mod outage;

use super::generate::generate;
use super::{Kind, Mix, Orders, OrdersConfig, OrdersHandle, State, Version, message_type_rules};
use crate::queue::{EmbeddedQueue, QueueSettings};
use consumer::Class;
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::DeadMessage;
use domain::policy::Policy;
use domain::read::{Stamp, read};
use domain::reading::{Category, Reading};
use domain::time::{Span, Timestamp};
use queue::Queue as _;
use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const START_MS: i64 = 1_763_600_000_000;
/// Patience for tests in which the payment service answers: a busy machine must not turn an answer into a timeout.
const LONG: Span = Span::from_secs(20);
/// Patience for tests in which it hangs.
const SHORT: Span = Span::from_ms(50);

pub(super) struct World {
    pub queue: Arc<EmbeddedQueue>,
    clock: Arc<AtomicI64>,
    folder: TempDir,
    pub main: QueueArn,
    dlq: QueueArn,
}

impl World {
    pub async fn new() -> Self {
        Self::with_receives(2).await
    }

    async fn with_receives(receives_max: u32) -> Self {
        let clock = Arc::new(AtomicI64::new(START_MS));
        let read = clock.clone();
        let now = Arc::new(move || Timestamp::from_ms(read.load(SeqCst)));
        let queue = Arc::new(EmbeddedQueue::open_in_memory(now).unwrap());
        let arn = |name: &str| QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"));
        let (main, dlq) = (arn("orders"), arn("orders-dlq"));
        queue.create_queue(&dlq, QueueSettings::default()).await.unwrap();
        queue.create_queue(&main, QueueSettings::default().dead_letters_to(&dlq, receives_max)).await.unwrap();
        Self { queue, clock, folder: tempfile::tempdir().unwrap(), main, dlq }
    }

    fn config(&self) -> OrdersConfig {
        OrdersConfig {
            orders_per_s: 0,
            payments_patience: LONG,
            now: self.now(),
            ..OrdersConfig::new(self.main.clone(), self.dlq.clone(), self.state_file())
        }
    }

    pub fn now(&self) -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
        let clock = self.clock.clone();
        Arc::new(move || Timestamp::from_ms(clock.load(SeqCst)))
    }

    fn state_file(&self) -> std::path::PathBuf {
        Path::join(self.folder.path(), "orders.json")
    }

    async fn start(&self) -> OrdersHandle {
        self.start_with(LONG).await
    }

    async fn start_with(&self, payments_patience: Span) -> OrdersHandle {
        let config = OrdersConfig { payments_patience, ..self.config() };
        Orders::start(self.queue.clone(), config).await.unwrap()
    }

    pub fn pass(&self, span: Span) {
        self.clock.fetch_add(span.as_ms(), SeqCst);
        self.queue.clock_moved();
    }

    pub async fn readings(&self) -> Vec<(Stamp, Reading)> {
        let policy = Policy { message_types: message_type_rules(), ..Policy::default() };
        let dead = self.queue.peek(&self.dlq, 1_000).await.unwrap();
        let read_one = |dead: crate::queue::Peeked| {
            let stamp = Stamp::parse(dead.content.attributes[FAILURE_ATTRIBUTE].as_text().unwrap()).unwrap();
            let message = DeadMessage {
                dlq: self.dlq.clone(),
                message_id: dead.message_id,
                content: dead.content,
                system: dead.system,
            };
            (stamp, read(&message, &policy))
        };
        dead.into_iter().map(read_one).collect()
    }

    async fn groups(&self) -> BTreeSet<String> {
        self.readings().await.iter().map(|(_, reading)| reading.group.to_string()).collect()
    }
}

pub(super) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("this should not take 60 s")
}

/// Waits until `count` orders were handled or dead-lettered since the file was created.
async fn settled(orders: &OrdersHandle, count: u64) -> State {
    soon(orders.wait_for(|state| state.handled_count + state.dead_count >= count)).await;
    orders.status().await.state
}

async fn check(kind: Kind, error_type: &str, text: &str, category: Category, thrown_in: &str) {
    let world = World::new().await;
    let orders = world.start().await;
    orders.place(1, Mix::Only(kind)).await.unwrap();
    assert_eq!(settled(&orders, 1).await.dead_count, 1, "{kind:?}");
    orders.shut_down().await;
    let (stamp, reading) = world.readings().await.remove(0);
    assert_eq!(stamp.error_type.as_deref(), Some(error_type), "{kind:?}");
    let message = stamp.message.unwrap_or_default();
    assert!(message.contains(text), "{kind:?}: {message}");
    let stack = stamp.stack.unwrap_or_default();
    assert!(stack.starts_with(&format!("   0: {thrown_in}\n")), "{kind:?}: {stack}");
    assert_eq!((stamp.class, stamp.attempts), (Some(Class::Permanent), Some(1)), "{kind:?}");
    assert_eq!(stamp.consumer_version.as_deref(), Some("v1"));
    let classification = &reading.diagnosis.classification;
    assert_eq!(
        (classification.class, classification.category),
        (Class::Permanent, category),
        "{kind:?}: {classification:?}"
    );
    if kind != Kind::Malformed {
        assert!(
            reading.diagnosis.impact.money.is_some()
                && reading.diagnosis.impact.customer.is_some()
                && reading.diagnosis.impact.deadline.is_some()
        );
    }
}

#[tokio::test]
async fn each_failure_is_stamped_with_its_own_error() {
    use Category::*;
    //    kind                  error type                             text                         category          thrown in
    check(Kind::GiftCard, "panic", "index out of bounds", ConsumerBug, "orders::pricing::shipping").await;
    check(
        Kind::Malformed,
        "serde_json::error::Error",
        "EOF while parsing a string",
        MalformedPayload,
        "orders::service::read",
    )
    .await;
    check(
        Kind::UnknownProduct,
        "orders::catalogue::ProductNotFound",
        "sku_2187",
        MissingReference,
        "orders::service::price",
    )
    .await;
    check(
        Kind::Expired,
        "orders::deadline::DeadlinePassed",
        "was due by",
        Expired,
        "orders::service::Service::process",
    )
    .await;
    check(
        Kind::DeletedTenant,
        "orders::tenant::TenantDeleted",
        "elmwood",
        InvalidTenant,
        "orders::service::Service::process",
    )
    .await;
}

#[tokio::test]
async fn a_hanging_payment_service_is_retried_then_dead_lettered() {
    let world = World::new().await;
    let orders = world.start_with(SHORT).await;
    orders.set_payments(false);
    orders.place(1, Mix::Only(Kind::Good)).await.unwrap();
    soon(orders.wait_for(|state| state.retried_count == 1)).await;
    world.pass(Span::from_secs(30));
    assert_eq!(settled(&orders, 1).await.dead_count, 1);
    orders.shut_down().await;
    let (stamp, reading) = world.readings().await.remove(0);
    assert_eq!(stamp.error_type.as_deref(), Some("orders::payments::PaymentTimeout"));
    assert!(
        stamp.message.as_deref().unwrap_or_default().starts_with("payments did not answer within 50 ms: "),
        "{stamp:?}"
    );
    assert_eq!((stamp.class, stamp.attempts), (Some(Class::Transient), Some(2)));
    let classification = reading.diagnosis.classification;
    assert_eq!((classification.class, classification.category), (Class::Transient, Category::Timeout));
}

#[tokio::test]
async fn orders_pass_once_payments_are_back() {
    let world = World::new().await;
    let orders = world.start_with(Span::from_secs(2)).await;
    orders.set_payments(false);
    orders.place(5, Mix::Only(Kind::Good)).await.unwrap();
    soon(orders.wait_for(|state| state.retried_count == 5)).await;
    orders.set_payments(true);
    world.pass(Span::from_secs(30));
    assert_eq!(settled(&orders, 5).await.handled_count, 5);
    orders.shut_down().await;
    assert_eq!(payments(&world), [1; 5]);
}

#[tokio::test]
async fn the_wrong_fix_helps_new_orders_and_the_right_fix_all() {
    let world = World::new().await;
    let orders = world.start().await;
    let waited = Timestamp::from_ms(START_MS).minus(Span::from_secs(10));
    let place_again = async || {
        let old = |number| generate(&world.main, 1, number, Mix::Only(Kind::GiftCard), waited);
        for batch in (1..=40).map(old).collect::<Vec<_>>().chunks(10) {
            world.queue.send_batch(&world.main, batch).await.unwrap();
        }
    };
    let mut dead_count = Vec::new();
    for (at, version) in (0..).zip(Version::ALL) {
        orders.deploy(version);
        orders.place(40, Mix::Only(Kind::GiftCard)).await.unwrap();
        dead_count.push(settled(&orders, 80 * at + 40).await.dead_count);
        place_again().await;
        dead_count.push(settled(&orders, 80 * at + 80).await.dead_count);
    }
    orders.shut_down().await;
    let died: Vec<u64> = dead_count.iter().scan(0, |before, n| Some(n - std::mem::replace(before, *n))).collect();
    assert_eq!(died[..2], [40, 40], "v1 fails on all");
    assert_eq!(died[2], 0, "v2 fails on no new order");
    assert!((21..40).contains(&died[3]), "v2 fails on most orders that have waited: {}", died[3]);
    assert_eq!(died[4..], [0, 0], "v3 fails on none");
    assert_eq!(world.groups().await.len(), 1, "the wrong fix fails at the same place");
}

#[tokio::test]
async fn adding_the_product_repairs_its_orders() {
    let world = World::new().await;
    let orders = world.start().await;
    orders.place(3, Mix::Only(Kind::UnknownProduct)).await.unwrap();
    assert_eq!(settled(&orders, 3).await.dead_count, 3);
    orders.add_product();
    orders.place(3, Mix::Only(Kind::UnknownProduct)).await.unwrap();
    assert_eq!(settled(&orders, 6).await.handled_count, 3);
    orders.shut_down().await;
    assert_eq!(world.groups().await.len(), 1);
}

#[tokio::test]
async fn each_kind_of_failure_is_one_group() {
    for kind in [Kind::GiftCard, Kind::Malformed, Kind::UnknownProduct, Kind::Expired, Kind::DeletedTenant] {
        let world = World::new().await;
        let orders = world.start().await;
        orders.place(30, Mix::Only(kind)).await.unwrap();
        assert_eq!(settled(&orders, 30).await.dead_count, 30);
        orders.shut_down().await;
        let titles: BTreeSet<String> =
            world.readings().await.into_iter().map(|(_, reading)| reading.diagnosis.title).collect();
        assert_eq!(world.groups().await.len(), 1, "{kind:?}: {titles:?}");
    }
}

#[tokio::test]
async fn state_and_numbering_survive_a_restart() {
    let world = World::new().await;
    let orders = world.start_with(SHORT).await;
    orders.deploy(Version::V2);
    orders.set_payments(false);
    orders.add_product();
    orders.place(2, Mix::Only(Kind::GiftCard)).await.unwrap();
    orders.shut_down().await;
    let before = orders.status().await.state;
    let restarted = world.start().await;
    assert_eq!(restarted.status().await.state, before);
    assert_eq!((before.version, before.payments_up, before.product_added), (Version::V2, false, true));
    restarted.place(1, Mix::Only(Kind::DeletedTenant)).await.unwrap();
    assert_eq!(restarted.status().await.state.placed_count, 3);
    restarted.shut_down().await;
}

#[tokio::test]
async fn the_counters_of_a_killed_demo_are_known() {
    let world = World::new().await;
    let orders = world.start().await;
    orders.place(3, Mix::Only(Kind::GiftCard)).await.unwrap();
    settled(&orders, 3).await;
    // Nothing else changes the state, and nobody shuts the demo down.
    soon(async {
        while super::state::State::read(&world.state_file()).unwrap().is_none_or(|state| state.dead_count < 3) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    orders.shut_down().await;
}

#[tokio::test]
async fn the_producer_pauses_itself() {
    let world = World::new().await;
    let config = OrdersConfig { orders_per_s: 1_000, orders_max: 5, ..world.config() };
    let orders = Orders::start(world.queue.clone(), config).await.unwrap();
    soon(orders.wait_for(|state| !state.producing)).await;
    assert_eq!(orders.status().await.state.placed_count, 5);
    orders.set_producing(true);
    soon(orders.wait_for(|state| !state.producing && state.placed_count == 10)).await;
    orders.shut_down().await;
}

#[tokio::test]
async fn deployments_are_reported() {
    let world = World::new().await;
    let reported = Arc::new(Mutex::new(Vec::new()));
    let report = reported.clone();
    let config = OrdersConfig { on_deploy: Arc::new(move |made| report.lock().unwrap().push(made)), ..world.config() };
    let orders = Orders::start(world.queue.clone(), config).await.unwrap();
    orders.deploy(Version::V3);
    orders.shut_down().await;
    let at = Timestamp::from_ms(START_MS);
    let expected = Deployment { service: "orders".into(), version: "v3".into(), commit: None, at };
    assert_eq!(*reported.lock().unwrap(), [expected]);
}

#[test]
fn the_same_seed_gives_the_same_orders() {
    let queue = QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders");
    let now = Timestamp::from_ms(START_MS);
    let orders = |seed| -> Vec<_> { (1..50).map(|number| generate(&queue, seed, number, Mix::Usual, now)).collect() };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
}

#[test]
fn about_fifteen_of_a_hundred_orders_are_bad() {
    let mut chance = super::chance::Chance::for_order(1, 1);
    let bad = (0..10_000).filter(|_| Mix::Usual.kind(&mut chance) != Kind::Good).count();
    assert!((1_300..1_700).contains(&bad), "{bad}");
}

/// Returns how often each key was paid.
fn payments(world: &World) -> Vec<u64> {
    let ledger = rusqlite::Connection::open(world.folder.path().join(super::LEDGER)).unwrap();
    let mut rows = ledger.prepare("SELECT count(*) FROM payment GROUP BY key").unwrap();
    rows.query_map([], |row| row.get::<_, i64>(0)).unwrap().map(|n| n.unwrap().cast_unsigned()).collect()
}

#[tokio::test]
async fn an_order_that_is_delivered_twice_is_paid_once_and_says_so() {
    let world = World::new().await;
    let orders = world.start().await;
    let now = Timestamp::from_ms(START_MS);
    let placed: Vec<_> = (1..=5).map(|number| generate(&world.main, 1, number, Mix::Only(Kind::Good), now)).collect();
    for _ in 0..3 {
        world.queue.send_batch(&world.main, &placed).await.unwrap();
    }
    assert_eq!(settled(&orders, 15).await.handled_count, 15);
    orders.place(1, Mix::Only(Kind::GiftCard)).await.unwrap();
    settled(&orders, 16).await;
    orders.shut_down().await;
    assert_eq!(payments(&world), [1; 5]);
    let dead = world.queue.peek(&world.dlq, 1).await.unwrap().remove(0);
    let stamp = dead.content.attributes[FAILURE_ATTRIBUTE].as_text().unwrap();
    assert!(stamp.contains(r#""idempotent":true"#), "{stamp}");
    assert!(stamp.contains(r#""idempotency_key":"order.placed-ord_000001-"#), "{stamp}");
}
