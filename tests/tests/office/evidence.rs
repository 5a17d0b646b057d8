//! Evidence about consumers at the gate: a queue whose consumer is switched off, and versions that nobody reported.

use domain::deployment::{AttachedConsumer, Deployment};
use domain::fix::FixKind;
use domain::gate::{ConditionKind, Status};
use domain::id::GroupId;
use domain::replay::{PauseReason, PlanOptions, ReplayState};
use domain::time::Span;
use harness::world::{VISIBILITY, World, kinds};
use office::act;
use office::consumers::{Function, saw_function, saw_queue};
use office::error::OfficeError;
use queue::{Queue, Received};
use wire::{ApproveRequest, DeclareFixRequest};

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

fn consumer(state: &str) -> Vec<AttachedConsumer> {
    vec![AttachedConsumer { service: "orders".into(), enabled: state == "Enabled", state: state.into() }]
}

/// Version `version` of the consumer, changed last now.
fn function(world: &World, version: &str) -> Function {
    Function {
        name: "orders".into(),
        version: "$LATEST".into(),
        modified_at: Some(world.office.now()),
        code_hash: None,
        variables: [("SERVICE_VERSION".into(), version.into())].into(),
    }
}

/// Letters of one cause whose fix is declared and planned for.
async fn planned(letters: u64) -> (World, GroupId, ApproveRequest) {
    let world = World::new().await;
    let group = world.one_group(letters).await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    (world, group, ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() })
}

async fn unmet(world: &World, group: &GroupId, ask: &ApproveRequest) -> Vec<(ConditionKind, String)> {
    match act::approve(&world.office, &world.anna(), group, ask).await {
        Err(OfficeError::GateClosed(unmet)) => unmet.into_iter().map(|one| (one.kind, one.evidence)).collect(),
        other => panic!("the gate is closed: {other:?}"),
    }
}

#[tokio::test]
async fn a_consumer_that_is_switched_off_keeps_the_gate_closed() {
    let (world, group, ask) = planned(5).await;
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    let words = "Nobody takes messages from orders: orders is attached to it, and that is disabled.";
    assert_eq!(unmet(&world, &group, &ask).await, [(ConditionKind::QueueReady, words.to_string())]);
    saw_queue(&world.office, &world.main, consumer("Enabled")).await.unwrap();
    act::approve(&world.office, &world.anna(), &group, &ask).await.unwrap();
}

#[tokio::test]
async fn a_look_that_is_old_or_finds_nothing_says_nothing() {
    let (world, group, ask) = planned(5).await;
    saw_queue(&world.office, &world.main, Vec::new()).await.unwrap();
    assert_eq!(world.store.attached(&world.main).await.unwrap(), None, "a queue without mappings costs no record");
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    world.advance(Span::from_mins(31));
    act::approve(&world.office, &world.anna(), &group, &ask).await.unwrap();
}

#[tokio::test]
async fn a_consumer_that_is_switched_off_between_two_waves_pauses_the_replay() {
    let (world, group, ask) = planned(40).await;
    let id = act::approve(&world.office, &world.anna(), &group, &ask).await.unwrap().id().clone();
    world.steps().await;
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    let replay = world.run(&id, &everything_works, "v2").await;
    let ReplayState::Paused { why: PauseReason::GateClosed { unmet }, .. } = replay.state() else {
        panic!("it is paused: {:?}", replay.state())
    };
    assert!(unmet[0].contains("that is disabled"), "{unmet:?}");
}

#[tokio::test]
async fn a_version_that_is_seen_is_the_fixs_evidence() {
    let (world, group, ask) = planned(5).await;
    saw_function(&world.office, &function(&world, "v1")).await.unwrap();
    let closed = unmet(&world, &group, &ask).await;
    assert_eq!(
        closed,
        [(ConditionKind::FixIsLive, "orders runs v1, but the fix is in v2. Deploy the fix.".to_string())]
    );
    world.advance(Span::from_secs(1));
    let seen = function(&world, "v2");
    saw_function(&world.office, &seen).await.unwrap();
    let known = world.store.deployment("orders").await.unwrap();
    let at = seen.modified_at.unwrap();
    assert_eq!(known, Some(Deployment { service: "orders".into(), version: "v2".into(), commit: None, at }));
    // The next look changes nothing, and a late one of the old version neither.
    world.advance(Span::from_secs(60));
    saw_function(&world.office, &seen).await.unwrap();
    let old = Function { modified_at: Some(at.minus(Span::from_secs(1))), ..function(&world, "v1") };
    saw_function(&world.office, &old).await.unwrap();
    assert_eq!(world.store.deployment("orders").await.unwrap(), known);
    act::approve(&world.office, &world.anna(), &group, &ask).await.unwrap();
}

#[tokio::test]
async fn letters_that_do_not_name_their_consumer_are_judged_by_what_is_attached() {
    let world = World::new().await;
    world.place(0, 3).await;
    // Received three times and never deleted: SQS moves them, with nothing said.
    for _ in 0..4 {
        world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
        world.advance(VISIBILITY);
    }
    world.intake().await;
    let group = world.only_group().await;
    assert_eq!(world.store.group(&group).await.unwrap().unwrap().consumer, None);
    let fix = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    world.advance(Span::from_secs(20));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let ask = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    saw_function(&world.office, &function(&world, "v1")).await.unwrap();
    saw_queue(&world.office, &world.main, consumer("Enabled")).await.unwrap();
    let refused = act::approve(&world.office, &world.anna(), &group, &ask).await.unwrap_err();
    let OfficeError::GateClosed(unmet) = refused else { panic!("{refused}") };
    assert_eq!(kinds(&unmet), [ConditionKind::FixIsLive]);
    assert!(matches!(unmet[0].status, Status::Unmet { .. }));
}
