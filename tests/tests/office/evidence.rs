//! Evidence about consumers at the gate: disabled consumers, and deployments that no one reported.

use domain::deployment::{AttachedConsumer, Deployment};
use domain::gate::{ConditionKind, Status};
use domain::id::GroupId;
use domain::replay::{PauseReason, PlanOptions, ReplayState};
use domain::time::Span;
use harness::world::{VISIBILITY, World, approve_request, kinds};
use office::act;
use office::consumers::{Function, saw_function, saw_queue};
use office::error::OfficeError;
use queue::{Queue, Received};
use wire::ApproveRequest;

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

fn consumer(state: &str) -> Vec<AttachedConsumer> {
    vec![AttachedConsumer {
        service: "orders".into(),
        enabled: state == "Enabled",
        state: state.into(),
        ..AttachedConsumer::default()
    }]
}

/// Returns the function at a version, last modified now.
fn function(world: &World, version: &str) -> Function {
    Function {
        name: "orders".into(),
        version: "$LATEST".into(),
        modified_at: Some(world.office.now()),
        code_hash: None,
        log_group: None,
        timeout: None,
        variables: [("SERVICE_VERSION".into(), version.into())].into(),
    }
}

/// Creates letters of one group with a declared fix and a plan. Returns the request that approves it.
async fn planned(letters: u64) -> (World, GroupId, ApproveRequest) {
    let world = World::new().await;
    let group = world.one_group(letters).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    (world, group, approve_request(&plan))
}

async fn unmet(world: &World, group: &GroupId, request: &ApproveRequest) -> Vec<(ConditionKind, String)> {
    match act::approve(&world.office, &world.anna(), group, request).await {
        Err(OfficeError::GateClosed(unmet)) => unmet.into_iter().map(|one| (one.kind, one.evidence)).collect(),
        other => panic!("the gate is closed: {other:?}"),
    }
}

#[tokio::test]
async fn a_disabled_consumer_keeps_the_gate_closed() {
    let (world, group, request) = planned(5).await;
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    let words = "No consumer receives messages from orders: its consumer orders is disabled.";
    assert_eq!(unmet(&world, &group, &request).await, [(ConditionKind::QueueReady, words.to_string())]);
    saw_queue(&world.office, &world.main, consumer("Enabled")).await.unwrap();
    act::approve(&world.office, &world.anna(), &group, &request).await.unwrap();
}

#[tokio::test]
async fn old_or_missing_evidence_does_not_close_the_gate() {
    let (world, group, request) = planned(5).await;
    saw_queue(&world.office, &world.main, Vec::new()).await.unwrap();
    assert_eq!(world.store.attached(&world.main).await.unwrap(), None, "a queue without consumers needs no record");
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    world.advance(Span::from_mins(31));
    act::approve(&world.office, &world.anna(), &group, &request).await.unwrap();
}

#[tokio::test]
async fn a_consumer_disabled_between_two_waves_pauses_the_replay() {
    let (world, group, request) = planned(40).await;
    let id = act::approve(&world.office, &world.anna(), &group, &request).await.unwrap().id().clone();
    world.steps().await;
    saw_queue(&world.office, &world.main, consumer("Disabled")).await.unwrap();
    let replay = world.run(&id, &everything_works, "v2").await;
    let ReplayState::Paused { why: PauseReason::GateClosed { unmet }, .. } = replay.state() else {
        panic!("it is paused: {:?}", replay.state())
    };
    assert!(unmet[0].contains("orders is disabled"), "{unmet:?}");
}

#[tokio::test]
async fn a_seen_version_is_evidence_of_the_fix() {
    let (world, group, request) = planned(5).await;
    saw_function(&world.office, &function(&world, "v1")).await.unwrap();
    let closed = unmet(&world, &group, &request).await;
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
    // Seeing the same version again changes nothing, nor does a late record of the old version.
    world.advance(Span::from_secs(60));
    saw_function(&world.office, &seen).await.unwrap();
    let old = Function { modified_at: Some(at.minus(Span::from_secs(1))), ..function(&world, "v1") };
    saw_function(&world.office, &old).await.unwrap();
    assert_eq!(world.store.deployment("orders").await.unwrap(), known);
    act::approve(&world.office, &world.anna(), &group, &request).await.unwrap();
}

#[tokio::test]
async fn letters_without_a_consumer_use_the_attached_one() {
    let world = World::new().await;
    world.place(0, 3).await;
    // Received three times and never deleted: SQS moves them, without error details.
    for _ in 0..4 {
        world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
        world.advance(VISIBILITY);
    }
    world.intake().await;
    let group = world.only_group().await;
    assert_eq!(world.store.group(&group).await.unwrap().unwrap().consumer, None);
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(20));
    let plan = world.plan(&group, &PlanOptions::default()).await;
    let request = approve_request(&plan);
    saw_function(&world.office, &function(&world, "v1")).await.unwrap();
    saw_queue(&world.office, &world.main, consumer("Enabled")).await.unwrap();
    let refused = act::approve(&world.office, &world.anna(), &group, &request).await.unwrap_err();
    let OfficeError::GateClosed(unmet) = refused else { panic!("{refused}") };
    assert_eq!(kinds(&unmet), [ConditionKind::FixIsLive]);
    assert!(matches!(unmet[0].status, Status::Unmet { .. }));
}
