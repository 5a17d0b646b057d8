//! The embedded queue beyond the port, and its limits. The conformance suite tests the port itself.

use super::*;
use domain::message::Content;
use queue::Redrive;
use rusqlite::Connection;
use std::sync::atomic::{AtomicI64, Ordering};

struct World {
    queues: EmbeddedQueue,
    ms: Arc<AtomicI64>,
}

impl World {
    fn new() -> Self {
        let ms = Arc::new(AtomicI64::new(1_000_000));
        let read = ms.clone();
        let clock: Clock = Arc::new(move || Timestamp::from_ms(read.load(Ordering::SeqCst)));
        Self { queues: EmbeddedQueue::open_in_memory(clock).expect("memory opens"), ms }
    }

    fn pass(&self, span: Span) {
        self.ms.fetch_add(span.as_ms(), Ordering::SeqCst);
        self.queues.clock_moved();
    }

    async fn queue(&self, name: &str, settings: QueueSettings) -> QueueArn {
        let queue = arn(name);
        self.queues.create_queue(&queue, settings).await.expect("the settings are valid");
        queue
    }

    async fn send(&self, queue: &QueueArn, bodies: &[&str]) {
        let message = |body: &&str| Outgoing {
            content: Content {
                body: (*body).into(),
                message_group_id: queue.is_fifo().then(|| (*body).into()),
                ..Content::default()
            },
            deduplication_id: queue.is_fifo().then(|| (*body).into()),
            delay: Span::ZERO,
        };
        let batch: Vec<Outgoing> = bodies.iter().map(message).collect();
        let sent = self.queues.send_batch(queue, &batch).await.expect("answered");
        assert!(sent.iter().all(Result::is_ok));
    }

    async fn receive(&self, queue: &QueueArn) -> Vec<Received> {
        self.queues.receive(queue, 10, Span::ZERO, None).await.expect("answered")
    }
}

fn arn(name: &str) -> QueueArn {
    QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"))
}

fn refused<T: std::fmt::Debug>(result: Result<T, QueueError>) -> String {
    match result {
        Err(QueueError::Invalid { reason, .. }) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn same_queue_may_be_created_twice_but_not_with_other_settings() {
    let world = World::new();
    let dlq = world.queue("orders-dlq", QueueSettings::default()).await;
    let settings = QueueSettings::default().dead_letters_to(&dlq, 3);
    let queue = world.queue("orders", settings.clone()).await;
    world.queues.create_queue(&queue, settings.clone()).await.expect("the same settings");
    let other = QueueSettings { retention: Span::from_days(1), ..settings.clone() };
    assert!(refused(world.queues.create_queue(&queue, other.clone()).await).contains("QueueAlreadyExists"));
    assert_eq!(world.queues.settings(&queue).await.expect("it exists"), settings);
    world.queues.configure(&queue, other.clone()).await.expect("settings may change");
    assert_eq!(world.queues.settings(&queue).await.expect("it exists"), other);
    let nowhere = world.queues.configure(&arn("nowhere"), other).await;
    assert!(matches!(nowhere, Err(QueueError::Missing { .. })));
}

#[tokio::test]
async fn settings_that_sqs_refuses_are_refused() {
    let world = World::new();
    let plain = QueueSettings::default;
    let dlq = world.queue("dlq", plain()).await;
    let rows = [
        ("", plain()),
        ("with space", plain()),
        ("dotted.name", plain()),
        (".fifo", plain()),
        (&"n".repeat(81), plain()),
        ("q", QueueSettings { visibility_timeout: Span::from_secs(43_201), ..plain() }),
        ("q", QueueSettings { visibility_timeout: Span::from_secs(-1), ..plain() }),
        ("q", QueueSettings { retention: Span::from_secs(59), ..plain() }),
        ("q", QueueSettings { retention: Span::from_ms(14 * 24 * 3_600_000 + 1), ..plain() }),
        ("q", QueueSettings { delay: Span::from_secs(901), ..plain() }),
        ("q", QueueSettings { message_bytes_max: 1023, ..plain() }),
        ("q", QueueSettings { message_bytes_max: 1024 * 1024 + 1, ..plain() }),
        ("q", QueueSettings { content_based_deduplication: true, ..plain() }),
        ("q", plain().dead_letters_to(&dlq, 0)),
        ("q", plain().dead_letters_to(&dlq, 1001)),
        ("q", plain().dead_letters_to(&arn("nowhere"), 3)),
        ("q", plain().dead_letters_to(&arn("q"), 3)),
        ("q.fifo", plain().dead_letters_to(&dlq, 3)),
    ];
    for (name, settings) in rows {
        let reason = refused(world.queues.create_queue(&arn(name), settings.clone()).await);
        assert!(!reason.is_empty(), "{name} {settings:?}");
    }
    assert_eq!(world.queues.queues().await.expect("answered"), [dlq]);
}

#[tokio::test]
async fn dead_letter_sources_are_the_queues_whose_policy_names_the_queue() {
    let world = World::new();
    let dlq = world.queue("dlq", QueueSettings::default()).await;
    let feeding = QueueSettings::default().dead_letters_to(&dlq, 3);
    let (b, a) = (world.queue("b", feeding.clone()).await, world.queue("a", feeding).await);
    let lone = world.queue("lone", QueueSettings::default()).await;
    assert_eq!(world.queues.dead_letter_sources(&dlq).await.expect("it exists"), [a.clone(), b.clone()]);
    assert_eq!(world.queues.dead_letter_sources(&lone).await.expect("it exists"), []);
    assert_eq!(world.queues.queues().await.expect("answered"), [a, b, dlq, lone]);
}

#[tokio::test]
async fn peeking_is_not_receiving() {
    let world = World::new();
    let queue = world.queue("orders", QueueSettings::default()).await;
    world.send(&queue, &["1", "2", "3"]).await;
    let held = world.queues.receive(&queue, 1, Span::ZERO, None).await.expect("answered");
    for _ in 0..3 {
        let peeked = world.queues.peek(&queue, 2).await.expect("it exists");
        let seen: Vec<_> = peeked
            .iter()
            .map(|message| (message.content.body.as_str(), message.system.receive_count, message.visible_at.as_ms()))
            .collect();
        assert_eq!(seen, [("1", Some(1), 1_030_000), ("2", Some(0), 1_000_000)]);
    }
    assert_eq!(held[0].content.body, "1");
    assert_eq!(world.receive(&queue).await.len(), 2);
}

#[tokio::test]
async fn purge_removes_everything_and_leaves_the_queue() {
    let world = World::new();
    for name in ["orders", "orders.fifo"] {
        let queue = world.queue(name, QueueSettings::default()).await;
        world.send(&queue, &["1", "2", "3"]).await;
        let held = world.queues.receive(&queue, 1, Span::ZERO, None).await.expect("answered");
        assert_eq!(world.queues.purge(&queue).await.expect("it exists"), 3);
        assert_eq!(world.queues.peek(&queue, 10).await.expect("it exists"), []);
        let deleted = world.queues.delete_batch(&queue, &[held[0].receipt_handle.clone()]).await;
        assert_eq!(deleted.expect("answered"), [Ok(())], "its handle is spent");
        world.send(&queue, &["4"]).await;
        assert_eq!(world.receive(&queue).await.len(), 1);
    }
}

#[tokio::test]
async fn deleted_queue_is_missing_and_comes_back_empty() {
    let world = World::new();
    let queue = world.queue("orders.fifo", QueueSettings::default()).await;
    world.send(&queue, &["1"]).await;
    let held = world.receive(&queue).await;
    world.queues.delete_queue(&queue).await.expect("it exists");
    let gone = world.queues.attributes(&queue).await;
    assert!(matches!(gone, Err(QueueError::Missing { .. })), "{gone:?}");
    let queue = world.queue("orders.fifo", QueueSettings::default()).await;
    assert_eq!(world.receive(&queue).await, []);
    world.send(&queue, &["1"]).await;
    assert_ne!(
        world.receive(&queue).await[0].message_id,
        held[0].message_id,
        "deduplication ids are deleted with the queue"
    );
}

#[tokio::test]
async fn messages_stay_when_their_dead_letter_queue_is_gone() {
    let world = World::new();
    let dlq = world.queue("dlq", QueueSettings::default()).await;
    let settings = QueueSettings { visibility_timeout: Span::ZERO, ..QueueSettings::default() };
    let queue = world.queue("orders", settings.dead_letters_to(&dlq, 1)).await;
    world.send(&queue, &["1"]).await;
    world.receive(&queue).await;
    world.queues.delete_queue(&dlq).await.expect("it exists");
    assert_eq!(world.receive(&queue).await[0].system.receive_count, Some(2));
    let redrive = world.queues.attributes(&queue).await.expect("it exists").redrive;
    assert_eq!(redrive, Some(Redrive { dlq: dlq.clone(), receives_max: 1 }));
    world.queue("dlq", QueueSettings::default()).await;
    assert_eq!(world.receive(&queue).await, []);
    assert_eq!(world.receive(&dlq).await.len(), 1);
}

#[tokio::test]
async fn one_receive_moves_many_messages_that_ran_out_of_receives() {
    let world = World::new();
    let dlq = world.queue("dlq", QueueSettings::default()).await;
    let settings = QueueSettings { visibility_timeout: Span::ZERO, ..QueueSettings::default() };
    let queue = world.queue("orders", settings.dead_letters_to(&dlq, 1)).await;
    for _ in 0..20 {
        world.send(&queue, &["dead"; 10]).await;
        assert_eq!(
            world.queues.receive(&queue, 10, Span::ZERO, Some(Span::from_secs(60))).await.expect("answered").len(),
            10
        );
    }
    world.pass(Span::from_secs(60));
    world.send(&queue, &["alive"]).await;
    let received = world.receive(&queue).await;
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].content.body, "alive");
    assert_eq!(world.queues.attributes(&dlq).await.expect("it exists").visible_count, 200);
}

#[tokio::test]
async fn in_flight_limit_is_an_error_only_to_short_polls_of_standard_queues() {
    let mut world = World::new();
    world.queues.in_flight_max = 12;
    let bodies: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    for name in ["orders", "orders.fifo"] {
        let queue = world.queue(name, QueueSettings::default()).await;
        world.send(&queue, &bodies).await;
        world.send(&queue, &["10", "11", "12", "13"]).await;
        let first = world.receive(&queue).await;
        assert_eq!((first.len(), world.receive(&queue).await.len()), (10, 2), "{name}");
        let short = world.queues.receive(&queue, 1, Span::ZERO, None).await;
        if queue.is_fifo() {
            assert_eq!(short.expect("FIFO queues report no limit"), []);
        } else {
            assert!(refused(short).contains("OverLimit"));
        }
        let long = world.queues.receive(&queue, 1, Span::from_ms(20), None).await;
        assert_eq!(long.expect("long polls report no limit"), [], "{name}");
        let handles: Vec<String> = first.into_iter().take(1).map(|message| message.receipt_handle).collect();
        world.queues.delete_batch(&queue, &handles).await.expect("answered");
        assert_eq!(world.receive(&queue).await.len(), 1, "{name}: a deleted message makes room");
        world.pass(Span::from_secs(30));
        assert_eq!(world.receive(&queue).await.len(), 10, "{name}: so does a timeout");
    }
}

#[tokio::test]
async fn ids_in_memory_are_the_same_in_every_run() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let world = World::new();
        let queue = world.queue("orders", QueueSettings::default()).await;
        world.send(&queue, &["1", "2"]).await;
        runs.push(world.receive(&queue).await);
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0][0].message_id.as_str().len(), 36);
    assert_ne!(runs[0][0].message_id, runs[0][1].message_id);
}

#[test]
fn files_of_other_programs_and_versions_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock: Clock = Arc::new(Timestamp::default);
    let open = |name: &str| EmbeddedQueue::open(&folder.path().join(name), clock.clone()).map(drop);
    std::fs::write(folder.path().join("text.db"), "not a database at all".repeat(100)).expect("written");
    assert!(matches!(open("text.db"), Err(OpenError::File { .. })));
    assert!(matches!(open("no/such/folder.db"), Err(OpenError::File { .. })));
    let newer = Connection::open(folder.path().join("newer.db")).expect("a database");
    newer.pragma_update(None, "user_version", 99).expect("written");
    drop(newer);
    assert!(matches!(open("newer.db"), Err(OpenError::Version { found: 99, .. })));
    open("ours.db").expect("a new file");
    open("ours.db").expect("a second opening");
}
