//! What the embedded queue does beyond the port, and its limits; the port itself is tested by the conformance suite.

use super::*;
use domain::message::Content;
use queue::Redrive;
use rusqlite::Connection;
use std::sync::atomic::{AtomicI64, Ordering};

struct Office {
    queues: EmbeddedQueue,
    ms: Arc<AtomicI64>,
}

impl Office {
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
    let office = Office::new();
    let dlq = office.queue("orders-dlq", QueueSettings::default()).await;
    let settings = QueueSettings::default().dead_letters_to(&dlq, 3);
    let queue = office.queue("orders", settings.clone()).await;
    office.queues.create_queue(&queue, settings.clone()).await.expect("the same again");
    let other = QueueSettings { retention: Span::from_days(1), ..settings.clone() };
    assert!(refused(office.queues.create_queue(&queue, other.clone()).await).contains("QueueAlreadyExists"));
    assert_eq!(office.queues.settings(&queue).await.expect("it exists"), settings);
    office.queues.configure(&queue, other.clone()).await.expect("settings may change");
    assert_eq!(office.queues.settings(&queue).await.expect("it exists"), other);
    let nowhere = office.queues.configure(&arn("nowhere"), other).await;
    assert!(matches!(nowhere, Err(QueueError::Missing { .. })));
}

#[tokio::test]
async fn settings_that_sqs_refuses_are_refused() {
    let office = Office::new();
    let plain = QueueSettings::default;
    let dlq = office.queue("dlq", plain()).await;
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
        let reason = refused(office.queues.create_queue(&arn(name), settings.clone()).await);
        assert!(!reason.is_empty(), "{name} {settings:?}");
    }
    assert_eq!(office.queues.queues().await.expect("answered"), [dlq]);
}

#[tokio::test]
async fn dead_letter_sources_are_those_whose_policy_leads_here() {
    let office = Office::new();
    let dlq = office.queue("dlq", QueueSettings::default()).await;
    let feeding = QueueSettings::default().dead_letters_to(&dlq, 3);
    let (b, a) = (office.queue("b", feeding.clone()).await, office.queue("a", feeding).await);
    let lone = office.queue("lone", QueueSettings::default()).await;
    assert_eq!(office.queues.dead_letter_sources(&dlq).await.expect("it exists"), [a.clone(), b.clone()]);
    assert_eq!(office.queues.dead_letter_sources(&lone).await.expect("it exists"), []);
    assert_eq!(office.queues.queues().await.expect("answered"), [a, b, dlq, lone]);
}

#[tokio::test]
async fn peeking_is_not_receiving() {
    let office = Office::new();
    let queue = office.queue("orders", QueueSettings::default()).await;
    office.send(&queue, &["1", "2", "3"]).await;
    let held = office.queues.receive(&queue, 1, Span::ZERO, None).await.expect("answered");
    for _ in 0..3 {
        let peeked = office.queues.peek(&queue, 2).await.expect("it exists");
        let seen: Vec<_> = peeked
            .iter()
            .map(|message| (message.content.body.as_str(), message.system.receive_count, message.visible_at.as_ms()))
            .collect();
        assert_eq!(seen, [("1", Some(1), 1_030_000), ("2", Some(0), 1_000_000)]);
    }
    assert_eq!(held[0].content.body, "1");
    assert_eq!(office.receive(&queue).await.len(), 2);
}

#[tokio::test]
async fn purge_removes_everything_and_leaves_the_queue() {
    let office = Office::new();
    for name in ["orders", "orders.fifo"] {
        let queue = office.queue(name, QueueSettings::default()).await;
        office.send(&queue, &["1", "2", "3"]).await;
        let held = office.queues.receive(&queue, 1, Span::ZERO, None).await.expect("answered");
        assert_eq!(office.queues.purge(&queue).await.expect("it exists"), 3);
        assert_eq!(office.queues.peek(&queue, 10).await.expect("it exists"), []);
        let deleted = office.queues.delete_batch(&queue, &[held[0].receipt_handle.clone()]).await;
        assert_eq!(deleted.expect("answered"), [Ok(())], "its handle is spent");
        office.send(&queue, &["4"]).await;
        assert_eq!(office.receive(&queue).await.len(), 1);
    }
}

#[tokio::test]
async fn deleted_queue_is_missing_and_comes_back_empty() {
    let office = Office::new();
    let queue = office.queue("orders.fifo", QueueSettings::default()).await;
    office.send(&queue, &["1"]).await;
    let held = office.receive(&queue).await;
    office.queues.delete_queue(&queue).await.expect("it exists");
    let gone = office.queues.attributes(&queue).await;
    assert!(matches!(gone, Err(QueueError::Missing { .. })), "{gone:?}");
    let queue = office.queue("orders.fifo", QueueSettings::default()).await;
    assert_eq!(office.receive(&queue).await, []);
    office.send(&queue, &["1"]).await;
    assert_ne!(office.receive(&queue).await[0].message_id, held[0].message_id, "duplicates are forgotten with it");
}

#[tokio::test]
async fn messages_stay_when_their_dead_letter_queue_is_gone() {
    let office = Office::new();
    let dlq = office.queue("dlq", QueueSettings::default()).await;
    let settings = QueueSettings { visibility_timeout: Span::ZERO, ..QueueSettings::default() };
    let queue = office.queue("orders", settings.dead_letters_to(&dlq, 1)).await;
    office.send(&queue, &["1"]).await;
    office.receive(&queue).await;
    office.queues.delete_queue(&dlq).await.expect("it exists");
    assert_eq!(office.receive(&queue).await[0].system.receive_count, Some(2));
    let redrive = office.queues.attributes(&queue).await.expect("it exists").redrive;
    assert_eq!(redrive, Some(Redrive { dlq: dlq.clone(), receives_max: 1 }));
    office.queue("dlq", QueueSettings::default()).await;
    assert_eq!(office.receive(&queue).await, []);
    assert_eq!(office.receive(&dlq).await.len(), 1);
}

#[tokio::test]
async fn one_receive_digs_through_many_dead_messages() {
    let office = Office::new();
    let dlq = office.queue("dlq", QueueSettings::default()).await;
    let settings = QueueSettings { visibility_timeout: Span::ZERO, ..QueueSettings::default() };
    let queue = office.queue("orders", settings.dead_letters_to(&dlq, 1)).await;
    for _ in 0..20 {
        office.send(&queue, &["dead"; 10]).await;
        assert_eq!(
            office.queues.receive(&queue, 10, Span::ZERO, Some(Span::from_secs(60))).await.expect("answered").len(),
            10
        );
    }
    office.pass(Span::from_secs(60));
    office.send(&queue, &["alive"]).await;
    let received = office.receive(&queue).await;
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].content.body, "alive");
    assert_eq!(office.queues.attributes(&dlq).await.expect("it exists").visible_count, 200);
}

#[tokio::test]
async fn in_flight_limit_is_an_error_only_to_short_polls_of_standard_queues() {
    let mut office = Office::new();
    office.queues.in_flight_max = 12;
    let bodies: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    for name in ["orders", "orders.fifo"] {
        let queue = office.queue(name, QueueSettings::default()).await;
        office.send(&queue, &bodies).await;
        office.send(&queue, &["10", "11", "12", "13"]).await;
        let first = office.receive(&queue).await;
        assert_eq!((first.len(), office.receive(&queue).await.len()), (10, 2), "{name}");
        let short = office.queues.receive(&queue, 1, Span::ZERO, None).await;
        if queue.is_fifo() {
            assert_eq!(short.expect("FIFO queues say nothing"), []);
        } else {
            assert!(refused(short).contains("OverLimit"));
        }
        let long = office.queues.receive(&queue, 1, Span::from_ms(20), None).await;
        assert_eq!(long.expect("long polls say nothing"), [], "{name}");
        let handles: Vec<String> = first.into_iter().take(1).map(|message| message.receipt_handle).collect();
        office.queues.delete_batch(&queue, &handles).await.expect("answered");
        assert_eq!(office.receive(&queue).await.len(), 1, "{name}: a deleted message makes room");
        office.pass(Span::from_secs(30));
        assert_eq!(office.receive(&queue).await.len(), 10, "{name}: so does a timeout");
    }
}

#[tokio::test]
async fn ids_are_the_same_in_every_run_in_memory() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let office = Office::new();
        let queue = office.queue("orders", QueueSettings::default()).await;
        office.send(&queue, &["1", "2"]).await;
        runs.push(office.receive(&queue).await);
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0][0].message_id.as_str().len(), 36);
    assert_ne!(runs[0][0].message_id, runs[0][1].message_id);
}

#[test]
fn files_that_are_not_ours_are_refused() {
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
    open("ours.db").expect("and again");
}
