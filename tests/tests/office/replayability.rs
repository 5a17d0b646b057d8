//! Letters whose payload is not the original message are left out of a plan, each kind with its reason, which the gate
//! and the letter's page show.

use async_trait::async_trait;
use domain::fix::FixKind;
use domain::message::{Attribute, Content};
use domain::policy::Policy;
use domain::read::PayloadLocation;
use domain::reading::Replayability;
use domain::replay::{OutcomeKind, PlanOptions, SkipReason};
use domain::time::Span;
use harness::world::World;
use office::act;
use office::gate::LettersToSend;
use office::port::{Payloads, Presence};
use queue::{Outgoing, Queue as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::{DeclareFixRequest, LetterAnswer};

const POINTER: &str = r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large","s3Key":"k"}]"#;

/// Sends a dead letter as EventBridge Scheduler writes it when it cannot deliver to the main queue.
async fn scheduled(world: &World, body: &str, truncated: bool) {
    let attributes = [
        ("SCHEDULE_ARN", "arn:aws:scheduler:local:000000000000:schedule/default/nightly"),
        ("TARGET_ARN", world.main.as_str()),
        ("ERROR_CODE", "InternalError"),
        ("ERROR_MESSAGE", "the target did not answer"),
        ("IS_PAYLOAD_TRUNCATED", if truncated { "true" } else { "false" }),
    ];
    let attributes = attributes.map(|(name, value)| (name.to_string(), Attribute::text(value))).into();
    let content = Content { body: body.into(), attributes, ..Content::default() };
    let sent = world.queue.send_batch(&world.dlq, &[Outgoing { content, ..Outgoing::default() }]).await.unwrap();
    assert!(sent.iter().all(Result::is_ok));
}

#[tokio::test]
async fn letters_that_cannot_be_sent_back_are_left_out_with_a_reason() {
    let mut world = World::new().await;
    for (body, truncated) in [("{\"n\":1}", false), ("{\"n\":2}", false), ("{\"n\":3", true), (POINTER, false)] {
        scheduled(&world, body, truncated).await;
    }
    assert_eq!(world.intake().await.kept, 4);
    let group = world.only_group().await;
    let letters = world.letters(&group, None).await;
    let truncated =
        letters.iter().find(|l| matches!(l.diagnosis.replayability, Replayability::Truncated { .. })).unwrap();
    let page = LetterAnswer::new(truncated.clone(), Vec::new());
    assert!(page.row.replayability.reason().is_some_and(|reason| reason.contains("truncated the payload")));

    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let mut reasons: Vec<_> = plan.left_out.iter().map(|row| format!("{} {}", row.letters, row.reason)).collect();
    reasons.sort();
    assert_eq!(plan.letters.letters, 2);
    assert_eq!(reasons, ["1 truncated on the way", "1 with a payload in S3 that may have expired"]);

    let mut policy = Policy::clone(&world.office.policy);
    policy.replay.send_pointers = true;
    world.office.policy = Arc::new(policy);
    world.advance(Span::from_secs(1));
    let plan = world.plan(&group, &PlanOptions::default()).await;
    assert_eq!(plan.letters.letters, 3, "the policy allows pointers");
    let facts = world.store.group_facts(&group, 0).await.unwrap().unwrap();
    let to_send = LettersToSend::now(&world.office, &facts).await.unwrap();
    assert_eq!(to_send.unchecked, ["1 with payloads in S3 that this office cannot check"]);
}

/// A bucket whose objects all expire at once.
struct Expires(AtomicBool);

#[async_trait]
impl Payloads for Expires {
    async fn check(&self, _: &PayloadLocation) -> Presence {
        if self.0.load(Ordering::SeqCst) { Presence::Gone } else { Presence::There }
    }
}

#[tokio::test]
async fn a_letter_whose_payload_expires_between_plan_and_send_is_not_sent() {
    let mut world = World::new().await;
    let bucket = Arc::new(Expires(AtomicBool::new(false)));
    world.office.payloads = bucket.clone();
    let mut policy = Policy::clone(&world.office.policy);
    policy.replay.send_pointers = true;
    world.office.policy = Arc::new(policy);
    for body in ["{\"n\":1}", POINTER] {
        scheduled(&world, body, false).await;
    }
    assert_eq!(world.intake().await.kept, 2);
    let group = world.only_group().await;
    world.advance(Span::from_secs(1));
    let fix = DeclareFixRequest {
        kind: FixKind::DependencyRecovered,
        reference: "the target".into(),
        note: None,
        transform: None,
    };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(2), ..PlanOptions::default() };
    let plan = world.plan(&group, &options).await;
    assert_eq!(plan.letters.letters, 2, "the payload still exists");

    bucket.0.store(true, Ordering::SeqCst);
    let replay = world.approve(&group, &plan).await;
    while !world.replay(replay.id()).await.is_finished() {
        world.steps().await;
        world.consume(&|_| None, "v2").await;
        world.advance(Span::from_secs(1));
    }
    let ledger = world.ledger(replay.id()).await.total();
    assert_eq!((ledger.delivered, ledger.skipped), (1, 1));
    let entries = world.store.entries(replay.id(), None, Some(OutcomeKind::Skipped), None, 10).await.unwrap().items;
    assert!(matches!(&entries[0].outcome, domain::replay::Outcome::Skipped { reason: SkipReason::PayloadGone, .. }));
    let waiting = world.letters(&group, Some(domain::letter::LetterStateKind::Waiting)).await;
    assert_eq!(waiting.len(), 1, "the letter stays in the office");
}

#[tokio::test]
async fn everything_goes_back_as_it_came() {
    harness::carried::everything_goes_back_as_it_came(&World::new().await).await;
}
