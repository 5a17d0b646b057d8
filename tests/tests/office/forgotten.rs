//! What was delivered long ago is forgotten, and nothing else: see `policy.delivered_kept_ms`.

use domain::limits::DELIVERED_KEPT_MIN;
use domain::policy::Policy;
use domain::replay::{OutcomeKind, PlanOptions};
use domain::time::Span;
use harness::world::World;
use office::{act, sweep};
use queue::Received;
use std::sync::Arc;
use wire::ApproveRequest;

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Four letters of one cause: two were delivered, two died since.
async fn two_of_four_delivered(kept: Option<Span>) -> World {
    let mut world = World::new().await;
    world.office.policy = Arc::new(Policy { delivered_kept_ms: kept, ..(*world.office.policy).clone() });
    let group = world.one_group(2).await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    let id = act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap().id().clone();
    assert!(world.run(&id, &works, "v2").await.is_finished());
    for n in [2, 3] {
        world.die(n, "orders::pricing::Overflow", world.office.now()).await;
    }
    world.intake().await;
    world
}

#[tokio::test]
async fn what_was_delivered_long_ago_goes_and_what_tells_of_it_stays() {
    let world = two_of_four_delivered(Policy::default().delivered_kept_ms).await;
    let all = async || {
        let groups = world.store.groups(0, None, 10).await.unwrap().items;
        let mut letters = Vec::new();
        for facts in &groups {
            letters.extend(world.store.letters_of(&facts.group.id, None, None, 10).await.unwrap().items);
        }
        (groups, letters)
    };
    let (groups, before) = all().await;
    assert_eq!(before.len(), 4);
    let replay = world.store.replays(None, None, 1).await.unwrap().items.remove(0);
    let ledger = world.ledger(replay.id()).await;
    world.advance(Span::from_days(89));
    sweep::run(&world.office).await.unwrap();
    assert_eq!(all().await.1, before, "a day before");
    world.advance(Span::from_days(2));
    sweep::run(&world.office).await.unwrap();
    let (after_groups, after) = all().await;
    let open: Vec<_> = before.into_iter().filter(|letter| letter.state.delivered_at().is_none()).collect();
    assert_eq!((after, open.len()), (open, 2), "what is not delivered is kept, however old");
    let counts =
        |groups: &[office::port::GroupFacts]| groups.iter().map(|facts| facts.counts.clone()).collect::<Vec<_>>();
    assert_eq!(counts(&after_groups), counts(&groups));
    assert_eq!(world.ledger(replay.id()).await, ledger);
    let delivered = Some(OutcomeKind::Delivered);
    assert_eq!(world.store.entries(replay.id(), None, delivered, None, 10).await.unwrap().items.len(), 2);
}

#[tokio::test]
async fn a_policy_may_keep_for_ever_and_not_forget_what_may_still_come_back() {
    for (kept, days, left) in [
        (None, 4_000, 4),
        (Some(Span::ZERO), DELIVERED_KEPT_MIN.as_ms() / 86_400_000 - 1, 4),
        (Some(Span::ZERO), DELIVERED_KEPT_MIN.as_ms() / 86_400_000 + 1, 2),
    ] {
        let world = two_of_four_delivered(kept).await;
        world.advance(Span::from_days(days));
        sweep::run(&world.office).await.unwrap();
        let mut letters = 0;
        for facts in world.store.groups(0, None, 10).await.unwrap().items {
            letters += world.store.letters_of(&facts.group.id, None, None, 10).await.unwrap().items.len();
        }
        assert_eq!(letters, left, "{kept:?} {days} days");
    }
}
