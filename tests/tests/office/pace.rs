//! A run of an executor ends by itself, however slow its calls are: a function that is killed has letters in hand.

use domain::limits::{BATCH_ENTRIES_MAX, LEASE_MS};
use domain::replay::PlanOptions;
use domain::time::{Span, Timestamp};
use harness::world::World;
use office::act;
use office::replay::{Next, run};
use queue::Queue as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use wire::ApproveRequest;

const LETTERS: u64 = 400;
/// How far the clock goes on whenever somebody looks: as if each call took a second or more.
const SLOW: i64 = 500;

#[tokio::test]
async fn a_run_with_slow_calls_lets_go_before_its_lease_ends_and_the_next_goes_on() {
    let mut world = World::new().await;
    let group = world.one_group(LETTERS).await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(LETTERS), pace_per_s: Some(10_000), ..PlanOptions::default() };
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.unwrap();
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    let replay = act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();

    let clock = Arc::new(AtomicI64::new(world.office.now().as_ms()));
    let slow = clock.clone();
    world.office.clock = Arc::new(move || Timestamp::from_ms(slow.fetch_add(SLOW, Ordering::SeqCst)));
    let (mut sent, mut runs) = (0, 0);
    while sent < LETTERS {
        let began = clock.load(Ordering::SeqCst);
        let (next, progressed) = run(&world.office, replay.id(), "executor").await.unwrap();
        let took_ms = clock.load(Ordering::SeqCst) - began;
        assert!(took_ms < LEASE_MS, "a run took {took_ms} ms");
        let now = world.replay(replay.id()).await;
        assert!(now.lease().is_none(), "it holds nothing when it has ended");
        let before = sent;
        sent = world.ledger(replay.id()).await.total().sent();
        assert!(progressed && sent > before && matches!(next, Next::At(_)), "run {runs}: {before} to {sent}, {next:?}");
        runs += 1;
    }
    assert!(runs > 1, "{LETTERS} letters in {runs} runs say nothing");
    let waiting = world.queue.attributes(&world.main).await.unwrap().visible_count;
    assert_eq!((waiting, sent), (LETTERS, LETTERS), "each was sent once, {BATCH_ENTRIES_MAX} at a time");
}
