//! Discards of letters, tasks over many of them, and what they do to their group.

use super::*;
use crate::discard::DiscardReason;
use crate::filter::LetterFilter;
use crate::group::discarding::{DiscardTask, words};
use crate::group::{CountsDeltas, GroupCounts, GroupState, Tally, Variant};
use crate::id::{Actor, QueueArn};
use crate::letter::LetterStateKind;
use crate::message::{Content, DeadMessage};
use crate::policy::Policy;
use crate::read::read;
use alloc::vec;

const HOUR: i64 = 3_600;

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000).plus(Span::from_secs(s))
}

fn message() -> DeadMessage {
    let body = r#"{"type":"order.placed","total":{"amount":"12.50","currency":"EUR"}}"#.into();
    DeadMessage {
        dlq: QueueArn::from("arn:aws:sqs:eu-central-1:1:orders-dlq"),
        message_id: "m-1".into(),
        content: Content { body, ..Content::default() },
        system: Default::default(),
    }
}

fn reading() -> Reading {
    read(&message(), &Policy::default())
}

fn letter() -> Letter {
    Letter::first(&message(), reading(), Some(Span::from_days(14)), at(0))
}

fn discard() -> Discard {
    let (by, note) = (Actor::from("anna"), Some("until the sale ended".into()));
    Discard { at: at(10), by, reason: DiscardReason::Expired, note, quarantined_at: None }
}

fn in_state(state: LetterState) -> Letter {
    letter().moved(state)
}

#[test]
fn only_waiting_and_quarantined_letters_are_discarded_and_come_back_as_they_were() {
    let replay = ReplayId::from("r");
    let rows = [
        (LetterState::Waiting, Ok(None)),
        (LetterState::Quarantined { at: at(3) }, Ok(Some(at(3)))),
        (LetterState::InReplay { replay: replay.clone() }, Err(NotDiscarded::InReplay(replay.clone()))),
        (LetterState::Delivered { replay, at: at(3) }, Err(NotDiscarded::Delivered)),
        (LetterState::Discarded { discard: Box::new(discard()) }, Err(NotDiscarded::Already)),
    ];
    for (state, expected) in rows {
        let before = in_state(state.clone());
        let after = before.discarded(&discard());
        let quarantined = after.as_ref().map(|after| after.state.discard().expect("discarded").quarantined_at);
        assert_eq!(quarantined.map_err(Clone::clone), expected, "{state:?}");
        let Ok(after) = after else { continue };
        assert_eq!((after.version, after.state.kind()), (before.version + 1, LetterStateKind::Discarded));
        assert!(!after.state.kind().is_open() && after.released(3).is_none());
        assert_eq!(after.taken_back().expect("it is discarded").state, state);
    }
    assert_eq!(letter().taken_back(), None);
}

#[test]
fn a_state_survives_its_json_form() {
    let state = LetterState::Discarded { discard: Box::new(discard()) };
    let json = serde_json::to_string(&state).expect("JSON");
    assert_eq!(serde_json::from_str::<LetterState>(&json).expect("a state"), state, "{json}");
    assert!(serde_json::from_str::<LetterState>(r#"{"state":"discarded"}"#).is_err());
}

#[test]
fn a_later_failure_of_a_discarded_letter_is_a_new_death() {
    let limit = VISIBILITY_S_MAX;
    let rows = [
        // when its consumer failed, when the message comes, whether it is a new death
        (Some(9), 20, false),
        (Some(10), 20, false),
        (Some(11), 20, true),
        // A consumer's clock that runs fast counts as now.
        (Some(900), 10, false),
        (None, 20, false),
        (None, limit, false),
        (None, limit + 1, true),
        (Some(5), limit + 24 * HOUR, false),
    ];
    let discarded = letter().discarded(&discard()).expect("it waits");
    for (failed, now, is_new) in rows {
        assert_eq!(discarded.died_since_discarded(failed.map(at), at(now)), is_new, "{failed:?} {now}");
        assert!(!letter().died_since_discarded(failed.map(at), at(now)), "it was not discarded");
    }
    let again = discarded.died_again_after_discard(reading(), 3, at(20));
    assert_eq!((again.state.clone(), again.deaths), (LetterState::Waiting, 2));
    let remark = "It had been discarded by anna (expired), and failed again. It is open again.";
    assert!(again.diagnosis.remarks.iter().any(|it| it == remark), "{:?}", again.diagnosis.remarks);
}

fn task(filter: LetterFilter, seen_s: i64) -> DiscardTask {
    DiscardTask::Discard { discard: Box::new(discard()), filter, seen_at: at(seen_s), done: Tally::default() }
}

fn undo(at_s: i64, only: Option<i64>) -> DiscardTask {
    let (by, filter, done) = (Actor::from("anna"), LetterFilter::default(), Tally::default());
    DiscardTask::Undo { by, at: at(at_s), reason: "wrong filter".into(), only: only.map(at), filter, done }
}

#[test]
fn a_task_changes_only_letters_that_its_person_saw() {
    let other_type = LetterFilter { message_type: Some("order.refund".into()), ..LetterFilter::default() };
    let all = LetterFilter::default();
    let replay = ReplayId::from("r");
    let (waiting, sent) = (letter(), in_state(LetterState::InReplay { replay }));
    let late = Letter { kept_at: at(5), ..letter() };
    let gone = letter().discarded(&discard()).expect("it waits");
    let rows = [
        (task(all.clone(), 1), &waiting, true),
        (task(all.clone(), -1), &waiting, false),
        (task(all.clone(), 4), &late, false),
        (task(all.clone(), 5), &late, true),
        (task(other_type, 1), &waiting, false),
        (task(all.clone(), 1), &sent, false),
        (task(all, 1), &gone, false),
        (undo(10, None), &gone, true),
        (undo(9, None), &gone, false),
        (undo(99, Some(10)), &gone, true),
        (undo(99, Some(11)), &gone, false),
        (undo(99, None), &waiting, false),
    ];
    for (task, letter, expected) in rows {
        let after = task.applied(letter);
        assert_eq!(after.is_some(), expected, "{task:?} {:?}", letter.state);
        let json = serde_json::to_string(&task).expect("JSON");
        assert_eq!(serde_json::from_str::<DiscardTask>(&json).expect("a task"), task);
        assert!(expected || task.states().len() < 3);
    }
}

#[test]
fn a_group_closes_once_nothing_is_open_and_opens_with_a_new_death() {
    let group = Variant::opened_by(&letter(), &reading());
    let mut counts = GroupCounts::default();
    let mut change = |before: Option<&Letter>, after: &Letter| {
        let mut deltas = CountsDeltas::default();
        deltas.moved(before, after);
        deltas.0.values().for_each(|delta| counts.apply(delta));
        counts.clone()
    };
    let waiting = change(None, &letter());
    assert_eq!(group.closed(&waiting, at(20)), None, "a letter is open");
    assert_eq!(group.closed(&GroupCounts::default(), at(20)), None, "nothing was discarded");
    let gone = letter().discarded(&discard()).expect("it waits");
    let discarded = change(Some(&letter()), &gone);
    assert_eq!(discarded.open(), Tally::default());
    let closed = group.closed(&discarded, at(20)).expect("closed");
    assert_eq!(closed.state, GroupState::Discarded { at: at(20) });
    assert_eq!(closed.closed(&discarded, at(21)), None, "once");
    let busy = Variant { discarding: Some(Box::new(undo(10, None))), ..group.clone() };
    assert_eq!(busy.closed(&discarded, at(20)), None, "an undo is at work");
    let open = closed.after_death(at(30), at(31)).expect("open again");
    assert_eq!((open.state, open.version), (GroupState::Open, closed.version + 1));
    let json = serde_json::to_string(&closed.state).expect("JSON");
    assert_eq!(serde_json::from_str::<GroupState>(&json).expect("a state"), closed.state);
    assert_eq!(change(Some(&gone), &gone.taken_back().expect("it is discarded")), waiting, "as before");
}

#[test]
fn a_number_of_letters_is_said_with_its_money() {
    let money = |text: &str, code: &str| {
        let currency = crate::money::Currency::parse(code).expect("a currency");
        crate::money::Money { amount: text.parse().expect("an amount"), currency }
    };
    let mut two = crate::money::Purse::from(Some(money("12.50", "EUR")));
    two.add(money("3", "USD"));
    let rows = [
        (Tally { letters: 1, ..Tally::default() }, "1 letter"),
        (Tally { letters: 1200, priced: 2, money: two }, "1,200 letters, €12.50 and $3.00"),
    ];
    for (tally, expected) in rows {
        assert_eq!(words(&tally), expected);
    }
    let done = task(LetterFilter::default(), 1).after(&Tally { letters: 2, ..Tally::default() });
    assert_eq!((done.words().as_str(), done.progress().undo), ("2 letters discarded", false));
    assert_eq!(vec![undo(1, None).words()], ["0 letters taken back"]);
}
