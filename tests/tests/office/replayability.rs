//! Letters that are not the message they stand for are left out of a plan, each kind with its words, and the gate and
//! the letter's page say so.

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
use office::port::{Payloads, Presence};
use queue::{Outgoing, Queue as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::{ApproveRequest, DeclareFixRequest, LetterDetail};

const POINTER: &str = r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large","s3Key":"k"}]"#;

/// What Scheduler writes when it could not deliver to the main queue.
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
async fn what_cannot_be_sent_back_is_left_out_with_its_reason() {
    let mut world = World::new().await;
    for (body, truncated) in [("{\"n\":1}", false), ("{\"n\":2}", false), ("{\"n\":3", true), (POINTER, false)] {
        scheduled(&world, body, truncated).await;
    }
    assert_eq!(world.intake().await.kept, 4);
    let group = world.only_group().await;
    let letters = world.letters(&group, None).await;
    let truncated =
        letters.iter().find(|l| matches!(l.diagnosis.replayability, Replayability::Truncated { .. })).unwrap();
    let page = LetterDetail::of(truncated.clone(), Vec::new());
    assert!(page.row.replayability.reason().is_some_and(|reason| reason.contains("truncated the payload")));

    world.advance(Span::from_secs(1));
    let fix = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    let mut words: Vec<_> = plan.left_out.iter().map(|left| format!("{} {}", left.letters, left.reason)).collect();
    words.sort();
    assert_eq!(plan.letters.letters, 2);
    assert_eq!(words, ["1 truncated on the way", "1 with a payload in S3 that may have expired"]);

    let mut policy = Policy::clone(&world.office.policy);
    policy.replay.send_pointers = true;
    world.office.policy = Arc::new(policy);
    world.advance(Span::from_secs(1));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await.unwrap();
    assert_eq!(plan.letters.letters, 3, "the policy lets pointers go");
    let facts = world.store.group_facts(&group, 0).await.unwrap().unwrap();
    let would_be_sent = act::would_be_sent(&world.office, &facts).await.unwrap();
    assert_eq!(would_be_sent.unchecked, ["1 whose payloads in S3 this office cannot see"]);
}

/// A bucket whose objects expire, all at once.
struct Expires(AtomicBool);

#[async_trait]
impl Payloads for Expires {
    async fn look(&self, _: &PayloadLocation) -> Presence {
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
    let fix = DeclareFixRequest { kind: FixKind::DependencyRecovered, reference: "the target".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(2), ..PlanOptions::default() };
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.unwrap();
    assert_eq!(plan.letters.letters, 2, "it was still there");

    bucket.0.store(true, Ordering::SeqCst);
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
    let replay = act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();
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
    assert_eq!(waiting.len(), 1, "it stays in the office");
}

#[tokio::test]
async fn everything_goes_back_as_it_came() {
    harness::carried::everything_goes_back_as_it_came(&World::new().await).await;
}
