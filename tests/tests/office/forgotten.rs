//! Delivered letters are deleted after `policy.delivered_kept_ms`; all other letters stay.

use domain::alert::AlertKind;
use domain::limits::DELIVERED_KEPT_MIN;
use domain::policy::Policy;
use domain::replay::{OutcomeKind, PlanOptions};
use domain::time::Span;
use harness::world::World;
use office::sweep;
use queue::Received;
use std::sync::Arc;

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Creates four letters of one group: two delivered, two that died later.
async fn two_of_four_delivered(kept: Option<Span>) -> World {
    let mut world = World::new().await;
    world.office.policy = Arc::new(Policy { delivered_kept_ms: kept, ..(*world.office.policy).clone() });
    let group = world.one_group(2).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let id = world.approve(&group, &plan).await.id().clone();
    assert!(world.run(&id, &works, "v2").await.is_finished());
    for n in [2, 3] {
        world.die(n, "orders::pricing::Overflow", world.office.now()).await;
    }
    world.intake().await;
    world
}

#[tokio::test]
async fn old_delivered_letters_are_deleted_and_their_history_stays() {
    let world = two_of_four_delivered(Policy::default().delivered_kept_ms).await;
    let all = async || {
        let groups = world.store.groups(0, None, 10).await.unwrap().items;
        let mut letters = Vec::new();
        for facts in &groups {
            letters.extend(world.store.letters_of(&facts.variant.id, None, None, 10).await.unwrap().items);
        }
        (groups, letters)
    };
    let (groups, before) = all().await;
    assert_eq!(before.len(), 4);
    let replay = world.store.replays(None, None, 1).await.unwrap().items.remove(0);
    let ledger = world.ledger(replay.id()).await;
    sweep_for(&world, 89).await;
    assert_eq!(all().await.1, before, "a day before");
    sweep_for(&world, 2).await;
    let (after_groups, after) = all().await;
    let open: Vec<_> = before.into_iter().filter(|letter| letter.state.closed().is_none()).collect();
    assert_eq!((after, open.len()), (open, 2), "undelivered letters stay, however old");
    let counts =
        |groups: &[office::port::GroupFacts]| groups.iter().map(|facts| facts.counts.clone()).collect::<Vec<_>>();
    assert_eq!(counts(&after_groups), counts(&groups));
    assert_eq!(world.ledger(replay.id()).await, ledger);
    let delivered = Some(OutcomeKind::Delivered);
    assert_eq!(world.store.entries(replay.id(), None, delivered, None, 10).await.unwrap().items.len(), 2);
}

#[tokio::test]
async fn a_policy_may_keep_letters_for_ever_and_never_deletes_too_early() {
    for (kept, days, remaining) in [
        (None, 4_000, 4),
        (Some(Span::ZERO), DELIVERED_KEPT_MIN.as_ms() / 86_400_000 - 1, 4),
        (Some(Span::ZERO), DELIVERED_KEPT_MIN.as_ms() / 86_400_000 + 1, 2),
    ] {
        let world = two_of_four_delivered(kept).await;
        sweep_for(&world, days).await;
        assert_eq!(letters(&world).await, remaining, "{kept:?} {days} days");
    }
}

async fn letters(world: &World) -> usize {
    let mut letters = 0;
    for facts in world.store.groups(0, None, 10).await.unwrap().items {
        letters += world.store.letters_of(&facts.variant.id, None, None, 10).await.unwrap().items.len();
    }
    letters
}

/// Lets days pass in which the office sweeps.
async fn sweep_for(world: &World, days: i64) {
    for _ in 0..days {
        world.advance(Span::from_days(1));
        sweep::run(&world.office).await.unwrap();
    }
}

fn jumps(world: &World) -> Vec<String> {
    let alerts = world.alerts.recent(100).into_iter().filter(|alert| alert.kind == AlertKind::ClockJumped);
    alerts.map(|alert| alert.title).collect()
}

#[tokio::test]
async fn a_clock_that_jumps_forward_forgets_nothing_and_alerts_once() {
    let world = two_of_four_delivered(Policy::default().delivered_kept_ms).await;
    sweep_for(&world, 3).await;
    world.advance(Span::from_days(400));
    for _ in 0..600 {
        sweep::run(&world.office).await.unwrap();
        world.advance(Span::from_mins(1));
    }
    assert_eq!(letters(&world).await, 4, "ten hours after the jump");
    assert_eq!(jumps(&world), ["No sweep ran for 9600 h: the office was off, or its clock jumped forward."]);

    // Somebody sets the clock right.
    world.advance(Span::from_days(-400));
    sweep_for(&world, 60).await;
    assert_eq!((letters(&world).await, jumps(&world).len()), (4, 2));
    sweep_for(&world, 30).await;
    assert_eq!(letters(&world).await, 2, "at the right time");
}

#[tokio::test]
async fn an_office_that_was_off_forgets_a_day_after_its_return() {
    let world = two_of_four_delivered(Policy::default().delivered_kept_ms).await;
    sweep_for(&world, 1).await;
    world.advance(Span::from_days(100));
    sweep::run(&world.office).await.unwrap();
    assert_eq!(letters(&world).await, 4);
    sweep_for(&world, 1).await;
    assert_eq!(letters(&world).await, 2);
}
