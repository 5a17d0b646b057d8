//! Measures how long a plan takes: in one request, and in steps, over the same letters in the same run. The store is the
//! embedded one, on the disk and synced as in production.
//!
//! `cargo run --release -p dlo-tests --example plan_rates -- 10000 1000000`; 10,000 letters are the default.

use domain::group::{GroupState, Variant};
use domain::id::GroupId;
use domain::letter::Letter;
use domain::limits::KEEP_LETTERS_MAX;
use domain::time::Span;
use harness::samples;
use harness::world::World;
use local::queue::QueueSettings;
use local::sqlite::Opening;
use office::act::{self, Planned};
use office::office::PlanLimits;
use std::time::Instant;
use wire::PlanRequest;

#[tokio::main]
async fn main() {
    let counts: Vec<u64> = std::env::args().skip(1).map(|count| count.parse().expect("a count")).collect();
    for letters in if counts.is_empty() { vec![10_000] } else { counts } {
        let mut world = World::with(&Opening::default()).await;
        let group = fill(&world, letters).await;
        let mut seconds = Vec::new();
        for in_request in [u64::MAX, 0] {
            world.office.planning = PlanLimits { in_request, ..PlanLimits::default() };
            world.advance(Span::from_secs(1));
            let started = Instant::now();
            let planned =
                act::plan(&world.office, &world.otto(), &group, &PlanRequest::default()).await.expect("a plan");
            if let Planned::Draft(draft) = planned {
                assert_eq!(world.steps().await, 0);
                let left = world.store.draft(&draft.id).await.expect("a read");
                assert!(left.is_none(), "{:?}", left.map(|draft| draft.ending));
            }
            seconds.push(started.elapsed().as_secs_f64());
            let plan = world.store.plan(&group).await.expect("a read").expect("a plan");
            assert_eq!(plan.letters.letters, letters.cast_signed());
        }
        println!("{letters} letters: {:.1} s in one request, {:.1} s in steps", seconds[0], seconds[1]);
    }
}

/// Stores a group of so many letters whose fix is declared.
async fn fill(world: &World, letters: u64) -> GroupId {
    world.queue.create_queue(&samples::main_queue(), QueueSettings::default()).await.expect("a queue");
    let id = GroupId::new("f".repeat(32));
    let state = GroupState::FixDeclared { fix: samples::fix() };
    world.store.commit(vec![samples::open(&Variant { state, ..samples::group(&id) })]).await.expect("a commit");
    let numbers: Vec<u64> = (0..letters).collect();
    for some in numbers.chunks(KEEP_LETTERS_MAX) {
        let died_at = world.office.now();
        let some: Vec<_> = some.iter().map(|n| Letter { died_at, ..samples::letter(&id, *n) }).collect();
        world.store.commit(samples::keep(&some)).await.expect("a commit");
    }
    id
}
