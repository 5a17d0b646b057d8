//! Letters that an ordinary consumer put into an error envelope of its own. It may be an event of the application, so the
//! office sends it back as it is: the plan says so, and an approver waives that or sends only the original.

use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::GroupId;
use domain::message::Content;
use domain::policy::Policy;
use domain::replay::{Plan, PlanOptions, Wrapped};
use domain::time::Span;
use harness::world::{World, approve_request, kinds, order};
use office::act;
use office::error::OfficeError;
use queue::{Outgoing, Queue as _, Received};
use std::sync::{Arc, Mutex};
use wire::{ApproveRequest, DeclareFixRequest, DryRunRequest, SaveTransformRequest, WaiverRequest};

/// An original with blanks, escapes and digits that no program may change.
const ODD: &str = r#"{ "order":77, "note":"caf\u00e9 \"x\"\n", "price": 1.10 }"#;

/// Puts an original into an envelope as by hand: as text, or as JSON.
fn envelope(member: &str, original: &str, is_text: bool) -> String {
    let original = if is_text { serde_json::to_string(original).unwrap() } else { original.to_owned() };
    format!(
        r#"{{"{member}": {original}, "error": "timed out", "failed_at": "2026-11-19T08:01:02Z",
            "traceback": "Traceback (most recent call last):\n  File \"/srv/w.py\", line 4, in handle\n    pay()\nTimeoutError: timed out\n"}}"#
    )
}

/// An office with these letters in one group, and the fix that their dependency has recovered.
async fn fixed(bodies: &[String]) -> (World, GroupId) {
    let mut world = World::new().await;
    let mut policy = Policy::clone(&world.office.policy);
    policy.queues.default_main = Some(world.main.clone());
    world.office.policy = Arc::new(policy);
    for body in bodies {
        let content = Content { body: body.clone(), ..Content::default() };
        let sent = world.queue.send_batch(&world.dlq, &[Outgoing { content, ..Outgoing::default() }]).await.unwrap();
        assert!(sent.iter().all(Result::is_ok));
    }
    assert_eq!(world.intake().await.kept, bodies.len());
    let group = world.only_group().await;
    world.advance(Span::from_secs(1));
    declare(&world, &group, None).await;
    world.advance(Span::from_secs(11));
    (world, group)
}

async fn declare(world: &World, group: &GroupId, transform: Option<u32>) {
    let (kind, reference) = (FixKind::DependencyRecovered, "status page".into());
    let fix = DeclareFixRequest { kind, reference, note: None, transform };
    act::declare_fix(&world.office, &world.otto(), group, &fix).await.unwrap();
}

async fn unmet(world: &World, group: &GroupId, request: &ApproveRequest) -> Vec<ConditionKind> {
    match act::approve(&world.office, &world.anna(), group, request).await {
        Err(OfficeError::GateClosed(unmet)) => kinds(&unmet),
        other => panic!("{other:?}"),
    }
}

/// Runs an approved replay; returns the bodies that the consumer received, sorted.
async fn received(world: &World, plan: &Plan) -> Vec<String> {
    let arrived = Mutex::new(Vec::new());
    let records = |received: &Received| {
        arrived.lock().unwrap().push(received.content.body.clone());
        None
    };
    assert!(world.run(&plan.id, &records, "v2").await.is_finished());
    let mut bodies = arrived.into_inner().unwrap();
    bodies.sort();
    bodies
}

fn sorted(mut bodies: Vec<String>) -> Vec<String> {
    bodies.sort();
    bodies
}

#[tokio::test]
async fn a_wrapped_letter_goes_back_with_its_wrapper_only_if_an_approver_waives_that() {
    let bodies = vec![envelope("original_message", &order(1), true), envelope("original_message", &order(2), false)];
    let (world, group) = fixed(&bodies).await;
    let plan = world.plan(&group, &PlanOptions::default()).await;
    assert_eq!(plan.wrapped, Wrapped { letters: 2, original_at: Some(".original_message".into()) });
    let request = approve_request(&plan);
    assert_eq!(unmet(&world, &group, &request).await, [ConditionKind::Unwrapped]);
    let waiver = WaiverRequest { condition: ConditionKind::Unwrapped, reason: "it reads the wrapper".into() };
    let request = ApproveRequest { waivers: vec![waiver], ..request };
    act::approve(&world.office, &world.anna(), &group, &request).await.unwrap();
    assert_eq!(received(&world, &plan).await, sorted(bodies));
}

#[tokio::test]
async fn the_offered_program_sends_the_originals_byte_for_byte() {
    let originals = [(order(1), true), (order(2), false), (ODD.to_owned(), true), (ODD.replace("77", "78"), false)];
    let wrap = |(original, is_text): &(String, bool)| envelope("original_message", original, *is_text);
    let (world, group) = fixed(&originals.iter().map(wrap).collect::<Vec<_>>()).await;
    let program = world.plan(&group, &PlanOptions::default()).await.wrapped.program().expect("one program for all");
    let save = SaveTransformRequest { program, note: None };
    let version = act::save_transform(&world.office, &world.otto(), &group, &save).await.unwrap().version;
    declare(&world, &group, Some(version)).await;
    world.advance(Span::from_secs(1));
    let plan = world.plan(&group, &PlanOptions::default()).await;
    assert_eq!(
        (plan.fix.label().as_str(), plan.wrapped.letters),
        ("Dependency recovered status page with transform v1", 4)
    );
    // The same fix with a transform is as old as the fix. What it sends must be tried first.
    let request = approve_request(&plan);
    assert_eq!(unmet(&world, &group, &request).await, [ConditionKind::DryRun]);
    let dry_run = DryRunRequest { version, go_on: None, filter: plan.filter.clone() };
    let counts = act::dry_run(&world.office, &world.otto(), &group, &dry_run).await.unwrap().counts;
    assert_eq!((counts.changed, counts.unchanged, counts.failed), (4, 0, 0));
    act::approve(&world.office, &world.anna(), &group, &request).await.unwrap();
    let expected = originals.into_iter().map(|(original, _)| original).collect();
    assert_eq!(received(&world, &plan).await, sorted(expected));
}

#[tokio::test]
async fn letters_in_different_wrappers_are_counted_and_offered_no_program() {
    let bodies = [envelope("original_message", &order(1), true), envelope("payload", &order(2), false)];
    let (world, group) = fixed(&bodies).await;
    let plan = world.plan(&group, &PlanOptions::default()).await;
    assert_eq!(plan.wrapped, Wrapped { letters: 2, original_at: None });
    assert_eq!(plan.wrapped.program(), None);
    assert_eq!(unmet(&world, &group, &approve_request(&plan)).await, [ConditionKind::Unwrapped]);
}

#[tokio::test]
async fn a_transform_beside_a_fix_is_one_of_the_group_and_not_named_twice() {
    let (world, group) = fixed(&[envelope("original_message", &order(1), true)]).await;
    let try_declare = async |kind, transform| {
        let fix = DeclareFixRequest { kind, reference: "v1".into(), note: None, transform };
        act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap_err()
    };
    assert!(matches!(try_declare(FixKind::Deploy, Some(1)).await, OfficeError::NoTransform(1)));
    assert!(matches!(try_declare(FixKind::PayloadTransform, Some(1)).await, OfficeError::Invalid(_)));
}
