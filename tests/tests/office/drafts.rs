//! Plans that are made in steps, because many letters wait: the same plan as in one request, whatever happens between two
//! steps.

mod shown;

use domain::audit::Act;
use domain::filter::LetterFilter;
use domain::group::{CountsDelta, GroupState, Tally};
use domain::id::{GroupId, LetterId};
use domain::letter::LetterStateKind;
use domain::limits::{DRAFTS_MAX, PLAN_FIFO_LETTERS_MAX};
use domain::policy::{AutoApproval, GatePolicy, Policy};
use domain::reading::Class;
use domain::replay::{Draft, Plan, PlanError, PlanOptions};
use domain::time::Span;
use harness::samples::at_s;
use harness::world::World;
use office::act::{self, Planned};
use office::error::OfficeError;
use office::office::{PlanLimits, StepMessage};
use office::port::Write;
use office::{replay, sweep};
use queue::Received;
use std::sync::Arc;
use wire::PlanRequest;

const LETTERS: u64 = 130;

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Small steps: more than one commit in a step, and more than one step.
const SMALL: PlanLimits = PlanLimits { in_request: 10, in_step: 60, together: 25 };

/// Creates letters of one group with a fix that has been quiet, which is planned in steps.
async fn world() -> (World, GroupId) {
    let mut world = World::new().await;
    world.office.planning = SMALL;
    for batch in 0..LETTERS / 10 {
        world.place(batch * 10, 10).await;
        world.consume(&|_| Some("orders::pricing::Overflow"), "v1").await;
        world.intake().await;
        world.advance(Span::from_secs(1));
    }
    let group = world.only_group().await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    (world, group)
}

/// Begins a plan.
async fn begun(world: &World, group: &GroupId, request: &PlanRequest) -> Draft {
    world.advance(Span::from_ms(1));
    match act::plan(&world.office, &world.otto(), group, request).await.unwrap() {
        Planned::Draft(draft) => *draft,
        Planned::Plan(plan) => panic!("{plan:?}"),
    }
}

/// Makes a plan in one request.
async fn at_once(world: &World, group: &GroupId, request: &PlanRequest) -> Plan {
    world.advance(Span::from_ms(1));
    let mut office = world.office.clone();
    office.planning = PlanLimits::default();
    act::plan(&office, &world.otto(), group, request).await.unwrap().complete().unwrap()
}

async fn letters_of(world: &World, plan: &Plan) -> Vec<(u64, u32, LetterId)> {
    world.entries(&plan.id).await.into_iter().map(|entry| (entry.seq, entry.wave, entry.letter)).collect()
}

/// Checks that nothing of a draft is left.
async fn is_removed(world: &World, draft: &Draft) {
    assert_eq!(world.store.draft(&draft.id).await.unwrap(), None);
    assert_eq!(world.store.blocks(&draft.id, 0, 100).await.unwrap(), []);
    assert!(world.store.group(&draft.group).await.unwrap().unwrap().drafts.is_empty());
}

async fn acts(world: &World, group: &GroupId, act: Act) -> usize {
    let records = world.store.audit(group, None, 100).await.unwrap().items;
    records.iter().filter(|record| record.act == act).count()
}

#[tokio::test]
async fn a_plan_in_steps_is_the_plan_of_one_request() {
    let (world, group) = world().await;
    let options = PlanOptions { canary_letters: Some(3), ..PlanOptions::default() };
    let some = world.letters(&group, None).await.iter().map(|letter| letter.died_at).nth(70);
    for filter in [LetterFilter::default(), LetterFilter { died_before: some, ..LetterFilter::default() }] {
        let request = PlanRequest { options: options.clone(), filter, ..PlanRequest::default() };
        let whole = at_once(&world, &group, &request).await;
        let draft = begun(&world, &group, &request).await;
        assert_eq!((draft.read, draft.run), (25, 1), "the request does the first part");
        assert_eq!(world.store.plan(&group).await.unwrap(), None, "the plan before is gone");
        assert_eq!(world.steps().await, 0);
        let plan = world.store.plan(&group).await.unwrap().expect("a plan");
        assert_eq!(letters_of(&world, &plan).await, letters_of(&world, &whole).await);
        let expected = Plan { id: plan.id.clone(), made_at: plan.made_at, ..whole };
        assert_eq!(plan, expected);
        assert_eq!((plan.id.clone(), plan.made_at), (draft.id.clone(), draft.made_at));
        world.ledger_matches_entries(&plan.id).await;
        assert_eq!(world.store.draft(&draft.id).await.unwrap(), None);
    }
    assert_eq!((acts(&world, &group, Act::PlanBegun).await, acts(&world, &group, Act::ReplayPlanned).await), (2, 4));
    let plan = world.store.plan(&group).await.unwrap().expect("a plan");
    world.approve(&group, &plan).await;
    assert!(world.run(&plan.id, &works, "v2").await.is_finished());
}

#[tokio::test]
async fn a_plan_of_merged_fingerprints_has_the_order_of_one_request() {
    let mut world = World::new().await;
    for n in 0..60_u64 {
        let volume = ["/srv/a", "/srv/b", "/srv/c"][n as usize * 7 % 3];
        world.die(n, &format!("volume {volume} lost its index"), at_s(n as i64)).await;
    }
    world.advance(Span::from_secs(100));
    world.intake().await;
    sweep::run(&world.office).await.unwrap();
    let groups = world.store.groups(i64::MAX, None, 10).await.unwrap().items;
    let group = groups.iter().find(|facts| !facts.variant.merge.members.is_empty()).expect("a merge");
    let group = group.variant.id.clone();
    world.declare_fix(&group, "v2").await;
    let options = PlanOptions { canary_letters: Some(3), ..PlanOptions::default() };
    let request = PlanRequest { options, ..PlanRequest::default() };
    let whole = at_once(&world, &group, &request).await;
    world.office.planning = PlanLimits { in_request: 0, in_step: 7, together: 4 };
    begun(&world, &group, &request).await;
    assert_eq!(world.steps().await, 0);
    let plan = world.store.plan(&group).await.unwrap().expect("a plan");
    assert_eq!(letters_of(&world, &plan).await, letters_of(&world, &whole).await);
    assert_eq!(plan.letters_digest, whole.letters_digest);
}

/// Makes a plan in which one call fails. Returns whether the plan makes that many calls.
async fn plan_survives(call: i64, after: bool, cancels: bool) -> bool {
    let (world, group) = world().await;
    let case = format!("call {call}, {}", if after { "after" } else { "before" });
    world.faults.arm(call, after);
    let begun = act::plan(&world.office, &world.otto(), &group, &PlanRequest::default()).await;
    let is_begun = !world.store.group(&group).await.unwrap().unwrap().drafts.is_empty();
    if begun.is_err() && !is_begun && world.store.plan(&group).await.unwrap().is_none() {
        world.advance(Span::from_ms(1));
        act::plan(&world.office, &world.otto(), &group, &PlanRequest::default()).await.expect(&case);
    }
    if cancels && act::cancel_plan(&world.office, &world.otto(), &group).await.is_err() {
        let _ = act::cancel_plan(&world.office, &world.otto(), &group).await;
    }
    let mut drafts = Vec::new();
    for _ in 0..4 {
        let ids = world.store.group(&group).await.unwrap().unwrap().drafts;
        drafts.extend(ids);
        world.steps().await;
        world.advance(Span::from_secs(60));
        // A sweep may meet the fault; the next one makes up for it.
        let _ = sweep::run(&world.office).await;
    }
    world.steps().await;
    assert_eq!(world.store.group(&group).await.unwrap().unwrap().drafts, [], "{case}");
    let plan = world.store.plan(&group).await.unwrap();
    for id in drafts.iter().filter(|id| plan.as_ref().is_none_or(|plan| plan.id != **id)) {
        assert_eq!(world.store.blocks(id, 0, 100).await.unwrap(), [], "{case}");
        assert_eq!(world.store.draft(id).await.unwrap(), None, "{case}");
    }
    assert_eq!(plan.is_some(), !cancels, "{case}");
    if let Some(plan) = plan {
        let expected: Vec<_> =
            world.letters(&group, Some(LetterStateKind::Waiting)).await.into_iter().map(|letter| letter.id).collect();
        let planned: Vec<_> = letters_of(&world, &plan).await.into_iter().map(|(.., letter)| letter).collect();
        assert_eq!((planned, plan.letters.letters), (expected, LETTERS as i64), "{case}");
        world.ledger_matches_entries(&plan.id).await;
    }
    world.faults.has_failed()
}

#[tokio::test]
async fn a_plan_continues_after_a_crash_at_any_call() {
    let mut calls = 0;
    while plan_survives(calls, false, false).await && plan_survives(calls, true, false).await {
        calls += 1;
    }
    assert!(calls > 40, "a plan makes more than {calls} calls");
}

#[tokio::test]
async fn a_cancelled_plan_leaves_nothing_after_a_crash_at_any_call() {
    let mut calls = 0;
    while plan_survives(calls, false, true).await && plan_survives(calls, true, true).await {
        calls += 1;
    }
    assert!(calls > 25, "a cancelled plan makes more than {calls} calls");
}

#[tokio::test]
async fn two_steps_at_once_and_a_step_that_comes_twice_add_no_letter_twice() {
    let (world, group) = world().await;
    let draft = begun(&world, &group, &PlanRequest::default()).await;
    let next = |draft: &Draft| StepMessage { replay: draft.id.clone(), nudge: false, chain: draft.run };
    let nudge = StepMessage { replay: draft.id.clone(), nudge: true, chain: 0 };
    let first = next(&draft);
    let (one, two, three) = tokio::join!(
        replay::handle(&world.office, &first, "one"),
        replay::handle(&world.office, &first, "two"),
        replay::handle(&world.office, &nudge, "three")
    );
    one.unwrap();
    two.unwrap();
    three.unwrap();
    let after = world.store.draft(&draft.id).await.unwrap();
    // It was of a run that is over.
    replay::handle(&world.office, &first, "four").await.unwrap();
    assert_eq!(world.store.draft(&draft.id).await.unwrap(), after);
    world.steps().await;
    let plan = world.store.plan(&group).await.unwrap().expect("a plan");
    let letters: std::collections::BTreeSet<_> =
        letters_of(&world, &plan).await.into_iter().map(|(.., letter)| letter).collect();
    assert_eq!(letters.len() as u64, LETTERS);
    world.ledger_matches_entries(&plan.id).await;
}

#[tokio::test]
async fn letters_that_die_or_leave_while_a_plan_is_made_are_left_out() {
    let (world, group) = world().await;
    let draft = begun(&world, &group, &PlanRequest::default()).await;
    // One that was read, and one that was not.
    let letters = world.letters(&group, None).await;
    let (first, last) = (&letters[0], &letters[LETTERS as usize - 1]);
    world.advance(Span::from_secs(1));
    world.place(1_000, 2).await;
    world.consume(&|_| Some("orders::pricing::Overflow"), "v1").await;
    world.intake().await;
    let preview = wire::DiscardPreviewRequest { letters: vec![last.id.clone()], ..Default::default() };
    let seen = act::preview_discard(&world.office, &group, &preview).await.unwrap();
    let reason = domain::discard::DiscardReason::TestData;
    let (letters, filter) = (preview.letters, LetterFilter::default());
    let request = wire::DiscardRequest { letters, filter, seen_at: seen.seen_at, reason, note: None };
    act::discard(&world.office, &world.anna(), &group, &request).await.unwrap();
    world.steps().await;
    let plan = world.store.plan(&group).await.unwrap().expect("a plan");
    let planned: Vec<_> = letters_of(&world, &plan).await.into_iter().map(|(.., letter)| letter).collect();
    assert!(planned.contains(&first.id) && !planned.contains(&last.id));
    assert_eq!(planned.len() as u64, LETTERS - 1);
    let left_out: Vec<_> = plan.left_out.iter().map(|row| (row.reason.as_str(), row.letters)).collect();
    assert_eq!(left_out, [("failed after the plan was begun", 2)]);
    assert_eq!(plan.id, draft.id);
}

#[tokio::test]
async fn a_new_plan_replaces_one_that_is_being_made() {
    let (world, group) = world().await;
    let first = begun(&world, &group, &PlanRequest::default()).await;
    let second = begun(&world, &group, &PlanRequest::default()).await;
    assert_ne!(first.id, second.id);
    world.steps().await;
    is_removed(&world, &first).await;
    assert_eq!(world.store.plan(&group).await.unwrap().expect("a plan").id, second.id);

    let third = begun(&world, &group, &PlanRequest::default()).await;
    let named =
        PlanRequest { letters: vec![world.letters(&group, None).await[7].id.clone()], ..PlanRequest::default() };
    world.advance(Span::from_ms(1));
    let plan = act::plan(&world.office, &world.otto(), &group, &named).await.unwrap().complete().unwrap();
    let left_out: Vec<_> = plan.left_out.iter().map(|row| (row.reason.as_str(), row.letters)).collect();
    assert_eq!((left_out.as_slice(), plan.named), ([("not selected", LETTERS - 1)].as_slice(), true));
    world.steps().await;
    is_removed(&world, &third).await;
    assert_eq!(world.store.plan(&group).await.unwrap(), Some(plan));

    for _ in 0..DRAFTS_MAX {
        begun(&world, &group, &PlanRequest::default()).await;
    }
    world.advance(Span::from_ms(1));
    let full = act::plan(&world.office, &world.otto(), &group, &PlanRequest::default()).await;
    assert!(matches!(full, Err(OfficeError::NotNow(_))), "{full:?}");
}

#[tokio::test]
async fn a_plan_that_is_being_made_ends_when_its_fix_is_withdrawn() {
    let (world, group) = world().await;
    let draft = begun(&world, &group, &PlanRequest::default()).await;
    act::withdraw_fix(&world.office, &world.otto(), &group, "wrong").await.unwrap();
    world.steps().await;
    is_removed(&world, &draft).await;
    assert_eq!(world.store.plan(&group).await.unwrap(), None);
    assert_eq!(acts(&world, &group, Act::PlanFailed).await, 1);
}

#[tokio::test]
async fn a_policy_that_changes_meanwhile_does_not_change_the_waves() {
    let (mut world, group) = world().await;
    let draft = begun(&world, &group, &PlanRequest::default()).await;
    let mut policy = Policy::clone(&world.office.policy);
    let before = policy.replay.clone();
    (policy.replay.growth_factor, policy.replay.pace_per_s, policy.replay.wave_letters_max) = (1, 1, 1);
    world.office.policy = Arc::new(policy);
    world.steps().await;
    let plan = world.store.plan(&group).await.unwrap().expect("a plan");
    assert_eq!((plan.id, plan.pace_per_s), (draft.id, before.pace_per_s));
    assert!(plan.waves.len() < 10, "{:?}", plan.waves);
}

#[tokio::test]
async fn a_plan_for_a_fifo_queue_has_a_limit_of_its_own() {
    let (world, group) = world().await;
    let mut variant = world.store.group(&group).await.unwrap().unwrap();
    let before = variant.version;
    variant.version += 1;
    variant.main_queue = Some(domain::id::QueueArn::new("arn:aws:sqs:local:000000000000:orders.fifo"));
    let many = PLAN_FIFO_LETTERS_MAX as i64;
    let waiting = Tally { letters: many, ..Tally::default() };
    let delta = CountsDelta { by_state: [(LetterStateKind::Waiting, waiting)].into(), ..CountsDelta::default() };
    let writes = vec![
        Write::Variant { variant: Box::new(variant), expect: office::port::Expect::Version(before) },
        Write::Counts { group: group.clone(), delta: Box::new(delta) },
    ];
    world.store.commit(writes).await.unwrap();
    let settings = local::queue::QueueSettings::default();
    world.queue.create_queue(&"arn:aws:sqs:local:000000000000:orders.fifo".into(), settings).await.unwrap();
    let refused = act::plan(&world.office, &world.otto(), &group, &PlanRequest::default()).await;
    let letters = PLAN_FIFO_LETTERS_MAX + LETTERS;
    assert!(
        matches!(&refused, Err(OfficeError::Plan(PlanError::TooManyInOrder { letters: found })) if *found == letters),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_rule_approves_a_plan_once_it_is_complete() {
    let (mut world, group) = world().await;
    let rule = AutoApproval {
        name: "all".into(),
        classes: vec![Class::Permanent],
        categories: Vec::new(),
        letters_max: LETTERS,
    };
    let gate = GatePolicy { four_eyes: false, ..world.office.policy.gate.clone() };
    let policy = Policy { gate, auto_approvals: vec![rule], ..Policy::clone(&world.office.policy) };
    world.office.policy = Arc::new(policy);
    let is_replaying = async || {
        let group = world.store.group(&group).await.unwrap().unwrap();
        matches!(group.state, GroupState::Replaying { .. })
    };
    sweep::run(&world.office).await.unwrap();
    sweep::run(&world.office).await.unwrap();
    assert!(!is_replaying().await && world.store.plan(&group).await.unwrap().is_none());
    assert_eq!(acts(&world, &group, Act::PlanBegun).await, 1, "the second sweep begins none");
    world.steps().await;
    sweep::run(&world.office).await.unwrap();
    assert!(is_replaying().await);
}
