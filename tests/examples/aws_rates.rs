//! Measures letters per second through a replay with the adapters for SQS and DynamoDB, and through a plain loop on the
//! same endpoint in the same run. The endpoint is MiniStack, one Python process beside this one; `cargo ci --only tools`
//! installs it.
//!
//! `cargo run --release -p dlo-tests --example aws_rates -- 1000 5000`; 1,000 and 5,000 letters
//! are the default.

use dlo_tests::endpoint::Endpoint;
use domain::id::{QueueArn, ReplayId};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::{Span, Timestamp};
use harness::rates::{self, Durations};
use harness::world::World;
use lambda::connect;
use lambda::queue::SqsQueue;
use office::replay::{Next, run};
use queue::Queue;
use std::sync::Arc;
use std::time::Instant;

#[tokio::main]
async fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|count| count.parse().expect("a count")).collect();
    let counts = if arguments.is_empty() { vec![1_000, 5_000] } else { arguments };
    for letters in counts {
        println!("{letters} letters");
        // A new process for each count: MiniStack slows down as it fills.
        let endpoint = Endpoint::ministack();
        let sqs = Arc::new(SqsQueue::new(&connect::to_endpoint(&endpoint.url).await));
        let mut world = World::on(Arc::new(endpoint.store().await)).await;
        let messages = rates::dead(&world, 0..letters);
        for queue in [&world.main, &world.office.steps] {
            sqs.create(queue.name(), &[]).await.expect("a queue");
        }
        let dlq = sqs.create("plain-loop-dlq", &[]).await.expect("a queue");
        let mut plain_per_s = 0.0;
        for at_a_time in [10, 1] {
            rates::fill(&*sqs, &dlq, &messages).await;
            plain_per_s = rates::plain_loop(&*sqs, &dlq, &world.main, at_a_time).await;
            drain(&*sqs, &world.main).await;
        }
        rates::fill(&*world.queue, &world.dlq, &messages).await;
        println!("  intake: {:.0} letters/s (its queue is embedded)", rates::intake(&world).await);
        world.office.queue = sqs;
        let id = rates::approved(&world).await;
        replay(&world, &id, letters).await.print(letters, plain_per_s);
    }
}

/// Runs the replay until all letters are delivered; waits by moving the world's clock.
async fn replay(world: &World, id: &ReplayId, letters: u64) -> Durations {
    let mut durations = Durations::default();
    loop {
        let sent_before = world.ledger(id).await.total().sent();
        let started = Instant::now();
        let (next, _) = run(&world.office, id, "executor").await.expect("a run");
        durations.add(started, world.ledger(id).await.total().sent() > sent_before);
        drain(&*world.office.queue, &world.main).await;
        let Next::At(at) = next else { break };
        world.advance(wait(at, world.office.now()));
    }
    assert_eq!(world.ledger(id).await.total().delivered, letters);
    durations
}

fn wait(until: Timestamp, now: Timestamp) -> Span {
    until.since(now).max(Span::ZERO)
}

/// Receives and deletes every message.
async fn drain(queue: &dyn Queue, main: &QueueArn) {
    loop {
        let received = queue.receive(main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("a receive");
        if received.is_empty() {
            return;
        }
        let handles: Vec<_> = received.into_iter().map(|received| received.receipt_handle).collect();
        queue.delete_batch(main, &handles).await.expect("a delete");
    }
}
