//! The whole story at the handlers: letters die, are grouped, fixed, approved, replayed, and delivered or returned.

use domain::audit::Act;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::{GroupId, ReplayId};
use domain::letter::LetterStateKind;
use domain::money::{Currency, Money};
use domain::policy::{GatePolicy, Policy};
use domain::replay::{Ending, OutcomeKind, PauseReason, PlanHash, PlanOptions, ReplayState, ReturnCause};
use domain::time::Span;
use harness::world::{World, approve_request, kinds, number_of};
use office::act;
use office::error::OfficeError;
use office::gate::LettersToSend;
use queue::{Queue as _, Received};
use std::sync::Arc;
use wire::{ApproveRequest, DeclareFixRequest, PlanRequest, ResumeRequest, WaiverRequest};

const BUG: &str = "orders::pricing::Overflow";

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some(BUG)
}

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

fn only_every_fourth_works(message: &Received) -> Option<&'static str> {
    (!number_of(&message.content.body).is_multiple_of(4)).then_some(BUG)
}

async fn world_with_letters(count: u64) -> (World, GroupId) {
    let world = World::new().await;
    let group = world.one_group(count).await;
    (world, group)
}

fn fix(reference: &str) -> DeclareFixRequest {
    DeclareFixRequest { kind: FixKind::Deploy, reference: reference.into(), note: None, transform: None }
}

async fn planned(world: &World, group: &GroupId, reference: &str) -> ApproveRequest {
    let plan = world.plan_with_fix(group, reference, &PlanOptions::default()).await;
    approve_request(&plan)
}

async fn approved(world: &World, group: &GroupId, reference: &str) -> ReplayId {
    let approve = planned(world, group, reference).await;
    act::approve(&world.office, &world.anna(), group, &approve).await.unwrap().id().clone()
}

/// Approves a replay that a person pauses after its first letters, which have their outcome.
async fn paused(world: &World, group: &GroupId) -> ReplayId {
    let id = approved(world, group, "v2").await;
    world.steps().await;
    act::pause(&world.office, &world.otto(), &id, "lunch").await.unwrap();
    world.run(&id, &everything_works, "v2").await;
    id
}

fn resume() -> ResumeRequest {
    ResumeRequest { reason: "v3 is live".into(), program_hash: None, fix_declared_at: None, waivers: Vec::new() }
}

async fn state_of(world: &World, group: &GroupId) -> GroupState {
    world.store.group(group).await.unwrap().unwrap().state
}

/// Returns what started, in order.
async fn starts(world: &World, group: &GroupId) -> Vec<String> {
    let audit = world.store.audit(group, None, 200).await.unwrap().items.into_iter().rev();
    let started =
        audit.filter(|record| matches!(record.act, Act::WaveStarted | Act::CanaryStarted | Act::ReplayResumed));
    started.map(|record| record.detail).collect()
}

#[tokio::test]
async fn a_right_fix_delivers_every_letter_and_resolves_the_group() {
    let (world, group) = world_with_letters(40).await;
    let id = approved(&world, &group, "v2").await;
    let replay = world.run(&id, &everything_works, "v2").await;
    assert!(matches!(replay.state(), ReplayState::Finished { ending: Ending::Completed, .. }));
    assert_eq!(world.ledger(&id).await.total().delivered, 40);
    assert!(matches!(state_of(&world, &group).await, GroupState::Resolved { .. }));
    let counts = world.counters_are_exact(&group).await;
    assert_eq!((counts.open().letters, counts.tally(LetterStateKind::Delivered).letters), (0, 40));
    assert_eq!(world.processed.lock().unwrap().len(), 40, "each letter was processed once");
}

#[tokio::test]
async fn a_wrong_fix_pauses_the_replay_and_the_right_one_finishes_it() {
    let (world, group) = world_with_letters(60).await;
    let id = approved(&world, &group, "v2").await;
    let replay = world.run(&id, &only_every_fourth_works, "v2").await;
    let ReplayState::Paused { why: PauseReason::TooManyReturned { returned, sent, .. }, .. } = replay.state() else {
        panic!("the replay did not pause itself: {:?}", replay.state())
    };
    assert!(*returned > 0 && sent >= returned, "{returned} of {sent}");
    let returned = world.entries(&id).await.into_iter().filter_map(|entry| match entry.outcome {
        domain::replay::Outcome::Returned { cause, .. } => Some(cause),
        _ => None,
    });
    assert!(returned.into_iter().all(|cause| cause == ReturnCause::SameCause));
    assert!(matches!(state_of(&world, &group).await, GroupState::Paused { fix: None, .. }), "the fix no longer counts");

    let refused = act::resume(&world.office, &world.anna(), &id, &resume()).await.unwrap_err();
    let OfficeError::GateClosed(unmet) = refused else { panic!("{refused}") };
    assert!(kinds(&unmet).contains(&ConditionKind::FixDeclared));

    world.declare_fix(&group, "v3").await;
    world.advance(Span::from_secs(11));
    let own = act::resume(&world.office, &world.otto(), &id, &resume()).await.unwrap_err();
    assert!(matches!(own, OfficeError::GateClosed(unmet) if kinds(&unmet) == [ConditionKind::Approval]));
    act::resume(&world.office, &world.anna(), &id, &resume()).await.unwrap();
    let replay = world.run(&id, &everything_works, "v3").await;
    assert!(replay.is_finished());
    // The canary of the new fix is called one, and each wave starts once.
    assert_eq!(
        starts(&world, &group).await,
        [
            "57 letters remaining, starting with a canary of 3, with the fix Deploy v3",
            "3 letters of wave 2 of 3; its other 12 follow if the canary passes",
            "The canary passed; the rest of wave 2 of 3: 12 letters",
            "Wave 3 of 3: 42 letters",
        ]
    );
    let returned = world.ledger(&id).await.total().returned;
    assert!(
        matches!(state_of(&world, &group).await, GroupState::FixDeclared { .. }),
        "the returned letters may follow"
    );

    let plan = world.plan(&group, &PlanOptions::default()).await;
    assert_eq!(plan.letters.letters as u64, returned);
    world.approve(&group, &plan).await;
    world.run(&plan.id, &everything_works, "v3").await;
    assert!(matches!(state_of(&world, &group).await, GroupState::Resolved { .. }));
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.tally(LetterStateKind::Delivered).letters, 60);
    assert_eq!(world.processed.lock().unwrap().len(), 60);
}

#[tokio::test]
async fn a_closed_gate_refuses_and_says_why() {
    let (world, group) = world_with_letters(3).await;
    let office = &world.office;
    let no_fix = act::make_plan(office, &world.otto(), &group, &PlanOptions::default()).await;
    assert!(matches!(no_fix, Err(OfficeError::NotNow(_))));
    let no_plan = ApproveRequest { plan_hash: PlanHash("x".into()), reason: "now".into(), waivers: Vec::new() };
    assert!(matches!(act::approve(office, &world.anna(), &group, &no_plan).await, Err(OfficeError::NoPlan)));

    world.advance(Span::from_secs(1));
    act::declare_fix(office, &world.otto(), &group, &fix("v2")).await.unwrap();
    let plan = act::make_plan(office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let approve = approve_request(&plan);
    let unmet = |result: Result<_, OfficeError>| match result {
        Err(OfficeError::GateClosed(unmet)) => kinds(&unmet),
        Err(error) => panic!("{error}"),
        Ok::<domain::replay::Replay, _>(_) => panic!("the gate was open"),
    };
    let early = act::approve(office, &world.anna(), &group, &approve).await;
    assert_eq!(unmet(early), [ConditionKind::Quiet]);
    let own = act::approve(office, &world.otto(), &group, &approve).await;
    assert_eq!(unmet(own), [ConditionKind::Quiet, ConditionKind::Approval]);
    let silent = ApproveRequest { reason: "  ".into(), ..approve.clone() };
    let silent = act::approve(office, &world.anna(), &group, &silent).await;
    assert!(matches!(silent, Err(OfficeError::Invalid(_))));
    let other = ApproveRequest { plan_hash: PlanHash("00".into()), ..approve.clone() };
    let other = act::approve(office, &world.anna(), &group, &other).await;
    assert!(matches!(other, Err(OfficeError::PlanChanged)));
    assert_eq!(world.queue.attributes(&world.main).await.unwrap().visible_count, 0, "nothing was sent");

    let waiver = WaiverRequest { condition: ConditionKind::Quiet, reason: "no traffic".into() };
    let waived = ApproveRequest { waivers: vec![waiver], ..approve };
    act::approve(office, &world.anna(), &group, &waived).await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_after_a_pause_or_an_abort() {
    let (world, group) = world_with_letters(80).await;
    let id = approved(&world, &group, "v2").await;
    world.steps().await;
    act::pause(&world.office, &world.otto(), &id, "lunch").await.unwrap();
    let sent = world.ledger(&id).await.total().sent();
    let replay = world.run(&id, &everything_works, "v2").await;
    assert!(matches!(replay.state(), ReplayState::Paused { why: PauseReason::ByPerson { .. }, .. }));
    let after = world.ledger(&id).await.total();
    assert_eq!((after.sent(), after.delivered), (sent, sent), "every letter in flight has an outcome");

    act::abort(&world.office, &world.otto(), &id, "wrong queue").await.unwrap();
    let replay = world.run(&id, &everything_works, "v2").await;
    assert!(matches!(replay.state(), ReplayState::Finished { ending: Ending::Aborted, .. }));
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.skipped), (sent, 80 - sent));
    let waiting = world.letters(&group, Some(LetterStateKind::Waiting)).await.len() as u64;
    assert_eq!(waiting, 80 - sent, "every unsent letter still waits");
}

#[tokio::test]
async fn resuming_above_the_amount_limit_needs_a_second_person() {
    let (mut world, group) = world_with_letters(30).await;
    let limit = Money { amount: 100.into(), currency: Currency::parse("EUR").unwrap() };
    let gate = GatePolicy { four_eyes: false, four_eyes_from: vec![limit], ..world.office.policy.gate.clone() };
    world.office.policy = Arc::new(Policy { gate, ..(*world.office.policy).clone() });
    let id = paused(&world, &group).await;
    let own = act::resume(&world.office, &world.otto(), &id, &resume()).await.unwrap_err();
    assert!(matches!(own, OfficeError::GateClosed(unmet) if kinds(&unmet) == [ConditionKind::Approval]));
    act::resume(&world.office, &world.anna(), &id, &resume()).await.unwrap();
}

#[tokio::test]
async fn a_group_above_the_amount_limit_is_not_approved_in_parts_by_its_declarer() {
    let (mut world, group) = world_with_letters(30).await;
    let open = world.store.group_facts(&group, i64::MAX).await.unwrap().unwrap().counts.open().money;
    let gate =
        GatePolicy { four_eyes: false, four_eyes_from: open.sums().to_vec(), ..world.office.policy.gate.clone() };
    world.office.policy = Arc::new(Policy { gate, ..(*world.office.policy).clone() });
    world.declare_fix(&group, "v2").await;
    let letters = world.letters(&group, None).await.into_iter().take(1).map(|letter| letter.id).collect();
    let request = PlanRequest { letters, ..PlanRequest::default() };
    let planned = act::plan(&world.office, &"otto".into(), &group, &request).await.unwrap();
    let act::Planned::Plan(plan) = planned else { panic!("one letter needs no steps") };
    world.advance(Span::from_secs(60));
    let own = act::approve(&world.office, &world.otto(), &group, &approve_request(&plan)).await.unwrap_err();
    assert!(matches!(own, OfficeError::GateClosed(unmet) if kinds(&unmet) == [ConditionKind::Approval]));
    act::approve(&world.office, &world.anna(), &group, &approve_request(&plan)).await.unwrap();
}

#[tokio::test]
async fn a_resumption_counts_for_the_fix_that_the_approver_saw() {
    let (world, group) = world_with_letters(30).await;
    let id = paused(&world, &group).await;
    let seen = state_of(&world, &group).await.fix().unwrap().declared_at;
    world.advance(Span::from_secs(1));
    act::declare_fix(&world.office, &world.otto(), &group, &fix("v3")).await.unwrap();
    world.advance(Span::from_secs(60));
    let of = |at| ResumeRequest { fix_declared_at: Some(at), ..resume() };
    let other = act::resume(&world.office, &world.anna(), &id, &of(seen)).await.unwrap_err();
    assert!(matches!(other, OfficeError::PlanChanged), "{other}");
    let now = state_of(&world, &group).await.fix().unwrap().declared_at;
    act::resume(&world.office, &world.anna(), &id, &of(now)).await.unwrap();
    let audit = world.store.audit(&group, None, 50).await.unwrap().items;
    let record = audit.iter().find(|record| record.act == Act::ReplayResumed).expect("a record");
    assert!(record.detail.contains("with the fix Deploy v3"), "{}", record.detail);
}

#[tokio::test]
async fn the_gate_of_a_paused_replay_covers_its_remaining_letters() {
    let (world, group) = world_with_letters(30).await;
    let id = paused(&world, &group).await;
    let remaining = world.ledger(&id).await.total().pending;
    assert!(remaining > 0);
    let facts = world.store.group_facts(&group, i64::MAX).await.unwrap().unwrap();
    let LettersToSend { letters, left_out, .. } = LettersToSend::now(&world.office, &facts).await.unwrap();
    assert_eq!((letters.letters as u64, left_out), (remaining, Vec::new()));
}

#[tokio::test]
async fn a_letter_that_dies_after_the_fix_makes_its_group_regress() {
    let (world, group) = world_with_letters(5).await;
    let id = approved(&world, &group, "v2").await;
    world.run(&id, &everything_works, "v2").await;
    world.advance(Span::from_secs(60));
    world.place(100, 1).await;
    world.consume(&nothing_works, "v1").await;
    assert_eq!(world.intake().await.regressions, 1);
    assert!(matches!(state_of(&world, &group).await, GroupState::Regressed { .. }));
}

#[tokio::test]
async fn a_group_knows_on_which_versions_its_letters_died() {
    let (world, group) = world_with_letters(5).await;
    let died_on = async || world.store.group(&group).await.unwrap().expect("a group").died_on;
    assert_eq!(died_on().await, ["v1"]);
    for (first, version, expected) in [(100, "v2", &["v1", "v2"][..]), (200, "v1", &["v1", "v2"])] {
        world.place(first, 2).await;
        world.consume(&nothing_works, version).await;
        world.intake().await;
        assert_eq!(died_on().await, expected, "after {version}");
    }
}

#[tokio::test]
async fn a_letter_that_failed_before_the_fix_is_not_a_regression() {
    let (world, group) = world_with_letters(5).await;
    world.place(100, 1).await;
    world.consume(&nothing_works, "v1").await;
    let id = approved(&world, &group, "v2").await;
    // The late letter stays in the dead-letter queue during the replay.
    for _ in 0..60 {
        world.steps().await;
        world.consume(&everything_works, "v2").await;
        world.advance(Span::from_secs(1));
    }
    assert!(
        matches!(state_of(&world, &group).await, GroupState::Resolved { .. }),
        "{:?}",
        world.replay(&id).await.state()
    );
    assert_eq!(world.intake().await.regressions, 0);
    assert!(matches!(state_of(&world, &group).await, GroupState::FixDeclared { .. }));
}

#[tokio::test]
async fn a_letter_that_returns_late_is_counted_as_returned() {
    let (world, group) = world_with_letters(2).await;
    let id = approved(&world, &group, "v2").await;
    let mut taken = Vec::new();
    for _ in 0..60 {
        world.steps().await;
        let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.expect("receive");
        let handles: Vec<_> = received.iter().map(|message| message.receipt_handle.clone()).collect();
        if !handles.is_empty() {
            world.queue.delete_batch(&world.main, &handles).await.expect("delete");
        }
        taken.extend(received);
        world.advance(Span::from_secs(1));
    }
    assert_eq!(world.ledger(&id).await.total().delivered, 2, "the consumer has deleted the messages");
    world.advance(Span::from_mins(10));
    for message in &taken {
        world.dead_letter(message, BUG, "v2").await;
    }
    assert_eq!(world.intake().await.returned, 2);
    world.ledger_matches_entries(&id).await;
    assert_eq!(world.ledger(&id).await.total().get(OutcomeKind::Returned), 2);
    assert!(matches!(state_of(&world, &group).await, GroupState::Regressed { .. }));
    world.counters_are_exact(&group).await;
}

#[tokio::test]
async fn a_letter_that_no_consumer_receives_is_not_delivered() {
    let (world, group) = world_with_letters(40).await;
    let id = approved(&world, &group, "v2").await;
    for _ in 0..90 {
        world.steps().await;
        world.advance(Span::from_mins(1));
    }
    let paused = world.replay(&id).await;
    let why = PauseReason::BacklogNotDrained { visible_count: 2 };
    assert!(matches!(&paused.state(), ReplayState::Paused { why: found, .. } if *found == why), "{:?}", paused.state());
    let total = world.ledger(&id).await.total();
    assert_eq!((total.in_flight, total.delivered, total.pending), (2, 0, 38), "only the canary was sent");
    world.ledger_matches_entries(&id).await;

    // The consumer starts: its results decide on the canary, and the remaining letters may follow.
    let replay = world.run(&id, &everything_works, "v2").await;
    assert!(replay.is_paused());
    assert_eq!(world.ledger(&id).await.total().delivered, 2);
    act::resume(&world.office, &world.anna(), &id, &resume()).await.unwrap();
    let done = world.run(&id, &everything_works, "v2").await;
    assert!(matches!(done.state(), ReplayState::Finished { ending: Ending::Completed, .. }), "{:?}", done.state());
    assert_eq!(world.ledger(&id).await.total().delivered, 40);
    assert!(matches!(state_of(&world, &group).await, GroupState::Resolved { .. }));
}
