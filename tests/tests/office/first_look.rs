//! A first look at an old queue: its letters died at an unknown time before, so no group grows because they were found.

use crate::api::{router_of, send};
use axum::body::Body;
use axum::http::Request;
use domain::alert::AlertKind;
use domain::group::GroupState;
use domain::id::GroupId;
use domain::message::{Attribute, Content};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::carried::redrive_all;
use harness::world::{World, order};
use office::port::{Outgoing, Queue as _};
use office::sweep;
use wire::{GroupAnswer, NextStep};

/// Places orders and lets SQS redrive them: nothing says when they died.
async fn redrive(world: &World, first: u64, count: u64) {
    world.place(first, count).await;
    redrive_all(world).await;
}

/// Returns an office that is opened on a queue in which 75 letters have lain for two days.
async fn opened_on_an_old_queue() -> (World, GroupId) {
    let world = World::new().await;
    redrive(&world, 0, 75).await;
    world.advance(Span::from_days(2));
    assert_eq!(world.intake().await.kept, 75);
    let group = world.only_group().await;
    (world, group)
}

async fn page(world: &World, group: &GroupId) -> GroupAnswer {
    let request = Request::builder().uri(format!("/api/v1/groups/{group}")).header("authorization", "Bearer viewer");
    let answer = send(&router_of(world), request.body(Body::empty()).unwrap()).await;
    serde_json::from_slice(&answer.body).unwrap()
}

/// Sweeps, and returns how many alerts about growth there have ever been.
async fn growth_alerts(world: &World) -> usize {
    sweep::run(&world.office).await.unwrap();
    world.alerts.recent(usize::MAX).iter().filter(|alert| alert.kind == AlertKind::GroupGrowing).count()
}

async fn state(world: &World, group: &GroupId) -> GroupState {
    world.store.group(group).await.unwrap().unwrap().state
}

#[tokio::test]
async fn letters_of_an_old_queue_are_no_growth_and_what_fails_afterwards_is() {
    let (world, group) = opened_on_an_old_queue().await;
    let opened_at = world.office.now();
    let found = page(&world, &group).await;
    assert_eq!(found.row.next, NextStep::FindCause);
    assert_eq!((found.row.open.letters, found.counts.deaths, found.counts.undated), (75, 75, 75));
    let figures = (found.row.arrivals_recent, found.row.arrivals_last_hour, found.row.arrivals.iter().sum::<u64>());
    assert_eq!((figures, found.chart.deaths.iter().sum::<u64>()), ((0, 0, 0), 0));
    assert_eq!(found.counts.last_undated_at, Some(opened_at));
    for letter in world.letters(&group, None).await {
        assert_eq!((letter.died_after, letter.died_at), (Some(letter.sent_at), opened_at));
    }
    assert_eq!(growth_alerts(&world).await, 0);

    world.advance(Span::from_mins(1));
    redrive(&world, 100, 12).await;
    assert_eq!(world.intake().await.kept, 12);
    let grows = page(&world, &group).await;
    assert_eq!((grows.row.next, grows.row.arrivals_recent, grows.counts.undated), (NextStep::Growing, 12, 75));
    assert_eq!(grows.row.last_died_at, Some(world.office.now()));
    assert_eq!(growth_alerts(&world).await, 1);
    world.counters_are_exact(&group).await;
}

#[tokio::test]
async fn a_first_incident_grows_although_its_letters_were_sent_before_the_first_reading() {
    let world = World::new().await;
    redrive(&world, 0, 12).await;
    world.intake().await;
    let group = world.only_group().await;
    let found = page(&world, &group).await;
    assert_eq!((found.row.next, found.counts.undated), (NextStep::Growing, 0));
}

#[tokio::test]
async fn letters_that_waited_for_their_consumer_die_when_the_office_reads_them() {
    let world = World::new().await;
    sweep::run(&world.office).await.unwrap();
    world.place(0, 12).await;
    for _ in 0..12 {
        world.advance(Span::from_mins(10));
        sweep::run(&world.office).await.unwrap();
    }
    redrive_all(&world).await;
    world.intake().await;
    let group = world.only_group().await;
    let found = page(&world, &group).await;
    assert_eq!((found.row.next, found.counts.undated), (NextStep::Growing, 0));
}

#[tokio::test]
async fn letters_that_died_while_the_office_was_off_are_no_growth() {
    let world = World::new().await;
    sweep::run(&world.office).await.unwrap();
    redrive(&world, 0, 12).await;
    world.advance(Span::from_mins(8 * 60));
    world.intake().await;
    let group = world.only_group().await;
    let found = page(&world, &group).await;
    assert_eq!((found.row.next, found.counts.undated), (NextStep::FindCause, 12));
    assert_eq!(growth_alerts(&world).await, 0);
}

#[tokio::test]
async fn letters_that_were_sent_to_the_dead_letter_queue_died_then() {
    let world = World::new().await;
    let sent_at = world.office.now();
    let mut content = Content { body: order(1), ..Content::default() };
    let attributes = [("RequestID", "6f1c"), ("ErrorCode", "200"), ("ErrorMessage", "KeyError: 'sku'")];
    content.attributes = attributes.map(|(name, value)| (name.into(), Attribute::text(value))).into();
    for sent in world.queue.send_batch(&world.dlq, &[Outgoing { content, ..Outgoing::default() }]).await.unwrap() {
        sent.unwrap();
    }
    world.advance(Span::from_mins(5 * 60));
    world.intake().await;
    let group = world.only_group().await;
    let letter = world.letters(&group, None).await.remove(0);
    assert_eq!((letter.died_at, letter.died_after), (sent_at, None));
    let found = page(&world, &group).await;
    assert_eq!((found.row.arrivals[18], found.row.arrivals_last_hour, found.counts.undated), (1, 0, 0));
}

/// Resolves a group of one old letter, while another old letter of it still lies in the dead-letter queue, unseen.
async fn resolved_with_one_left() -> (World, GroupId) {
    let world = World::new().await;
    redrive(&world, 0, 2).await;
    let hidden = Some(Span::from_mins(4 * 60));
    assert_eq!(world.queue.receive(&world.dlq, 1, Span::ZERO, hidden).await.unwrap().len(), 1);
    world.advance(Span::from_mins(60));
    assert_eq!(world.intake().await.kept, 1);
    let group = world.only_group().await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let replay = world.approve(&group, &plan).await;
    assert!(world.run(replay.id(), &|_| None, "v2").await.is_finished());
    assert!(matches!(state(&world, &group).await, GroupState::Resolved { .. }));
    (world, group)
}

#[tokio::test]
async fn a_letter_that_died_at_an_unknown_time_does_not_disprove_a_fix() {
    let (world, group) = resolved_with_one_left().await;
    world.advance(Span::from_mins(5 * 60));
    let report = world.intake().await;
    assert_eq!((report.kept, report.regressions), (1, 0));
    assert!(matches!(state(&world, &group).await, GroupState::FixDeclared { .. }));
    // A sweep judges it alike.
    sweep::run(&world.office).await.unwrap();
    assert!(matches!(state(&world, &group).await, GroupState::FixDeclared { .. }));
}

#[tokio::test]
async fn a_letter_that_was_sent_after_a_fix_disproves_it_whenever_it_died() {
    let (world, group) = resolved_with_one_left().await;
    world.advance(Span::from_mins(1));
    redrive(&world, 100, 1).await;
    world.advance(Span::from_mins(2 * 60));
    let report = world.intake().await;
    assert_eq!((report.kept, report.regressions), (1, 1));
    let letters = world.letters(&group, None).await;
    assert!(letters.iter().any(|letter| letter.died_after == Some(letter.sent_at)), "it died while no sweep ran");
    assert!(matches!(state(&world, &group).await, GroupState::Regressed { .. }));
}

#[tokio::test]
async fn without_the_record_of_the_sweeps_letters_stay_in_their_queue() {
    let world = World::new().await;
    redrive(&world, 0, 3).await;
    world.advance(Span::from_mins(60));
    let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
    let batch: Vec<_> = received.into_iter().map(|message| world.dead(message)).collect();
    let mut calls = 0;
    loop {
        world.faults.arm(calls, false);
        let report = office::intake::keep(&world.office, batch.clone()).await;
        if !world.faults.has_failed() {
            break;
        }
        assert_eq!(report.kept + report.duplicates + report.failed.len(), 3, "call {calls}");
        calls += 1;
    }
    let counts = world.counters_are_exact(&world.only_group().await).await;
    assert_eq!((counts.deaths, counts.undated), (3, 3));
}
