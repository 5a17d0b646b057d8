//! What consumers say of themselves reaches the gate, from those who may say it, and nothing else.

use domain::deployment::AttachedConsumer;
use domain::fix::FixKind;
use domain::gate::{Condition, ConditionKind};
use domain::id::{GroupId, MessageId};
use domain::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use domain::message::{Attribute, Content, SystemAttributes};
use domain::notice::{CircuitNotice, CircuitState, NOTICE_VERSION, Notice};
use domain::policy::Policy;
use domain::replay::{PlanOptions, RECEIPT_VERSION, Receipt};
use domain::time::Span;
use harness::world::{World, approve_request, order};
use office::error::OfficeError;
use office::{act, event};
use queue::{Queue as _, Received};
use serde_json::json;
use std::sync::Arc;
use wire::{ApproveRequest, DeclareFixRequest, WaiverRequest};

/// A world whose policy leaves it to the consumers whether orders may be handled twice.
async fn world(idempotent: Option<bool>) -> World {
    let mut world = World::new().await;
    let mut policy = Policy::clone(&world.office.policy);
    policy.message_types[0].idempotent = idempotent;
    world.office.policy = Arc::new(policy);
    world
}

fn received(n: usize, body: String, sender: Option<&str>) -> Received {
    let system = SystemAttributes { sender_id: sender.map(Into::into), ..SystemAttributes::default() };
    let content = Content { body, ..Content::default() };
    Received { message_id: MessageId::new(format!("said-{n}")), receipt_handle: String::new(), content, system }
}

fn notice(world: &World, circuits: &[(&str, CircuitState)], idempotent: &[&str]) -> Notice {
    let circuit =
        |(dependency, state): &(&str, CircuitState)| CircuitNotice { dependency: (*dependency).into(), state: *state };
    Notice {
        v: NOTICE_VERSION,
        queue: world.main.clone(),
        consumer: "orders".into(),
        consumer_version: "v2".into(),
        noticed_at: world.office.now(),
        circuits: circuits.iter().map(circuit).collect(),
        idempotent: idempotent.iter().map(|name| (*name).into()).collect(),
    }
}

/// Hands a notice to the office, as the queue does. Returns whether it was taken.
async fn is_taken(world: &World, notice: &Notice, sender: Option<&str>) -> bool {
    event::receipts(&world.office, vec![received(0, notice.print(), sender)]).await.is_empty()
}

/// Makes letters of one group with a fix and a plan, ready to be approved.
async fn planned(world: &World) -> (GroupId, ApproveRequest) {
    let group = world.one_group(3).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    (group, approve_request(&plan))
}

async fn unmet(world: &World, group: &GroupId, request: &ApproveRequest) -> Vec<Condition> {
    match act::approve(&world.office, &world.anna(), group, request).await {
        Err(OfficeError::GateClosed(unmet)) => unmet,
        other => panic!("the gate is closed: {other:?}"),
    }
}

async fn is_unsafe(world: &World, group: &GroupId, request: &ApproveRequest, words: &str) {
    let unmet = unmet(world, group, request).await;
    let [one] = unmet.as_slice() else { panic!("one condition: {unmet:?}") };
    assert!(one.kind == ConditionKind::SafeToRepeat && one.evidence.contains(words), "{one:?}");
}

#[tokio::test]
async fn money_is_not_sent_before_somebody_says_that_a_repeat_does_no_harm() {
    let world = world(None).await;
    let (group, request) = planned(&world).await;
    is_unsafe(&world, &group, &request, "handling order.placed twice does no harm").await;
    assert!(is_taken(&world, &notice(&world, &[], &["order.refund"]), None).await);
    is_unsafe(&world, &group, &request, "handling order.placed twice does no harm").await;
    assert!(is_taken(&world, &notice(&world, &[], &["order.placed"]), None).await);
    act::approve(&world.office, &world.anna(), &group, &request).await.expect("the consumer declares it");
}

#[tokio::test]
async fn the_policy_decides_over_what_consumers_say() {
    let world = world(Some(false)).await;
    let (group, request) = planned(&world).await;
    assert!(is_taken(&world, &notice(&world, &[], &["order.placed"]), None).await);
    is_unsafe(&world, &group, &request, "The policy says").await;
    let waiver = WaiverRequest { condition: ConditionKind::SafeToRepeat, reason: "the bank pays once".into() };
    let waived = ApproveRequest { waivers: vec![waiver], ..request };
    act::approve(&world.office, &world.anna(), &group, &waived).await.expect("an approver waives it");
}

#[tokio::test]
async fn only_a_function_that_consumes_the_queue_speaks_for_it() {
    let world = world(None).await;
    let (group, request) = planned(&world).await;
    world.attach(AttachedConsumer::default()).await;
    let notice = notice(&world, &[], &["order.placed"]);
    for stranger in [None, Some("AIDA1"), Some("AROA1:other-fn")] {
        assert!(!is_taken(&world, &notice, stranger).await, "{stranger:?}");
    }
    assert_eq!(world.store.notices(&world.main).await.unwrap(), None);
    is_unsafe(&world, &group, &request, "order.placed").await;
    assert!(is_taken(&world, &notice, Some("AROA1:orders-fn")).await);
    act::approve(&world.office, &world.anna(), &group, &request).await.expect("its consumer declares it");
}

/// Sends a dead letter with the stamp of the crate `consumer`.
async fn dies(world: &World, n: u64, idempotent: bool, moved_by_sqs: bool) {
    let stamp = json!({
        "v": 1, "error_type": "orders::pricing::Overflow", "class": "permanent", "consumer": "orders",
        "consumer_version": "v1", "main_queue": world.main, "original_message_id": format!("m-{n}"),
        "failed_at": world.office.now(), "reason": "permanent", "idempotent": idempotent,
        "circuit": { "dependency": "payments", "state": "open", "budget": {} },
    });
    let mut dead = received(n as usize, order(n), None);
    dead.content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.to_string()));
    dead.system.source_queue = moved_by_sqs.then(|| world.main.clone());
    assert_eq!(event::letters(&world.office, &world.dlq, vec![dead]).await, []);
}

#[tokio::test]
async fn a_stamp_speaks_for_the_consumer_that_sent_the_letter() {
    let world = world(None).await;
    dies(&world, 1, true, true).await;
    assert_eq!(world.store.notices(&world.main).await.unwrap(), None, "anyone can place such a message");
    let said = async || {
        let kept = world.store.notices(&world.main).await.unwrap().expect("notices");
        let group = world.only_group().await;
        assert_eq!(kept.dependency(&group), Some("payments"));
        (kept.declaration(Some("order.placed")).expect("a declaration").idempotent, kept.circuits[0].state)
    };
    dies(&world, 2, false, false).await;
    assert_eq!(said().await, (false, CircuitState::Open));
    world.advance(Span::from_secs(1));
    dies(&world, 3, true, false).await;
    assert_eq!(said().await, (true, CircuitState::Open));
}

#[tokio::test]
async fn a_receipt_of_a_letter_in_flight_declares_its_type() {
    let world = world(None).await;
    let (group, request) = planned(&world).await;
    let waiver = WaiverRequest { condition: ConditionKind::SafeToRepeat, reason: "tested".into() };
    let waived = ApproveRequest { waivers: vec![waiver], ..request };
    act::approve(&world.office, &world.anna(), &group, &waived).await.expect("waived");
    world.steps().await;
    let sent = world.queue.receive(&world.main, 1, Span::ZERO, None).await.unwrap().remove(0);
    let mut receipt = Receipt {
        v: RECEIPT_VERSION,
        marker: "1.forged".into(),
        message_id: sent.message_id.clone(),
        consumer: "orders".into(),
        consumer_version: "v2".into(),
        processed_at: world.office.now(),
        idempotent: true,
    };
    event::receipts(&world.office, vec![received(0, receipt.print(), None)]).await;
    assert_eq!(world.store.notices(&world.main).await.unwrap(), None, "it proves nothing");
    receipt.marker = sent.content.attributes[MARKER_ATTRIBUTE].as_text().unwrap().into();
    assert_eq!(event::receipts(&world.office, vec![received(1, receipt.print(), None)]).await, []);
    let kept = world.store.notices(&world.main).await.unwrap().expect("notices");
    let declared = kept.declaration(Some("order.placed")).expect("a declaration");
    assert!(declared.idempotent && declared.version == "v2", "{declared:?}");
}

#[tokio::test]
async fn an_open_circuit_keeps_a_transient_group_closed_until_it_closes() {
    let mut world = World::new().await;
    let rule = r#"{ "class_rules": [{ "name": "payments", "message_contains": "payments did not answer",
        "class": "transient", "category": "dependency_unavailable" }] }"#;
    let class_rules = Policy::parse(rule).unwrap().class_rules;
    world.office.policy = Arc::new(Policy { class_rules, ..Policy::clone(&world.office.policy) });
    let died_at = world.office.now();
    for n in 0..3 {
        world.die(n, "connection refused: payments did not answer", died_at).await;
    }
    world.intake().await;
    let group = world.only_group().await;
    world.advance(Span::from_secs(1));
    let fix = DeclareFixRequest {
        kind: FixKind::DependencyRecovered,
        reference: "status page".into(),
        note: None,
        transform: None,
    };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    world.advance(Span::from_secs(11));
    let plan = world.plan(&group, &PlanOptions::default()).await;
    let request = approve_request(&plan);
    assert!(is_taken(&world, &notice(&world, &[("payments", CircuitState::Open)], &[]), None).await);
    let closed = unmet(&world, &group, &request).await;
    let [one] = closed.as_slice() else { panic!("one condition: {closed:?}") };
    let words = "orders reports that its circuit to payments is open. Wait until its calls succeed again.";
    assert_eq!((one.kind, one.evidence.as_str()), (ConditionKind::DependencyHealthy, words));
    world.advance(Span::from_secs(5));
    assert!(is_taken(&world, &notice(&world, &[("payments", CircuitState::Closed)], &[]), None).await);
    act::approve(&world.office, &world.anna(), &group, &request).await.expect("the circuit has closed");
}
