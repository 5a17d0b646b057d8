//! The consumer crate on the embedded queue: handled, retried and dead-lettered messages.

mod batches;
mod faults;
mod killed;
mod receipts;
mod resilience;
mod shutdown;
mod world;

use async_trait::async_trait;
use consumer::{Class, Failure, Handler, Outcome};
use domain::id::{LetterId, ReplayId};
use domain::limits::ATTRIBUTES_MAX;
use domain::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE, Marker};
use domain::message::{Attribute, AttributeValue, Content};
use domain::read::Stamp;
use domain::time::{Span, Timestamp};
use queue::Received;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use tokio::sync::Notify;
use world::{ByBody, START_MS, World, content, soon, stamp};

#[tokio::test]
async fn handled_messages_are_deleted() {
    let world = World::new(3).await;
    for _ in 0..25 {
        world.send(content("good")).await;
    }
    let mut running = world.run(ByBody);
    for _ in 0..25 {
        assert_eq!(running.next().await.1, Outcome::Handled);
    }
    running.shut_down().await;
    assert!(world.main_is_empty().await && world.dead().await.is_empty());
}

#[tokio::test]
async fn a_permanent_failure_is_dead_lettered_at_once_with_its_whole_content() {
    let world = World::new(3).await;
    let marker = Marker {
        letter: LetterId::from_message(&world.main, &"m".into()),
        replay: ReplayId::new("a".repeat(32)),
        attempt: 2,
        seq: 0,
    };
    let of_type = |data_type: &str, value| Attribute { data_type: data_type.into(), value };
    let sent = Content {
        body: "permanent".into(),
        attributes: [
            (MARKER_ATTRIBUTE, Attribute::text(marker.print())),
            ("cents", of_type("Number.cents", AttributeValue::Text("012990".into()))),
            ("sum", of_type("Binary.sha", AttributeValue::Binary("AP8=".into()))),
        ]
        .map(|(name, attribute)| (name.to_string(), attribute))
        .into(),
        message_group_id: Some("acme".into()),
        trace_header: Some("Root=1-5759e988-bd862e3fe1be46a994272793".into()),
    };
    let id = world.send(sent.clone()).await;
    let mut running = world.run_on(world.queue.clone(), ByBody, |config| {
        config.message_type = |_| Some("order.placed".into());
    });
    assert!(matches!(running.next().await.1, Outcome::DeadLettered { .. }));
    running.shut_down().await;

    let mut dead = world.dead().await;
    assert_eq!(dead.len(), 1);
    let now = Some(Timestamp::from_ms(START_MS));
    let expected = Stamp {
        v: 1,
        error_type: Some("orders::NotFound".into()),
        message: Some("no such product".into()),
        stack: None,
        class: Some(Class::Permanent),
        consumer: Some("orders".into()),
        consumer_version: Some("v1".into()),
        message_type: Some("order.placed".into()),
        attempts: Some(1),
        original_message_id: Some(id),
        main_queue: Some(world.main.clone()),
        first_sent_at: now,
        first_received_at: now,
        failed_at: now,
    };
    assert_eq!(stamp(&dead[0]), expected);
    dead[0].content.attributes.remove(FAILURE_ATTRIBUTE);
    assert_eq!(dead[0].content, sent);
    assert!(world.main_is_empty().await);
}

#[tokio::test]
async fn a_transient_failure_waits_longer_each_time_then_dies_with_its_reason() {
    let world = World::new(4).await;
    world.send(content("transient")).await;
    let mut running = world.run(ByBody);
    for ceiling_s in [1, 2, 4] {
        let (_, Outcome::Retried { after, .. }) = running.next().await else { panic!("it should be retried") };
        assert_eq!(after, Span::from_secs(ceiling_s));
        world.advance(after);
    }
    assert!(matches!(running.next().await.1, Outcome::DeadLettered { .. }));
    running.shut_down().await;
    let stamp = stamp(&world.dead().await[0]);
    assert_eq!((stamp.attempts, stamp.class), (Some(4), Some(Class::Transient)));
    assert_eq!(stamp.failed_at, Some(Timestamp::from_ms(START_MS + 7_000)));
    assert!(world.main_is_empty().await);
}

#[tokio::test]
async fn a_panic_fails_its_message_and_not_the_loop() {
    let world = World::new(1).await;
    world.send(content("panic")).await;
    let mut running = world.run(ByBody);
    let (_, Outcome::DeadLettered { failure, .. }) = running.next().await else { panic!("it should be dead") };
    // The office's reader calls a panic a bug of the consumer.
    assert_eq!((failure.class, failure.message.as_str()), (Class::Permanent, "this order is broken"));
    world.send(content("good")).await;
    assert_eq!(running.next().await, ("good".into(), Outcome::Handled));
    running.shut_down().await;
    let stamp = stamp(&world.dead().await[0]);
    assert_eq!((stamp.error_type.as_deref(), stamp.class), (Some("panic"), Some(Class::Permanent)));
    assert!(stamp.stack.is_some_and(|stack| stack.contains("world.rs")));
}

#[tokio::test]
async fn a_handler_that_outlasts_the_visibility_timeout_is_cancelled() {
    let world = World::with(1, "", Span::from_secs(1)).await;
    world.send(content("slow")).await;
    let mut running = world.run(ByBody);
    let (_, Outcome::DeadLettered { failure, .. }) = running.next().await else { panic!("it should be dead") };
    assert_eq!((failure.class, failure.error_type.as_str()), (Class::Transient, "consumer::HandlerTimeout"));
    running.shut_down().await;
}

#[tokio::test]
async fn without_room_for_the_stamp_the_queue_redrives_the_message() {
    let world = World::new(3).await;
    let attributes = (0..ATTRIBUTES_MAX).map(|n| (format!("a{n}"), Attribute::number("1"))).collect();
    let sent = Content { attributes, ..content("permanent") };
    world.send(sent.clone()).await;
    let mut running = world.run(ByBody);
    for _ in 0..3 {
        assert!(matches!(running.next().await.1, Outcome::Retried { after: Span::ZERO, .. }));
    }
    // The next receive moves it, without an outcome of the consumer.
    soon(async {
        while world.dead().await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    running.shut_down().await;
    let dead = world.dead().await;
    assert_eq!((&dead[0].content, &dead[0].system.source_queue), (&sent, &Some(world.main.clone())));
}

#[tokio::test]
async fn each_message_is_stamped_with_the_version_that_failed_on_it() {
    let world = World::new(3).await;
    let version = Arc::new(AtomicU32::new(1));
    let current = version.clone();
    let mut running = world.run_on(world.queue.clone(), ByBody, |config| {
        config.version = Arc::new(move || format!("v{}", current.load(SeqCst)));
    });
    for deployed in [1, 2, 3] {
        version.store(deployed, SeqCst);
        world.send(content("permanent")).await;
        running.next().await;
    }
    running.shut_down().await;
    let versions: Vec<_> = world.dead().await.iter().filter_map(|dead| stamp(dead).consumer_version).collect();
    assert_eq!(versions, ["v1", "v2", "v3"]);
}

/// A handler that waits until the test releases it.
struct Held {
    entered: Arc<Notify>,
    release: Arc<Notify>,
}

#[async_trait]
impl Handler for Held {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        self.entered.notify_one();
        self.release.notified().await;
        Ok(())
    }
}

#[tokio::test]
async fn shutdown_finishes_received_messages() {
    let world = World::new(3).await;
    world.send(content("good")).await;
    let (entered, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let running = world.run(Held { entered: entered.clone(), release: release.clone() });
    soon(entered.notified()).await;
    running.shutdown.send_replace(true);
    assert!(!running.task.is_finished());
    release.notify_one();
    running.shut_down().await;
    assert!(world.main_is_empty().await);
}

#[tokio::test]
async fn a_fifo_group_keeps_its_order_while_its_first_message_is_retried() {
    let world = World::with(2, ".fifo", Span::from_secs(30)).await;
    for body in ["transient", "good-1", "good-2"] {
        world.send(Content { message_group_id: Some("acme".into()), ..content(body) }).await;
    }
    let mut running = world.run(ByBody);
    let (first, Outcome::Retried { after, .. }) = running.next().await else { panic!("it should be retried") };
    assert_eq!(first, "transient");
    world.advance(after);
    let mut settled = Vec::new();
    for _ in 0..3 {
        settled.push(running.next().await.0);
    }
    assert_eq!(settled, ["transient", "good-1", "good-2"]);
    running.shut_down().await;
    let dead = world.dead().await;
    assert_eq!(dead[0].content.message_group_id.as_deref(), Some("acme"));
    assert_eq!(dead[0].system.deduplication_id, stamp(&dead[0]).original_message_id.map(|id| id.to_string()));
}
