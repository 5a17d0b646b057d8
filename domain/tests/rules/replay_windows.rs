//! When the window of a letter begins and ends: the checks of the main queue, the time, and the step that follows.

use crate::replay_fixture::*;
use domain::replay::{OutcomeKind, PauseReason, Phase, Settling, Step, next_step};

#[test]
fn a_window_begins_when_the_main_queues_backlog_is_drained() {
    let in_flight = ledger(&["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"]);
    let stuck = Step::Pause(PauseReason::BacklogNotDrained { visible_count: 9 });
    let rows = [
        // the checks of the queue, s, step
        (vec![], 1, wait(SLACK_S)),
        (vec![], 2, Step::LookAtQueue),
        (vec![(2, 1, 0, None)], 3, Step::LookAtQueue),
        (vec![(2, 9, 8, None)], 99, Step::LookAtQueue),
        // Drained late: the consumer's attempts, 8 s, count from then.
        (vec![(30, 0, 0, None)], 37, wait(38)),
        (vec![(30, 0, 0, None), (38, 0, 0, None)], 38, settled(38, 30)),
        // A busy queue is never empty, but fewer messages wait than consumers hold.
        (vec![(2, 7, 8, None)], 9, wait(10)),
        // Checked after the longest wait.
        (vec![(69, 9, 8, None)], 70, Step::LookAtQueue),
        (vec![(70, 9, 8, None)], 70, stuck),
    ];
    for (looks, s, step) in rows {
        let seen = looked(&replay(observing(0)), &looks);
        assert_eq!(next_step(&seen, &in_flight, at(s), 0), step, "{looks:?} at {s}");
    }
    // A paused or aborting replay waits too, and does not pause again.
    for state in [paused(0), aborting()] {
        let nothing_left = ledger(&["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"]);
        let seen = looked(&replay(state), &[(70, 9, 8, None)]);
        assert_eq!(next_step(&seen, &nothing_left, at(80), 0), Step::LookAtQueue);
    }
}

#[test]
fn a_window_ends_only_when_the_letters_have_left_the_main_queue() {
    let in_flight = ledger(&["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"]);
    let never_empty = Step::Pause(PauseReason::QueueNeverEmpty { visible_count: 31, in_flight_count: 40 });
    let too_late = Step::Pause(PauseReason::BacklogNotDrained { visible_count: 0 });
    let rows = [
        // the checks of the queue, s, step
        // The consumer took the letters once and died: they lie on the queue again.
        (vec![(2, 0, 2, None), (10, 2, 0, None)], 10, Step::LookAtQueue),
        // It holds them still.
        (vec![(2, 0, 2, None), (10, 0, 2, None)], 10, Step::LookAtQueue),
        // It came back. Intake gets the slack to find letters that have just died.
        (vec![(2, 0, 2, None), (10, 2, 0, None), (50, 0, 0, None)], 51, wait(52)),
        (vec![(2, 0, 2, None), (10, 2, 0, None), (50, 0, 0, None)], 52, settled(52, 50)),
        // A check is evidence for a minute.
        (vec![(2, 0, 0, None), (10, 0, 0, None)], 71, Step::LookAtQueue),
        (vec![(2, 0, 0, None), (10, 0, 0, None), (71, 0, 0, None)], 71, settled(71, 2)),
        // Other messages: those that the platform knows to be younger than the letters prove that the letters are gone.
        (vec![(2, 3, 8, None), (10, 3, 8, Some(5))], 12, settle_until(2, 10)),
        (vec![(2, 3, 8, None), (10, 3, 8, Some(1))], 12, Step::LookAtQueue),
        // More wait than consumers hold: the age may leave out a letter that was received often.
        (vec![(2, 3, 8, None), (10, 9, 8, Some(9))], 12, Step::LookAtQueue),
        // No age: what is known is said, and nothing is claimed.
        (vec![(2, 3, 8, None), (69, 31, 40, None)], 69, Step::LookAtQueue),
        (vec![(2, 3, 8, None), (70, 31, 40, None)], 70, never_empty),
        // The queue kept them for an hour and was seen empty only then: they may have expired, unprocessed.
        (vec![(3_598, 0, 0, None)], 3_598, too_late),
    ];
    for (looks, s, step) in rows {
        let seen = looked(&replay(observing(0)), &looks);
        assert_eq!(next_step(&seen, &in_flight, at(s), 0), step, "{looks:?} at {s}");
    }
}

#[test]
fn a_letter_is_delivered_in_doubt_or_in_flight_by_the_time_of_its_send() {
    use OutcomeKind::{Delivered, Skipped};
    let both = Settling { delivered_until: Some(at(50)), unknown_until: Some(at(10)) };
    let none = Settling { delivered_until: None, unknown_until: Some(at(10)) };
    let now = 60;
    let rows = [
        (both, 10, Some(Skipped)),
        (both, 11, Some(Delivered)),
        (both, 50, Some(Delivered)),
        (both, 51, None),
        (none, 10, Some(Skipped)),
        (none, 11, None),
        // Two hours ahead: the clock has gone back since the send.
        (both, 7_200, Some(Delivered)),
        (none, 7_200, Some(Skipped)),
        // Within the difference of two clocks.
        (both, 100, None),
    ];
    for (settling, sent_at, outcome) in rows {
        assert_eq!(settling.outcome_for(at(sent_at), at(now)), outcome, "{settling:?} sent at {sent_at}");
    }
}

#[test]
fn once_a_clock_was_in_doubt_only_an_empty_queue_shows_that_letters_have_left_it() {
    let in_flight = ledger(&["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"]);
    let busy = [(3, 3, 8, None), (11, 3, 8, Some(5))];
    // (when the executor's clock was as it sent, whether the age of the oldest message is evidence)
    for (sent_at, counts) in [(0, true), (-59, true), (-61, false), (-3_000, false)] {
        let sent = replay(running(0, Phase::Sending)).held_by("two", 2, at(sent_at)).released(at(sent_at));
        let sent = stored(&sent, |record| {
            record.extend(serde_json::to_value(observing(0)).unwrap().as_object().unwrap().clone());
        });
        let step = next_step(&looked(&sent, &busy), &in_flight, at(14), 0);
        assert_eq!(matches!(step, Step::Settle(_)), counts, "sent at {sent_at}: {step:?}");
        // What is sent later by a right clock changes nothing: the earlier letters may be there still.
        let later = sent.held_by("one", 1, at(1)).released(at(1));
        let step = next_step(&looked(&later, &busy), &in_flight, at(14), 0);
        assert_eq!(matches!(step, Step::Settle(_)), counts, "then at 1: {step:?}");
        let empty = looked(&sent, &[(3, 0, 0, None), (11, 0, 0, None)]);
        assert!(matches!(next_step(&empty, &in_flight, at(14), 0), Step::Settle(_)), "sent at {sent_at}");
    }
    let restarted = replay(observing(0)).restarted_waits(at(0));
    assert_eq!(next_step(&looked(&restarted, &busy), &in_flight, at(14), 0), Step::LookAtQueue);
}

#[test]
fn a_clock_that_goes_back_freezes_nothing() {
    let in_flight = ledger(&["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"]);
    let ahead = looked(&replay(observing(0)), &[EARLY]);
    let back = -7_200;
    assert_eq!(next_step(&ahead, &in_flight, at(-55), 0), wait(WINDOW_S), "within the difference of two clocks");
    assert_eq!(next_step(&ahead, &in_flight, at(back), 0), Step::RestartWaits);
    let restarted = ahead.restarted_waits(at(back));
    assert_eq!(restarted.last_sent_at(), Some(at(back)));
    assert_eq!(next_step(&restarted, &in_flight, at(back), 0), wait(back + SLACK_S));

    let delayed = replay(running(0, Phase::BetweenWaves { until: at(12) }));
    let delayed = delayed.restarted_waits(at(back));
    let passed = ledger(&["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"]);
    assert_eq!(next_step(&delayed, &passed, at(back), 0), wait(back + 60), "at most the longest delay");

    let held = replay(running(0, Phase::Sending)).held_by("one", 10, at(0));
    let rows = [(0, true, true), (1, true, false), (30, false, false), (-50, true, true), (back, false, false)];
    for (s, is_held, is_paced) in rows {
        assert_eq!((held.is_held_by_another("two", at(s)), held.is_paced(at(s))), (is_held, is_paced), "at {s}");
    }
}
