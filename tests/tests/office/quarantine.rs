//! Quarantine: letters that return from every replay are counted, left out of plans, and released by a person with a
//! reason.

use domain::audit::Act;
use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::GroupId;
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::replay::{Plan, PlanError, PlanOptions};
use domain::time::{Span, Timestamp};
use harness::samples::{self, group_id};
use harness::world::{World, approve_request, number_of};
use office::act;
use office::error::OfficeError;
use office::gate::LettersToSend;
use queue::Received;
use wire::ReleaseRequest;

const BUG: &str = "orders::pricing::Overflow";

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some(BUG)
}

fn only_the_first_works(message: &Received) -> Option<&'static str> {
    (number_of(&message.content.body) != 0).then_some(BUG)
}

async fn planned(world: &World, group: &GroupId) -> Result<Plan, OfficeError> {
    world.declare_fix(group, "v2").await;
    world.advance(Span::from_secs(11));
    act::make_plan(&world.office, &world.otto(), group, &PlanOptions::default()).await
}

/// Replays every replayable letter to the end of the replay.
async fn replayed(world: &World, group: &GroupId, error_of: fn(&Received) -> Option<&'static str>) -> Plan {
    let plan = planned(world, group).await.unwrap();
    world.approve(group, &plan).await;
    while !world.run(&plan.id, &error_of, "v2").await.is_finished() {
        let _ = act::abort(&world.office, &world.anna(), &plan.id, "enough").await;
        world.steps().await;
    }
    plan
}

async fn quarantined(world: &World, group: &GroupId) -> Vec<Letter> {
    world.letters(group, Some(LetterStateKind::Quarantined)).await
}

/// Creates two letters that have returned from three replays.
async fn world_in_quarantine() -> (World, GroupId) {
    let world = World::new().await;
    world.place(0, 2).await;
    world.consume(&nothing_works, "v1").await;
    world.intake().await;
    let group = world.only_group().await;
    while quarantined(&world, &group).await.len() < 2 {
        replayed(&world, &group, nothing_works).await;
        let letters = world.letters(&group, None).await;
        assert!(letters.iter().all(|letter| letter.replays <= 3), "no letter is sent a fourth time");
    }
    (world, group)
}

fn release(reason: &str) -> ReleaseRequest {
    ReleaseRequest { letters: Vec::new(), reason: reason.into() }
}

#[tokio::test]
async fn a_letter_that_returned_from_three_replays_is_quarantined_and_counted() {
    let (world, group) = world_in_quarantine().await;
    let letters = quarantined(&world, &group).await;
    assert!(letters.iter().all(|letter| (letter.replays, letter.deaths) == (3, 4)));
    let counts = world.counters_are_exact(&group).await;
    assert_eq!((counts.tally(LetterStateKind::Quarantined).letters, counts.open().letters), (2, 2), "they are open");
    let facts = world.store.group_facts(&group, i64::MAX).await.unwrap().unwrap();
    assert_eq!(
        facts.loss_at,
        letters.iter().filter_map(|letter| letter.loss_at).min(),
        "the time to expiry includes them"
    );
    assert_eq!(facts.oldest_sent_at, letters.iter().map(|letter| letter.sent_at).min());
    assert!(!matches!(facts.variant.state, GroupState::Resolved { .. }));

    let refused = planned(&world, &group).await.unwrap_err();
    assert!(matches!(refused, OfficeError::Plan(PlanError::NoLetters)), "{refused}");
    let facts = world.store.group_facts(&group, i64::MAX).await.unwrap().unwrap();
    let to_send = LettersToSend::now(&world.office, &facts).await.unwrap();
    assert_eq!((to_send.letters.letters, to_send.left_out), (0, vec!["2 in quarantine".to_string()]));

    // A new letter of the group is planned without them.
    world.place(2, 1).await;
    world.consume(&nothing_works, "v1").await;
    world.intake().await;
    let plan = planned(&world, &group).await.unwrap();
    assert_eq!(plan.letters.letters, 1);
    let left_out: Vec<_> = plan.left_out.iter().map(|row| (row.reason.as_str(), row.letters)).collect();
    assert_eq!(left_out, [("in quarantine", 2)]);
    let audit = world.store.audit(&group, None, 100).await.unwrap().items;
    assert_eq!(audit.iter().filter(|record| record.act == Act::LetterQuarantined).count(), 2);
}

#[tokio::test]
async fn a_person_releases_letters_with_a_reason_and_their_count_starts_again() {
    let (world, group) = world_in_quarantine().await;
    let (office, anna) = (&world.office, world.anna());
    let silent = act::release(office, &anna, &group, &release(" ")).await;
    assert!(matches!(silent, Err(OfficeError::Invalid(_))));
    let one = quarantined(&world, &group).await[0].id.clone();
    let request = ReleaseRequest { letters: vec![one.clone()], reason: "the address is corrected".into() };
    assert_eq!(act::release(office, &anna, &group, &request).await.unwrap(), 1);
    assert!(
        matches!(act::release(office, &anna, &group, &request).await, Err(OfficeError::NotNow(_))),
        "already released"
    );
    let letter = world.store.letter(&one).await.unwrap().unwrap();
    assert_eq!((letter.state, letter.replays, letter.replays_forgiven), (LetterState::Waiting, 3, 3));
    assert_eq!(act::release(office, &anna, &group, &release("all of them")).await.unwrap(), 1);
    assert_eq!(world.counters_are_exact(&group).await.tally(LetterStateKind::Waiting).letters, 2);
    let audit = world.store.audit(&group, None, 100).await.unwrap().items;
    let released: Vec<_> = audit.iter().filter(|record| record.act == Act::LettersReleased).collect();
    assert_eq!((released.len(), released[0].reason.as_deref()), (2, Some("all of them")));
    assert!(released.iter().all(|record| record.actor == anna && record.detail == "1 letter released from quarantine"));

    // One of them now works; the other returns three more times before it is quarantined again.
    let mut replays = 0;
    while quarantined(&world, &group).await.is_empty() {
        assert!(replays < 9);
        replayed(&world, &group, only_the_first_works).await;
        replays += 1;
    }
    assert!(replays >= 3, "{replays}");
    let counts = world.counters_are_exact(&group).await;
    assert_eq!(counts.tally(LetterStateKind::Delivered).letters, 1);
    assert_eq!(quarantined(&world, &group).await[0].replays, 6);
}

#[tokio::test]
async fn letters_in_quarantine_do_not_replace_the_second_approver() {
    let (world, group) = world_in_quarantine().await;
    world.place(2, 1).await;
    world.consume(&nothing_works, "v1").await;
    world.intake().await;
    let plan = planned(&world, &group).await.unwrap();
    let approve = approve_request(&plan);
    let refused = act::approve(&world.office, &world.otto(), &group, &approve).await.unwrap_err();
    assert!(matches!(refused, OfficeError::GateClosed(unmet) if unmet[0].kind == ConditionKind::Approval));
}

#[test]
fn released_only_if_quarantined_or_capped() {
    let at = Timestamp::from_ms(1);
    let replay = || samples::replay_id("r");
    let letter = samples::letter(&group_id("g"), 1);
    // State, replays, forgiven replays, and whether a person can release the letter.
    for (state, replays, forgiven, is_held) in [
        (LetterState::Waiting, 2, 0, false),
        (LetterState::Waiting, 3, 0, true),
        (LetterState::Waiting, 3, 3, false),
        (LetterState::Waiting, 5, 3, false),
        (LetterState::Waiting, 6, 3, true),
        (LetterState::Quarantined { at }, 3, 0, true),
        (LetterState::Quarantined { at }, 1, 0, true),
        (LetterState::InReplay { replay: replay() }, 3, 0, false),
        (LetterState::Delivered { replay: replay(), at }, 3, 0, false),
    ] {
        let letter = Letter { state, replays, replays_forgiven: forgiven, ..letter.clone() };
        let released = letter.released(3);
        assert_eq!(released.is_some(), is_held, "{:?} {replays} {forgiven}", letter.state);
        assert!(released.is_none_or(|it| it.state == LetterState::Waiting && !it.is_capped(3) && it.version == 2));
    }
}

#[test]
fn a_letter_stored_before_quarantine_existed_is_readable() {
    let letter = samples::letter(&group_id("g"), 1);
    let text = serde_json::to_string(&letter).unwrap();
    assert!(!text.contains("replays_forgiven"), "zero is not written");
    assert_eq!(serde_json::from_str::<Letter>(&text).unwrap(), letter);
}
