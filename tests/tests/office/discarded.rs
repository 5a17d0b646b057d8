//! Discards: people give letters up with a reason. They are never sent, close their group, and can be taken back.

use domain::alert::AlertKind;
use domain::audit::Act;
use domain::discard::DiscardReason;
use domain::filter::LetterFilter;
use domain::group::GroupState;
use domain::group::discarding::Progress;
use domain::id::{GroupId, LetterId};
use domain::letter::{LetterState, LetterStateKind};
use domain::replay::{OutcomeKind, PlanOptions, SkipReason};
use domain::time::Span;
use harness::world::World;
use office::error::OfficeError;
use office::port::GroupFacts;
use office::{act, sweep};
use queue::Received;
use wire::{DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest, UndoDiscardRequest};

const BUG: &str = "orders::pricing::Overflow";

fn works(_: &Received) -> Option<&'static str> {
    None
}

fn fails(_: &Received) -> Option<&'static str> {
    Some(BUG)
}

async fn preview(world: &World, group: &GroupId, letters: &[LetterId], filter: &LetterFilter) -> DiscardPreviewAnswer {
    let request = DiscardPreviewRequest { letters: letters.to_vec(), filter: filter.clone() };
    act::preview_discard(&world.office, group, &request).await.expect("a preview")
}

fn request(seen: &DiscardPreviewAnswer, letters: &[LetterId], filter: &LetterFilter) -> DiscardRequest {
    let (letters, filter, seen_at) = (letters.to_vec(), filter.clone(), seen.seen_at);
    DiscardRequest { letters, filter, seen_at, reason: DiscardReason::TestData, note: None }
}

/// Previews and discards letters of a group: those named, or all of a filter.
async fn discard(
    world: &World,
    group: &GroupId,
    letters: &[LetterId],
    filter: &LetterFilter,
) -> Result<(), OfficeError> {
    let seen = preview(world, group, letters, filter).await;
    act::discard(&world.office, &world.anna(), group, &request(&seen, letters, filter)).await
}

/// Discards every letter of a group.
pub async fn discard_all(world: &World, group: &GroupId) {
    discard(world, group, &[], &LetterFilter::default()).await.expect("a discard");
}

async fn undo(world: &World, group: &GroupId, letters: &[LetterId]) -> Result<(), OfficeError> {
    let (letters, filter, reason) = (letters.to_vec(), LetterFilter::default(), "the wrong group".to_string());
    let request = UndoDiscardRequest { letters, filter, discarded_at: None, reason };
    act::undo_discard(&world.office, &world.anna(), group, &request).await
}

async fn facts(world: &World, group: &GroupId) -> GroupFacts {
    world.store.group_facts(group, i64::MAX).await.unwrap().expect("the group")
}

async fn state(world: &World, group: &GroupId) -> GroupState {
    facts(world, group).await.variant.state
}

/// Returns the numbers of open and of discarded letters, after checking that every counter is exact.
async fn numbers(world: &World, group: &GroupId) -> (i64, i64) {
    let counts = world.counters_are_exact(group).await;
    (counts.open().letters, counts.tally(LetterStateKind::Discarded).letters)
}

async fn acts(world: &World, group: &GroupId, act: Act) -> Vec<(String, String, Option<String>)> {
    let records = world.store.audit(group, None, 200).await.unwrap().items.into_iter();
    let of_act = records.filter(|record| record.act == act);
    of_act.map(|record| (record.actor.to_string(), record.detail, record.reason)).collect()
}

async fn ids(world: &World, group: &GroupId) -> Vec<LetterId> {
    world.letters(group, None).await.into_iter().map(|letter| letter.id).collect()
}

#[tokio::test]
async fn a_discarded_group_is_closed_in_every_number_and_audited() {
    let world = World::new().await;
    let group = world.one_group(4).await;
    let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
    assert_eq!((seen.letters.letters, seen.letters.priced, seen.left_out.len()), (4, 4, 0));
    assert_eq!(seen.letters.money.sums()[0].amount.to_string(), "46.40", "10.10 to 13.10");
    assert_eq!(seen.kept_until, Some(world.office.now().plus(Span::from_days(30))));
    discard_all(&world, &group).await;

    assert_eq!(numbers(&world, &group).await, (0, 4));
    let after = facts(&world, &group).await;
    assert_eq!((after.oldest_sent_at, after.loss_at), (None, None), "nothing is old, and nothing will be lost");
    assert!(matches!(after.variant.state, GroupState::Discarded { .. }), "{:?}", after.variant.state);
    assert!(after.variant.discarding.is_none());
    let why = || Some("Test data".to_string());
    assert_eq!(
        acts(&world, &group, Act::DiscardBegun).await,
        [("anna".into(), "All letters of the group".into(), why())]
    );
    let found = acts(&world, &group, Act::LettersDiscarded).await;
    assert_eq!(found, [("anna".to_string(), "4 letters, €46.40 discarded".to_string(), why())]);
    assert_eq!(acts(&world, &group, Act::GroupDiscarded).await.len(), 1);
    for letter in world.letters(&group, None).await {
        let discard = letter.state.discard().expect("discarded");
        assert_eq!(
            (discard.by.as_str(), discard.reason, discard.at),
            ("anna", DiscardReason::TestData, world.office.now())
        );
    }
}

#[tokio::test]
async fn an_undo_makes_letters_wait_again_one_by_one_or_all() {
    let world = World::new().await;
    let group = world.one_group(3).await;
    let letters = ids(&world, &group).await;
    discard_all(&world, &group).await;
    undo(&world, &group, &letters[..1]).await.expect("an undo");
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((1, 2), GroupState::Open));
    undo(&world, &group, &[]).await.expect("an undo");
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((3, 0), GroupState::Open));
    let refused = undo(&world, &group, &[]).await.unwrap_err();
    assert!(refused.to_string().contains("no letter of this group is discarded"), "{refused}");
    assert_eq!(acts(&world, &group, Act::DiscardUndone).await.len(), 2);
    assert!(world.alerts.recent(100).iter().all(|alert| alert.kind != AlertKind::DiscardedAgain), "nothing died");

    // They are as before: a plan takes them, and its replay delivers them.
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    assert_eq!(plan.letters.letters, 3);
    let id = world.approve(&group, &plan).await.id().clone();
    assert!(world.run(&id, &works, "v2").await.is_finished());
    assert_eq!(world.processed.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn some_letters_or_a_filter_leave_the_others_open() {
    let world = World::new().await;
    let group = world.one_group(5).await;
    let letters = ids(&world, &group).await;
    let twice = [letters[0].clone(), letters[1].clone(), letters[0].clone()];
    discard(&world, &group, &twice, &LetterFilter::default()).await.expect("a discard");
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((3, 2), GroupState::Open));
    let seen = preview(&world, &group, &letters, &LetterFilter::default()).await;
    let left_out: Vec<_> = seen.left_out.iter().map(|row| (row.reason.as_str(), row.letters)).collect();
    assert_eq!((seen.letters.letters, left_out), (3, vec![("discarded already", 2)]));

    let none = LetterFilter { message_type: Some("order.refund".into()), ..LetterFilter::default() };
    assert_eq!(preview(&world, &group, &[], &none).await.letters.letters, 0);
    discard(&world, &group, &[], &none).await.expect("a discard of nothing");
    assert_eq!(numbers(&world, &group).await, (3, 2));
    let all = LetterFilter { message_type: Some("order.placed".into()), ..LetterFilter::default() };
    discard(&world, &group, &[], &all).await.expect("a discard");
    assert_eq!(numbers(&world, &group).await, (0, 5));
    assert!(matches!(state(&world, &group).await, GroupState::Discarded { .. }));
}

#[tokio::test]
async fn what_arrives_after_the_preview_stays_open() {
    let world = World::new().await;
    let group = world.one_group(2).await;
    let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
    world.advance(Span::from_secs(5));
    world.place(2, 1).await;
    world.consume(&fails, "v1").await;
    world.intake().await;
    act::discard(&world.office, &world.anna(), &group, &request(&seen, &[], &LetterFilter::default())).await.unwrap();
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((1, 2), GroupState::Open));

    world.advance(Span::from_mins(61));
    let late = act::discard(&world.office, &world.anna(), &group, &request(&seen, &[], &LetterFilter::default())).await;
    assert!(matches!(&late, Err(OfficeError::NotNow(why)) if why.contains("out of date")), "{late:?}");
}

#[tokio::test]
async fn a_request_says_what_is_wrong_with_it() {
    let world = World::new().await;
    let group = world.one_group(1).await;
    let letters = ids(&world, &group).await;
    let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
    let good = request(&seen, &[], &LetterFilter::default());
    let filter = LetterFilter { replays_max: Some(0), ..LetterFilter::default() };
    let rows = [
        (DiscardRequest { reason: DiscardReason::Other, ..good.clone() }, "the note is missing"),
        (DiscardRequest { note: Some("a\u{202e}b".into()), ..good.clone() }, "U+202E"),
        (DiscardRequest { letters: letters.clone(), filter, ..good.clone() }, "not both"),
        (DiscardRequest { letters: vec![letters[0].clone(); 1_001], ..good.clone() }, "at most 1000 letters"),
        (DiscardRequest { letters: vec!["no-such".into()], ..good }, "no longer stored"),
    ];
    for (request, words) in rows {
        let error = act::discard(&world.office, &world.anna(), &group, &request).await.unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    assert_eq!(numbers(&world, &group).await, (1, 0), "nothing was changed");
}

#[tokio::test]
async fn a_running_replay_skips_what_was_discarded_and_its_ledger_closes() {
    let world = World::new().await;
    let group = world.one_group(4).await;
    let options = PlanOptions { canary_letters: Some(1), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    let id = world.approve(&group, &plan).await.id().clone();
    world.steps().await;
    let sent = world.letters(&group, Some(LetterStateKind::InReplay)).await;
    assert_eq!(sent.len(), 1, "the canary is on its way");

    let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
    let left_out = format!("in replay {id}, which is under way");
    assert_eq!((seen.letters.letters, seen.left_out[0].reason.clone()), (3, left_out.clone()));
    let refused = discard(&world, &group, &[sent[0].id.clone()], &LetterFilter::default()).await.unwrap_err();
    assert!(refused.to_string().contains(&left_out), "{refused}");
    let waiting = world.letters(&group, Some(LetterStateKind::Waiting)).await;
    let two: Vec<_> = waiting[..2].iter().map(|letter| letter.id.clone()).collect();
    discard(&world, &group, &two, &LetterFilter::default()).await.expect("a discard");

    assert!(world.run(&id, &works, "v2").await.is_finished());
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.skipped, total.selected()), (2, 2, 4));
    let skipped = world.store.entries(&id, None, Some(OutcomeKind::Skipped), None, 10).await.unwrap().items;
    let reason = domain::replay::Outcome::skipped(SkipReason::Discarded);
    assert!(skipped.iter().all(|entry| entry.outcome == reason && entry.sends == 0), "{skipped:?}");
    assert_eq!(world.processed.lock().unwrap().len(), 2, "nothing discarded is sent");
    assert_eq!(numbers(&world, &group).await, (0, 2));
    assert!(matches!(state(&world, &group).await, GroupState::Resolved { .. }), "the fix delivered the others");
}

#[tokio::test]
async fn a_replay_that_delivered_nothing_confirms_no_fix() {
    let world = World::new().await;
    let group = world.one_group(3).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    discard_all(&world, &group).await;
    let refused = act::approve(&world.office, &world.anna(), &group, &harness::world::approve_request(&plan)).await;
    assert!(refused.is_err(), "a closed group has no fix to approve");
    undo(&world, &group, &[]).await.expect("an undo");
    let plan = world.plan_with_fix(&group, "v3", &PlanOptions::default()).await;
    let id = world.approve(&group, &plan).await.id().clone();
    discard_all(&world, &group).await;
    assert!(world.run(&id, &works, "v3").await.is_finished());
    assert!(world.processed.lock().unwrap().is_empty());
    assert_eq!(world.ledger(&id).await.total().skipped, 3);
    assert!(matches!(state(&world, &group).await, GroupState::Discarded { .. }));
}

#[tokio::test]
async fn a_discarded_letter_that_comes_again_is_a_new_death_and_says_so() {
    let world = World::new().await;
    let died_at = world.office.now();
    world.die(7, "storage is full", died_at).await;
    world.intake().await;
    let group = world.only_group().await;
    discard_all(&world, &group).await;

    // The same dead message once more.
    world.die(7, "storage is full", died_at).await;
    assert_eq!(world.intake().await.duplicates, 1);
    assert_eq!(numbers(&world, &group).await, (0, 1));

    // Its consumer fails on it again.
    world.advance(Span::from_mins(5));
    world.die(7, "storage is full", world.office.now()).await;
    let report = world.intake().await;
    assert_eq!((report.kept, report.duplicates, report.regressions), (1, 0, 0));
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((1, 0), GroupState::Open));
    let letter = world.letters(&group, None).await.remove(0);
    assert_eq!((letter.state.clone(), letter.deaths), (LetterState::Waiting, 2));
    let remark = "It had been discarded by anna (test data), and failed again. It is open again.";
    assert!(letter.diagnosis.remarks.iter().any(|it| it == remark), "{:?}", letter.diagnosis.remarks);
    assert_eq!(world.store.deaths(&letter.id).await.unwrap().len(), 2);
    assert_eq!(acts(&world, &group, Act::DiscardedDiedAgain).await.len(), 1);
    let alerts = world.alerts.recent(100);
    assert_eq!(alerts.iter().filter(|alert| alert.kind == AlertKind::DiscardedAgain).count(), 1);
}

#[tokio::test]
async fn a_discard_that_is_cut_off_is_completed_by_the_next_sweep() {
    let mut calls = 0;
    loop {
        let world = World::new().await;
        let group = world.one_group(120).await;
        let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
        world.faults.arm(calls, false);
        let done =
            act::discard(&world.office, &world.anna(), &group, &request(&seen, &[], &LetterFilter::default())).await;
        let survived = !world.faults.has_failed();
        world.faults.arm(i64::MAX, false);
        world.faults.restart();
        let (open, discarded) = numbers(&world, &group).await;
        assert_eq!(open + discarded, 120, "after a crash at call {calls}: no letter is counted twice or by half");
        if done.is_err() && facts(&world, &group).await.variant.discarding.is_none() {
            assert_eq!(discarded, 0, "call {calls}: without a stored decision nothing is discarded");
            discard_all(&world, &group).await;
        }
        sweep::run(&world.office).await.unwrap();
        assert_eq!(numbers(&world, &group).await, (0, 120), "call {calls}");
        assert!(matches!(state(&world, &group).await, GroupState::Discarded { .. }), "call {calls}");
        let done = acts(&world, &group, Act::LettersDiscarded).await;
        assert!(done.len() == 1 && done[0].1.starts_with("120 letters"), "call {calls}: {done:?}");
        if survived {
            assert!(calls > 8, "{calls} calls");
            return;
        }
        calls += 1;
    }
}

#[tokio::test]
async fn an_undo_stops_a_discard_that_is_not_complete() {
    let world = World::new().await;
    let group = world.one_group(120).await;
    let seen = preview(&world, &group, &[], &LetterFilter::default()).await;
    world.faults.arm(7, false);
    let _ = act::discard(&world.office, &world.anna(), &group, &request(&seen, &[], &LetterFilter::default())).await;
    world.faults.restart();
    let progress = facts(&world, &group).await.variant.discarding.map(|task| task.progress());
    let Some(Progress { undo: false, done, .. }) = progress else { panic!("{progress:?}") };
    assert_eq!(done.letters, numbers(&world, &group).await.1, "the progress equals the letters");
    undo(&world, &group, &[]).await.expect("an undo");
    sweep::run(&world.office).await.unwrap();
    assert_eq!((numbers(&world, &group).await, state(&world, &group).await), ((120, 0), GroupState::Open));
}

#[tokio::test]
async fn discarded_letters_are_deleted_after_their_time_and_their_numbers_stay() {
    let world = World::new().await;
    let group = world.one_group(2).await;
    let letters = ids(&world, &group).await;
    discard_all(&world, &group).await;
    let sweep_for = async |days: i64| {
        for _ in 0..days {
            world.advance(Span::from_days(1));
            sweep::run(&world.office).await.unwrap();
        }
    };
    sweep_for(29).await;
    assert_eq!(world.letters(&group, None).await.len(), 2);
    sweep_for(2).await;
    assert_eq!(world.letters(&group, None).await.len(), 0);
    let counts = facts(&world, &group).await.counts;
    assert_eq!((counts.tally(LetterStateKind::Discarded).letters, counts.open().letters), (2, 0));
    let refused = undo(&world, &group, &letters).await.unwrap_err();
    assert!(refused.to_string().contains("deleted already"), "{refused}");
    assert!(matches!(state(&world, &group).await, GroupState::Discarded { .. }));
}
