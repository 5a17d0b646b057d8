//! Measures letters per second through intake and through a replay of the embedded office, and through a plain loop on
//! the same queues: one process, one run, store and queues on disk, letters in an order without pattern. Each measurement
//! is made twice: with a sync for each commit, as an office runs, and without.
//!
//! `cargo run --release -p dlo-harness --example office_rates -- 1000 100000`; 1,000 and 100,000
//! letters are the default.

use harness::rates::{self, Durations};
use harness::world::World;
use local::sqlite::Opening;
use std::time::Instant;

#[tokio::main]
async fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|count| count.parse().expect("a count")).collect();
    let counts = if arguments.is_empty() { vec![1_000, 100_000] } else { arguments };
    for letters in counts {
        for synced in [false, true] {
            println!("{letters} letters, {}", if synced { "each commit synced" } else { "commits not synced" });
            let world = World::on_disk(&Opening { synced, ..Opening::default() }).await;
            measure(&world, letters).await;
        }
    }
}

async fn measure(world: &World, letters: u64) {
    let messages = rates::dead(world, rates::mixed(letters));
    let mut plain_per_s = 0.0;
    for at_a_time in [1, 10] {
        rates::fill(&*world.queue, &world.dlq, &messages).await;
        plain_per_s = rates::plain_loop(&*world.queue, &world.dlq, &world.main, at_a_time).await;
        world.queue.purge(&world.main).await.expect("purge");
    }
    rates::fill(&*world.queue, &world.dlq, &messages).await;
    println!("  intake: {:.0} letters/s", rates::intake(world).await);
    replay(world, letters).await.print(letters, plain_per_s);
}

/// Runs a replay of all letters to its end.
async fn replay(world: &World, letters: u64) -> Durations {
    let id = rates::approved(world).await;
    let mut durations = Durations::default();
    loop {
        let sent_before = world.ledger(&id).await.total().sent();
        let started = Instant::now();
        assert_eq!(world.steps().await, 0);
        durations.add(started, world.ledger(&id).await.total().sent() > sent_before);
        world.queue.purge(&world.main).await.expect("purge");
        if world.replay(&id).await.is_finished() {
            break;
        }
        world.advance(domain::time::Span::from_secs(1));
    }
    assert_eq!(world.ledger(&id).await.total().delivered, letters);
    durations
}
