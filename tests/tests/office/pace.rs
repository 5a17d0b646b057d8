//! A run of an executor ends in time even if its calls are slow: a function that the platform kills leaves letters in
//! doubt.

use domain::limits::{HAND_LETTERS_MAX, LEASE_MS};
use domain::replay::PlanOptions;
use domain::time::Timestamp;
use harness::world::World;
use office::replay::{Next, run};
use queue::Queue as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const LETTERS: u64 = 400;
/// How far each look at the clock moves it, in milliseconds: as if every call took a second and a half or more.
const SLOW_MS: i64 = 1_500;

#[tokio::test]
async fn a_run_with_slow_calls_ends_before_its_lease_and_the_next_continues() {
    let mut world = World::new().await;
    let group = world.one_group(LETTERS).await;
    let options = PlanOptions { canary_letters: Some(LETTERS), pace_per_s: Some(10_000), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    let replay = world.approve(&group, &plan).await;

    let clock = Arc::new(AtomicI64::new(world.office.now().as_ms()));
    let slow = clock.clone();
    world.office.clock = Arc::new(move || Timestamp::from_ms(slow.fetch_add(SLOW_MS, Ordering::SeqCst)));
    let (mut sent, mut runs) = (0, 0);
    while sent < LETTERS {
        let began = clock.load(Ordering::SeqCst);
        let (next, progressed) = run(&world.office, replay.id(), "executor").await.unwrap();
        let took_ms = clock.load(Ordering::SeqCst) - began;
        assert!(took_ms < LEASE_MS, "a run took {took_ms} ms");
        let now = world.replay(replay.id()).await;
        assert!(now.lease().is_none(), "a run that has ended holds no lease");
        let before = sent;
        sent = world.ledger(replay.id()).await.total().sent();
        assert!(progressed && sent > before && matches!(next, Next::At(_)), "run {runs}: {before} to {sent}, {next:?}");
        runs += 1;
    }
    assert!(runs > 1, "{LETTERS} letters took only {runs} run");
    let waiting = world.queue.attributes(&world.main).await.unwrap().visible_count;
    assert_eq!((waiting, sent), (LETTERS, LETTERS), "each letter is sent once, {HAND_LETTERS_MAX} at a time");
}
