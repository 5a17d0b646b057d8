//! Batches that Lambda receives and deletes: what the answer names comes again, and everything else is deleted. So it
//! names what failed, to the last message, and no other.

use super::world::{AsBodySays, World, content};
use consumer::{Consumer, ConsumerConfig};
use domain::limits::ATTRIBUTES_MAX;
use domain::message::{Attribute, Content};
use domain::time::Span;
use queue::Queue;
use std::sync::Arc;

/// A batch, and what becomes of it.
struct Row {
    what: &'static str,
    fifo: bool,
    /// Whether its dead-letter queue is there.
    dlq: bool,
    receives_max: u32,
    /// What the handler does with each; `full` is a permanent failure that has no room for a stamp.
    batch: &'static [&'static str],
    /// The places of those that come again.
    again: &'static [usize],
    /// Those that are in the dead-letter queue.
    dead: &'static [&'static str],
}

const STANDARD: Row =
    Row { what: "nothing", fifo: false, dlq: true, receives_max: 3, batch: &[], again: &[], dead: &[] };
const FIFO: Row = Row { fifo: true, ..STANDARD };

const ROWS: &[Row] = &[
    STANDARD,
    Row { what: "all is well", batch: &["good", "good-2", "good-3"], ..STANDARD },
    Row { what: "one may pass later", batch: &["good", "transient", "good-2"], again: &[1], ..STANDARD },
    Row { what: "one never will", batch: &["good", "permanent", "good-2"], dead: &["permanent"], ..STANDARD },
    Row { what: "a panic is nobody else's", batch: &["panic", "good", "good-2"], again: &[0], ..STANDARD },
    Row {
        what: "its last receive",
        receives_max: 1,
        batch: &["transient", "good", "panic"],
        dead: &["panic", "transient"],
        ..STANDARD
    },
    Row { what: "no room for a stamp", batch: &["good", "full"], again: &[1], ..STANDARD },
    Row { what: "the dead-letter queue is gone", dlq: false, batch: &["permanent", "good"], again: &[0], ..STANDARD },
    Row { what: "none is well", batch: &["transient", "panic", "full"], again: &[0, 1, 2], ..STANDARD },
    Row { what: "all is well in order", batch: &["good", "good-2", "good-3"], ..FIFO },
    Row {
        what: "nothing overtakes a retry",
        batch: &["good", "transient", "permanent", "good-2"],
        again: &[1, 2, 3],
        ..FIFO
    },
    Row { what: "a dead letter stops nobody", batch: &["permanent", "good", "good-2"], dead: &["permanent"], ..FIFO },
    Row { what: "nothing overtakes what stays", dlq: false, batch: &["permanent", "good"], again: &[0, 1], ..FIFO },
];

fn message(world: &World, body: &str) -> Content {
    let count = if body == "full" { ATTRIBUTES_MAX } else { 0 };
    let attributes = (0..count).map(|n| (format!("a{n}"), Attribute::text("x"))).collect();
    let message_group_id = world.main.is_fifo().then(|| "acme".to_owned());
    let body = if body == "full" { "permanent" } else { body };
    Content { attributes, message_group_id, ..content(body) }
}

#[tokio::test]
async fn the_answer_names_what_failed_and_nothing_else() {
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
        let config = ConsumerConfig::new(world.main.clone(), "orders", || "v1".into());
        let consumer = Consumer::new(config, world.queue.clone(), Arc::new(AsBodySays));
        let again: Vec<_> = row.again.iter().map(|at| ids[*at].clone()).collect();
        assert_eq!(consumer.handle_batch(received).await.unwrap(), again, "{}", row.what);
        if row.dlq {
            let mut dead: Vec<_> = world.dead().await.into_iter().map(|dead| dead.content.body).collect();
            dead.sort();
            assert_eq!(dead, row.dead, "{}", row.what);
        }
        // Deleting is Lambda's.
        let still_there = world.queue.peek(&world.main, 10).await.unwrap();
        assert_eq!(still_there.len(), ids.len(), "{}", row.what);
    }
}

#[tokio::test]
async fn nothing_is_deleted_when_the_queue_says_nothing_of_itself() {
    let world = World::new(3).await;
    world.send(content("good")).await;
    let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    world.queue.delete_queue(&world.main).await.unwrap();
    let config = ConsumerConfig::new(world.main.clone(), "orders", || "v1".into());
    let consumer = Consumer::new(config, world.queue.clone(), Arc::new(AsBodySays));
    assert!(consumer.handle_batch(received).await.is_err(), "an error brings the whole batch again");
}
