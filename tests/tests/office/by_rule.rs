//! Approvals by a rule of the policy: which replays need no person, and which still do.

use domain::audit::Act;
use domain::group::GroupState;
use domain::id::{Actor, GroupId};
use domain::policy::{AutoApproval, GatePolicy, Policy};
use domain::reading::Class;
use domain::replay::Ending;
use domain::replay::ReplayState;
use domain::time::Span;
use harness::world::World;
use office::{act, sweep};
use queue::Received;
use std::sync::Arc;
use wire::PlanRequest;

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

fn rule(classes: &[Class], letters_max: u64) -> AutoApproval {
    AutoApproval { name: "small ones".into(), classes: classes.to_vec(), categories: Vec::new(), letters_max }
}

/// Creates ten letters of one group with a permanent failure and a declared fix, under a policy with this rule.
async fn world_with(rule: AutoApproval, four_eyes: bool) -> (World, GroupId) {
    let mut world = World::new().await;
    let gate = GatePolicy { four_eyes, ..world.office.policy.gate.clone() };
    let policy = Policy { gate, auto_approvals: vec![rule], ..(*world.office.policy).clone() };
    world.office.policy = Arc::new(policy);
    let group = world.one_group(10).await;
    world.declare_fix(&group, "v2").await;
    (world, group)
}

async fn state_of(world: &World, group: &GroupId) -> GroupState {
    world.store.group(group).await.unwrap().unwrap().state
}

#[tokio::test]
async fn a_rule_approves_what_it_covers_as_soon_as_the_gate_opens() {
    let (world, group) = world_with(rule(&[Class::Permanent], 10), false).await;
    sweep::run(&world.office).await.unwrap();
    assert!(matches!(state_of(&world, &group).await, GroupState::FixDeclared { .. }), "it is not quiet yet");
    assert!(world.store.plan(&group).await.unwrap().is_none(), "no plan is made before the gate can open");

    world.advance(Span::from_secs(11));
    sweep::run(&world.office).await.unwrap();
    let GroupState::Replaying { replay: id, .. } = state_of(&world, &group).await else { panic!("no replay") };
    let replay = world.replay(&id).await;
    assert_eq!(replay.approval().by, Actor::rule("small ones"));
    assert_eq!(replay.plan().waves[0], 1, "a canary goes first");
    let audit = world.store.audit(&group, None, 50).await.unwrap().items;
    let approved = audit.iter().find(|record| record.act == Act::ReplayApproved).expect("a record");
    assert_eq!(approved.actor, Actor::rule("small ones"));
    assert!(approved.reason.as_ref().is_some_and(|reason| reason.contains("small ones")));

    let done = world.run(&id, &everything_works, "v2").await;
    assert!(matches!(done.state(), ReplayState::Finished { ending: Ending::Completed, .. }));
    assert!(matches!(state_of(&world, &group).await, GroupState::Resolved { .. }));
}

#[tokio::test]
async fn a_rule_approves_nothing_else() {
    let rows = [
        ("another class", rule(&[Class::Transient, Class::Unknown], 10), false),
        ("too many letters", rule(&[Class::Permanent], 9), false),
        ("four eyes", rule(&[Class::Permanent], 10), true),
    ];
    for (why, rule, four_eyes) in rows {
        let (world, group) = world_with(rule, four_eyes).await;
        for _ in 0..3 {
            world.advance(Span::from_secs(60));
            sweep::run(&world.office).await.unwrap();
        }
        assert!(matches!(state_of(&world, &group).await, GroupState::FixDeclared { .. }), "{why}");
        assert!(world.store.plan(&group).await.unwrap().is_none(), "{why}: no plan is made");
    }
}

/// Whoever may only plan would otherwise replay a whole group, a few letters at a time.
#[tokio::test]
async fn a_rule_approves_no_part_of_a_group_that_a_person_has_chosen() {
    let (world, group) = world_with(rule(&[Class::Permanent], 5), false).await;
    world.advance(Span::from_secs(11));
    let letters = world.letters(&group, None).await.into_iter().take(3).map(|letter| letter.id).collect();
    let request = PlanRequest { letters, ..PlanRequest::default() };
    act::plan(&world.office, &"otto".into(), &group, &request).await.unwrap();
    for _ in 0..3 {
        world.advance(Span::from_secs(60));
        sweep::run(&world.office).await.unwrap();
    }
    assert!(matches!(state_of(&world, &group).await, GroupState::FixDeclared { .. }));
    assert!(world.store.plan(&group).await.unwrap().is_some(), "it waits for a person");
}

#[tokio::test]
async fn a_rule_does_not_retry_returned_letters() {
    let (world, group) = world_with(rule(&[Class::Permanent], 10), false).await;
    world.advance(Span::from_secs(11));
    sweep::run(&world.office).await.unwrap();
    let GroupState::Replaying { replay: id, .. } = state_of(&world, &group).await else { panic!("no replay") };
    let paused = world.run(&id, &nothing_works, "v2").await;
    assert!(paused.is_paused());
    for _ in 0..3 {
        world.advance(Span::from_secs(60));
        sweep::run(&world.office).await.unwrap();
    }
    assert_eq!(world.replay(&id).await.state(), paused.state(), "a person must declare the next fix and resume");
}
