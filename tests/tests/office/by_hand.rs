//! Ordinary consumers that dead-letter by hand: they send a new message with the same body and the attributes that they
//! received, and add the error. The new message has another id, so only the marker shows that a replay sent the letter.

use domain::id::{GroupId, LetterId};
use domain::letter::LetterStateKind;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::{Attribute, Content};
use domain::policy::Policy;
use domain::replay::{PauseReason, PlanOptions, Replay, ReplayState};
use domain::time::Span;
use harness::world::World;
use queue::{Outgoing, Queue as _, Received};
use std::sync::Arc;

/// What the consumer writes into the dead-letter queue.
#[derive(Clone, Copy)]
enum Form {
    /// The same body.
    Same,
    /// The body in an object that says why.
    Wrapped,
}

/// Makes the consumer fail on every message that it is given, with this error.
async fn fail_by_hand(world: &World, form: Form, error: &str) -> Vec<Received> {
    let received = world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
    for message in &received {
        bury(world, message, form, error).await;
        let deleted =
            world.queue.delete_batch(&world.main, std::slice::from_ref(&message.receipt_handle)).await.unwrap();
        assert!(deleted.iter().all(Result::is_ok));
    }
    received
}

async fn bury(world: &World, message: &Received, form: Form, error: &str) {
    let mut content = Content { ..message.content.clone() };
    content.attributes.insert("error_type".into(), Attribute::text("orders.pricing.TotalMismatch"));
    content.attributes.insert("error_message".into(), Attribute::text(error));
    if matches!(form, Form::Wrapped) {
        content.body = format!("{{\"original_message\":{},\"worker\":\"w-7\"}}", content.body);
    }
    let outgoing = Outgoing { content, ..Outgoing::default() };
    assert!(world.queue.send_batch(&world.dlq, &[outgoing]).await.unwrap().iter().all(Result::is_ok));
}

/// A group of four letters that were dead-lettered by hand, and a replay of them whose canary is one letter.
async fn replayed() -> (World, GroupId, Replay) {
    let mut world = World::new().await;
    // The deployment says where the letters of this dead-letter queue belong: nothing in them does.
    let mut policy = Policy::clone(&world.office.policy);
    policy.queues.default_main = Some(world.main.clone());
    world.office.policy = Arc::new(policy);
    world.place(0, 4).await;
    assert_eq!(fail_by_hand(&world, Form::Same, "total does not match").await.len(), 4);
    assert_eq!(world.intake().await.kept, 4);
    let group = world.only_group().await;
    let options = PlanOptions { canary_letters: Some(1), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    let replay = world.approve(&group, &plan).await;
    (world, group, replay)
}

/// Runs steps until the canary is on the main queue.
async fn send_canary(world: &World) {
    for _ in 0..60 {
        world.steps().await;
        if world.queue.attributes(&world.main).await.unwrap().visible_count > 0 {
            return;
        }
        world.advance(Span::from_secs(1));
    }
    panic!("no canary was sent");
}

#[tokio::test]
async fn a_marked_copy_of_a_letter_whose_result_is_awaited_is_its_return() {
    let (world, _, replay) = replayed().await;
    send_canary(&world).await;
    let canary = fail_by_hand(&world, Form::Same, "total does not match").await;
    // Two more copies are letters of their own: no marker deletes a message.
    bury(&world, &canary[0], Form::Same, "total does not match").await;
    bury(&world, &canary[0], Form::Same, "total does not match").await;
    let report = world.intake().await;
    assert_eq!((report.returned, report.kept, report.duplicates), (1, 2, 0));
    world.steps().await;
    let ReplayState::Paused { .. } = world.replay(replay.id()).await.state().clone() else {
        panic!("it is not paused")
    };
    let total = world.ledger(replay.id()).await.total();
    assert_eq!((total.returned, total.delivered, total.pending), (1, 0, 3));
}

#[tokio::test]
async fn a_marked_letter_in_another_form_and_of_the_same_cause_pauses_the_replay() {
    let (world, _, replay) = replayed().await;
    send_canary(&world).await;
    assert_eq!(fail_by_hand(&world, Form::Wrapped, "total does not match").await.len(), 1);
    let report = world.intake().await;
    assert_eq!((report.returned, report.kept), (0, 1), "another body is a letter of its own");
    let why = match world.replay(replay.id()).await.state().clone() {
        ReplayState::Paused { why, .. } => why,
        state => panic!("{state:?}"),
    };
    let PauseReason::UnprovenReturn { letter } = &why else { panic!("{why:?}") };
    let replayed = world.entries(replay.id()).await;
    assert!(replayed.iter().any(|entry| entry.letter == *letter && entry.sends == 1));
    // Nothing more is sent.
    world.advance(Span::from_secs(600));
    world.steps().await;
    assert_eq!(world.queue.attributes(&world.main).await.unwrap().visible_count, 0);
}

#[tokio::test]
async fn a_marked_letter_of_another_cause_or_of_an_unknown_replay_pauses_nothing() {
    let (world, group, replay) = replayed().await;
    send_canary(&world).await;
    let canary = world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap().remove(0);
    bury(&world, &canary, Form::Wrapped, "the mail server refused the confirmation").await;
    let mut forged = canary.clone();
    let letter = LetterId::new("00000000000000000000000000000000");
    let marker = Marker { letter, ..marker_of(&canary) };
    forged.content.attributes.insert(MARKER_ATTRIBUTE.into(), Attribute::text(marker.print()));
    bury(&world, &forged, Form::Wrapped, "total does not match").await;
    let report = world.intake().await;
    assert_eq!((report.returned, report.kept), (0, 2));
    assert!(matches!(world.replay(replay.id()).await.state(), ReplayState::Running { .. }));
    assert_eq!(world.letters(&group, Some(LetterStateKind::InReplay)).await.len(), 1);
}

fn marker_of(message: &Received) -> Marker {
    let text = message.content.attributes[MARKER_ATTRIBUTE].as_text().expect("a text");
    Marker::parse(text).expect("a marker")
}
