//! Batches that Lambda receives and deletes: Lambda retries the messages that the answer names and deletes all others. So
//! the answer must name exactly the failed messages.

use super::world::{ByBody, World, content};
use consumer::Consumer;
use domain::limits::ATTRIBUTES_MAX;
use domain::message::{Attribute, Content};
use domain::time::Span;
use queue::Queue;
use std::sync::Arc;

/// A batch and its expected outcome.
struct Row {
    what: &'static str,
    fifo: bool,
    /// Whether the dead-letter queue exists.
    dlq: bool,
    receives_max: u32,
    /// What the handler does with each message; `full` is a permanent failure without room for a stamp.
    batch: &'static [&'static str],
    /// The indices of the messages that the answer names.
    retried: &'static [usize],
    /// The bodies in the dead-letter queue.
    dead: &'static [&'static str],
}

const STANDARD: Row =
    Row { what: "empty", fifo: false, dlq: true, receives_max: 3, batch: &[], retried: &[], dead: &[] };
const FIFO: Row = Row { fifo: true, ..STANDARD };

const ROWS: &[Row] = &[
    STANDARD,
    Row { what: "all succeed", batch: &["good", "good-2", "good-3"], ..STANDARD },
    Row { what: "one fails for now", batch: &["good", "transient", "good-2"], retried: &[1], ..STANDARD },
    Row { what: "one fails permanently", batch: &["good", "permanent", "good-2"], dead: &["permanent"], ..STANDARD },
    Row { what: "a panic fails its message only", batch: &["panic", "good", "good-2"], dead: &["panic"], ..STANDARD },
    Row {
        what: "the last receive",
        receives_max: 1,
        batch: &["transient", "good", "panic"],
        dead: &["panic", "transient"],
        ..STANDARD
    },
    Row { what: "no room for a stamp", batch: &["good", "full"], retried: &[1], ..STANDARD },
    Row { what: "the dead-letter queue is gone", dlq: false, batch: &["permanent", "good"], retried: &[0], ..STANDARD },
    Row {
        what: "none succeeds",
        batch: &["transient", "panic", "full"],
        retried: &[0, 2],
        dead: &["panic"],
        ..STANDARD
    },
    Row { what: "all succeed in order", batch: &["good", "good-2", "good-3"], ..FIFO },
    Row {
        what: "nothing overtakes a retry",
        batch: &["good", "transient", "permanent", "good-2"],
        retried: &[1, 2, 3],
        ..FIFO
    },
    Row {
        what: "a dead letter blocks no message",
        batch: &["permanent", "good", "good-2"],
        dead: &["permanent"],
        ..FIFO
    },
    Row {
        what: "nothing overtakes a message that stays",
        dlq: false,
        batch: &["permanent", "good"],
        retried: &[0, 1],
        ..FIFO
    },
];

fn message(world: &World, body: &str) -> Content {
    let count = if body == "full" { ATTRIBUTES_MAX } else { 0 };
    let attributes = (0..count).map(|n| (format!("a{n}"), Attribute::text("x"))).collect();
    let message_group_id = world.main.is_fifo().then(|| "acme".to_owned());
    let body = if body == "full" { "permanent" } else { body };
    Content { attributes, message_group_id, ..content(body) }
}

#[tokio::test]
async fn the_answer_names_exactly_the_failed_messages() {
    for row in ROWS {
        let suffix = if row.fifo { ".fifo" } else { "" };
        let world = World::with(row.receives_max, suffix, Span::from_secs(30)).await;
        let mut ids = Vec::new();
        for body in row.batch {
            ids.push(world.send(message(&world, body)).await);
        }
        let mut received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
        received.sort_by_key(|one| ids.iter().position(|id| *id == one.message_id));
        assert_eq!(received.len(), ids.len(), "{}", row.what);
        if !row.dlq {
            world.queue.delete_queue(&world.dlq).await.unwrap();
        }
        let config = world.config();
        let consumer = Consumer::new(config, world.queue.clone(), Arc::new(ByBody));
        let retried: Vec<_> = row.retried.iter().map(|at| ids[*at].clone()).collect();
        assert_eq!(consumer.handle_batch(received).await.unwrap(), retried, "{}", row.what);
        if row.dlq {
            let mut dead: Vec<_> = world.dead().await.into_iter().map(|dead| dead.content.body).collect();
            dead.sort();
            assert_eq!(dead, row.dead, "{}", row.what);
        }
        // Lambda deletes the messages, not the consumer.
        let remaining = world.queue.peek(&world.main, 10).await.unwrap();
        assert_eq!(remaining.len(), ids.len(), "{}", row.what);
    }
}

#[tokio::test]
async fn nothing_is_deleted_if_the_attributes_of_the_queue_are_unknown() {
    let world = World::new(3).await;
    world.send(content("good")).await;
    let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    world.queue.delete_queue(&world.main).await.unwrap();
    let config = world.config();
    let consumer = Consumer::new(config, world.queue.clone(), Arc::new(ByBody));
    assert!(consumer.handle_batch(received).await.is_err(), "an error retries the whole batch");
}
