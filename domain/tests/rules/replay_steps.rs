//! The steps of a replay, row by row: state, ledger, time, and the step that follows.
//!
//! `docs/replay.md` shows the rows as a table, and the transitions as a diagram. Both are generated here:
//! `UPDATE=1 cargo test -p dlo-domain --test rules` rewrites them; review the difference.

use crate::replay_fixture::*;
use domain::id::Actor;
use domain::replay::{
    Approval, Ending, Ledger, LedgerMove, OutcomeKind, PauseReason, Phase, Replay, ReplayState, Settling, Step,
    next_step, tripped,
};
use domain::time::Timestamp;
use serde_json::json;
use std::collections::BTreeSet;

/// A row of the table: an example of a situation, and the step that follows.
struct Row {
    state: ReplayState,
    /// The situation in words: a cell of the table. Several examples may share it.
    when: &'static str,
    waves: [&'static str; 3],
    /// The checks of the main queue since the last send.
    looks: Vec<Look>,
    second: i64,
    step: Step,
}

fn row(state: ReplayState, when: &'static str, waves: [&'static str; 3], second: i64, step: Step) -> Row {
    Row { state, when, waves, looks: vec![EARLY], second, step }
}

/// A check at the end of the window: the queue is empty.
const EMPTY: Look = (WINDOW_S, 0, 0, None);
/// A check at the end of the window: the consumer took a letter once and died, so the letter lies on the queue again.
const BACK: Look = (WINDOW_S, 1, 0, None);
/// Other messages, which never end: fewer wait than consumers hold. The platform does not tell how old they are.
const BUSY: Look = (WINDOW_S, 7, 8, None);

fn in_doubt(s: i64) -> Step {
    Step::Settle(Settling { delivered_until: None, unknown_until: Some(at(s)) })
}

const TOO_MANY: &str = "too many letters of a wave returned";
const WINDOW_RUNS: &str = "letters in flight, window running";
const WINDOW_OVER: &str = "letters in flight, window over";
const NOT_DRAINED: &str = "letters in flight, slack over, main queue's backlog not drained";
const NOT_GONE: &str = "letters in flight, window over, main queue may still hold them";
const INTAKE: &str = "letters in flight, window over, main queue has just let go of them";
const UNKNOWN: &str = "letters in flight, main queue's retention over";
const AHEAD: &str = "a stored time is in the future: the clock went back";

/// Every row, in the order of the table: within a state, the first row that applies decides.
fn table() -> Vec<Row> {
    running_rows().into_iter().chain(halted()).collect()
}

#[rustfmt::skip]
fn running_rows() -> Vec<Row> {
    use Phase::Sending;
    let send = |wave, letters_max| Step::Send { wave, letters_max };
    let enter = |wave, phase| Step::Enter { wave, phase };
    let delay = |s| Phase::BetweenWaves { until: at(s) };
    let observe = Phase::Observing { until: at(WINDOW_S) };
    let unsent = ["2/0/0/0/0", "8/0/0/0/0", "16/0/0/0/0"];
    let stuck = Step::Pause(PauseReason::BacklogNotDrained { visible_count: 9 });
    let too_late = Step::Pause(PauseReason::BacklogNotDrained { visible_count: 0 });
    let never_empty = Step::Pause(PauseReason::QueueNeverEmpty { visible_count: 7, in_flight_count: 8 });
    vec![
        //  state                 situation, then wave 1, wave 2, wave 3, second and step
        // Two of two are more than half; one of two is not. A canary smaller than the sample counts as a whole.
        row(running(1, Sending), TOO_MANY, ["0/0/0/2/0", "4/0/1/0/3", "16/0/0/0/0"], 5, too_many(1, 3, 4)),
        // Late returns, after their window: of any earlier wave.
        row(running(1, Sending), TOO_MANY, ["0/0/0/0/2", "4/0/4/0/0", "16/0/0/0/0"], 13, too_many(0, 2, 2)),
        row(running(0, Sending), AHEAD, unsent, -100, Step::RestartWaits),
        row(running(0, Sending), "unsent letters in the wave", unsent, 0, send(0, 2)),
        row(running(0, Sending), "unsent letters in the wave", ["1/1/0/0/0", "8/0/0/0/0", "16/0/0/0/0"], 0, send(0, 2)),
        // Below the sample, returns do not count; at half, they do not pause.
        row(running(1, Sending), "unsent letters in the wave", ["0/0/0/2/0", "5/0/0/0/3", "16/0/0/0/0"], 5, send(1, 5)),
        row(running(1, Sending), "unsent letters in the wave", ["0/0/0/2/0", "4/0/2/0/2", "16/0/0/0/0"], 5, send(1, 4)),
        row(running(0, Sending), "every letter of the wave sent", ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 0, enter(0, observe)),

        row(observing(0), TOO_MANY, ["0/0/0/0/2", "8/0/0/0/0", "16/0/0/0/0"], 5, too_many(0, 2, 2)),
        row(observing(2), TOO_MANY, ["0/0/0/2/0", "0/0/0/3/5", "0/0/9/7/0"], 13, too_many(1, 5, 8)),
        row(observing(0), AHEAD, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], -100, Step::RestartWaits),
        Row { looks: vec![(70, 9, 8, None)], ..row(observing(0), "main queue's backlog not drained for too long", ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 70, stuck) },
        Row { looks: vec![(3_598, 0, 0, None)], ..row(observing(0), "main queue let go of the letters only after its retention", ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 3_598, too_late) },
        Row { looks: vec![EARLY, (70, 7, 8, None)], ..row(observing(0), "main queue may still hold the letters after the longest wait", ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 70, never_empty) },
        Row { looks: vec![], ..row(observing(0), "letters in flight, slack running", ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 1, wait(SLACK_S)) },
        Row { looks: vec![], ..row(observing(0), NOT_DRAINED, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 2, Step::LookAtQueue) },
        row(observing(0), WINDOW_RUNS, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 9, wait(WINDOW_S)),
        row(observing(0), WINDOW_RUNS, ["0/0/1/0/1", "8/0/0/0/0", "16/0/0/0/0"], 5, wait(WINDOW_S)),
        // Letters with a running window count as not returned.
        row(observing(1), WINDOW_RUNS, ["0/0/0/2/0", "0/0/4/0/4", "16/0/0/0/0"], 5, wait(WINDOW_S)),
        // Nothing may be concluded from the first check alone.
        row(observing(0), NOT_GONE, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 10, Step::LookAtQueue),
        Row { looks: vec![(2, 0, 1, None), BACK], ..row(observing(0), NOT_GONE, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 10, Step::LookAtQueue) },
        Row { looks: vec![EARLY, BUSY], ..row(observing(0), NOT_GONE, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 10, Step::LookAtQueue) },
        Row { looks: vec![(2, 0, 1, None), BACK, (12, 0, 0, None)], ..row(observing(0), INTAKE, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 13, wait(14)) },
        Row { looks: vec![EARLY, EMPTY], ..row(observing(0), WINDOW_OVER, ["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 10, settle(10)) },
        row(observing(0), "nothing in flight, unsent letters in the wave", ["1/0/0/1/0", "8/0/0/0/0", "16/0/0/0/0"], 10, enter(0, Sending)),
        row(observing(0), "wave settled, more waves", ["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 10, enter(0, delay(10))),
        row(observing(2), "last wave settled", ["0/0/0/2/0", "0/0/0/8/0", "0/0/0/9/7"], 30, Step::Finish(Ending::Completed)),

        row(running(0, delay(12)), TOO_MANY, ["0/0/0/0/2", "8/0/0/0/0", "16/0/0/0/0"], 11, too_many(0, 2, 2)),
        row(running(0, delay(900)), AHEAD, ["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 12, Step::RestartWaits),
        row(running(0, delay(12)), "delay running", ["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 11, wait(12)),
        row(running(0, delay(12)), "delay over", ["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 12, enter(1, Sending)),
    ]
}

/// The rows of replays that send nothing more.
#[rustfmt::skip]
fn halted() -> Vec<Row> {
    vec![
        // A pause sends nothing, and is not paused again; letters in flight still get their outcome.
        row(paused(0), AHEAD, ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], -100, Step::RestartWaits),
        Row { looks: vec![(3_700, 0, 0, None), (3_710, 0, 0, None)], ..row(paused(0), "letters in flight, main queue let go of them only after its retention", ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 3_710, settled(3_710, 3_700)) },
        Row { looks: vec![(3_700, 9, 8, None)], ..row(paused(0), UNKNOWN, ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 3_700, in_doubt(100)) },
        Row { looks: vec![(70, 9, 8, None)], ..row(paused(0), NOT_DRAINED, ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 80, Step::LookAtQueue) },
        row(paused(1), WINDOW_RUNS, ["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 5, wait(WINDOW_S)),
        Row { looks: vec![EARLY, (70, 7, 8, None)], ..row(paused(1), NOT_GONE, ["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 80, Step::LookAtQueue) },
        Row { looks: vec![EARLY, EMPTY], ..row(paused(1), WINDOW_OVER, ["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 12, settle(12)) },
        Row { looks: vec![EARLY, EMPTY], ..row(paused(1), WINDOW_OVER, ["0/0/0/2/0", "4/1/0/3/0", "16/0/0/0/0"], 12, settle(12)) },
        row(paused(1), "nothing in flight, unsent letters", ["0/0/0/2/0", "4/0/0/4/0", "16/0/0/0/0"], 99, Step::Idle),
        row(paused(2), "nothing in flight, every letter sent", ["0/0/0/2/0", "0/0/0/8/0", "0/0/0/0/16"], 99, Step::Finish(Ending::Completed)),

        // An abort skips unsent letters and observes the letters in flight.
        row(aborting(), "unsent letters", ["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 5, Step::SkipUnsent),
        row(aborting(), AHEAD, ["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], -100, Step::RestartWaits),
        Row { looks: vec![(3_700, 9, 8, None)], ..row(aborting(), UNKNOWN, ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 3_700, in_doubt(100)) },
        // A busy queue keeps nobody waiting for its retention; a consumer that is off does, because the letters are there.
        Row { looks: vec![EARLY, (70, 7, 8, None)], ..row(aborting(), "letters in flight, main queue may still hold them after the longest wait", ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 80, in_doubt(80)) },
        Row { looks: vec![(70, 9, 8, None)], ..row(aborting(), NOT_DRAINED, ["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"], 80, Step::LookAtQueue) },
        row(aborting(), WINDOW_RUNS, ["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], 5, wait(WINDOW_S)),
        Row { looks: vec![EARLY, BUSY], ..row(aborting(), NOT_GONE, ["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], 12, Step::LookAtQueue) },
        Row { looks: vec![EARLY, EMPTY], ..row(aborting(), WINDOW_OVER, ["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], 10, settle(10)) },
        row(aborting(), "nothing in flight", ["0/0/0/2/0", "0/0/0/4/0", "0/0/0/0/0"], 10, Step::Finish(Ending::Aborted)),

        row(ReplayState::Finished { ending: Ending::Completed, at: at(1) }, "always", ["0/0/0/2/0", "0/0/0/8/0", "0/0/0/16/0"], 99, Step::Idle),
    ]
}

/// The step in words: a cell of the table.
fn in_words(row: &Row) -> &'static str {
    match (&row.step, &row.state) {
        (Step::Send { .. }, _) => "send letters",
        (Step::RestartWaits, _) => "count the waits from now",
        (Step::LookAtQueue, _) => "check the main queue",
        (Step::Settle(settling), _) if settling.outcome_for(at(0), at(row.second)) == Some(OutcomeKind::Skipped) => {
            "settle: letters that have not returned are in doubt"
        }
        (Step::Settle(_), _) => "settle: letters that have not returned are delivered",
        (Step::SkipUnsent, _) => "skip the unsent letters",
        (Step::Enter { phase: Phase::Observing { .. }, .. }, _) => "observe until the last window ends",
        (Step::Enter { phase: Phase::BetweenWaves { .. }, .. }, _) => "start the delay before the next wave",
        (Step::Enter { wave, .. }, ReplayState::Running { wave: now, .. }) if wave == now => {
            "send the wave's remaining letters"
        }
        (Step::Enter { .. }, _) => "start the next wave",
        (Step::Pause(_), _) => "pause",
        (Step::Finish(Ending::Completed), _) => "finish",
        (Step::Finish(Ending::Aborted), _) => "finish as aborted",
        (Step::Wait { .. }, _) => "wait",
        (Step::Idle, ReplayState::Paused { .. }) => "none: a person decides",
        (Step::Idle, _) => "none",
    }
}

#[test]
fn every_row_of_the_table() {
    let mut lines = vec!["| state | situation | step |".to_string(), "|---|---|---|".to_string()];
    for row in table() {
        let seen = looked(&replay(row.state.clone()), &row.looks);
        let step = next_step(&seen, &ledger(&row.waves), at(row.second), 0);
        assert_eq!(step, row.step, "{}, {}: {:?} at {} s", name(&row.state), row.when, row.waves, row.second);
        let line = format!("| {} | {} | {} |", name(&row.state).replace('_', " "), row.when, in_words(&row));
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    check_page("steps", &lines.join("\n"));
}

/// Compares a part of `docs/replay.md` with what was generated, or rewrites it with `UPDATE=1`.
fn check_page(part: &str, generated: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/replay.md");
    let (begin, end) = (format!("<!-- {part}:begin -->\n"), format!("\n<!-- {part}:end -->"));
    // Two tests rewrite parts of one page.
    static PAGE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _only = PAGE.lock();
    let page = std::fs::read_to_string(path).expect("docs/replay.md");
    let (before, rest) = page.split_once(&begin).expect("the mark of the beginning");
    let (present, after) = rest.split_once(&end).expect("the mark of the end");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, [before, &begin, generated, &end, after].concat()).expect("docs/replay.md is writable");
        return;
    }
    assert_eq!(present, generated, "docs/replay.md is out of date: UPDATE=1 cargo test -p dlo-domain --test rules");
}

/// The rule for canaries, percent, then what the waves hold and the pause that follows, if any.
#[test]
fn a_canary_has_a_stricter_rule() {
    let paused = |wave, returned, sent, pause_share_pct| {
        Some(PauseReason::TooManyReturned { returned, sent, pause_share_pct, wave: Some(wave) })
    };
    let rows = [
        // Half of the canary is back: no more than the rule for waves allows.
        (None, 0, "0/0/0/1/1", None),
        (Some(0), 0, "0/0/0/1/1", paused(0, 1, 2, 0)),
        (Some(0), 0, "0/0/0/2/0", None),
        // The first return decides, although one letter is still to be sent.
        (Some(0), 0, "1/0/0/0/1", paused(0, 1, 1, 0)),
        (Some(30), 0, "0/0/0/1/1", paused(0, 1, 2, 30)),
        // The lower of both shares counts.
        (Some(90), 0, "0/0/0/0/2", paused(0, 2, 2, 50)),
        // Later waves follow the rule for waves.
        (Some(0), 1, "0/0/0/4/4", None),
        (Some(0), 1, "0/0/0/3/5", paused(1, 5, 8, 50)),
    ];
    for (pct, wave, columns, expected) in rows {
        let replay = stored(&replay(observing(wave)), |record| record["plan"]["canary_pause_share_pct"] = json!(pct));
        assert_eq!(tripped(&replay, wave, &ledger(&[columns]).wave(0)), expected, "{pct:?} {columns}");
    }
}

#[test]
fn an_approval_of_another_plan_is_rejected() {
    let approved = plan();
    let mut changed = plan();
    changed.pace_per_s = 1_000;
    let approval = Approval {
        by: Actor::from("anna"),
        by_id: None,
        at: at(0),
        reason: "tested".into(),
        plan_hash: approved.hash(),
        waivers: Vec::new(),
        policy_version: 0,
    };
    assert_eq!(changed.clone().approve(open_gate(), approval).unwrap_err(), changed.hash());
}

#[test]
fn a_ledger_balances_after_every_move() {
    let mut ledger = Ledger::default();
    let moves = [
        (None, OutcomeKind::Pending, 7),
        (Some(OutcomeKind::Pending), OutcomeKind::Sending, 5),
        (Some(OutcomeKind::Sending), OutcomeKind::InFlight, 4),
        (Some(OutcomeKind::Sending), OutcomeKind::Returned, 1),
        (Some(OutcomeKind::InFlight), OutcomeKind::Delivered, 4),
        (Some(OutcomeKind::Delivered), OutcomeKind::Returned, 1),
        (Some(OutcomeKind::Pending), OutcomeKind::Skipped, 2),
    ];
    for (from, to, letters) in moves {
        ledger.apply(&LedgerMove::plain(0, from, to, letters));
        assert_eq!(ledger.total().selected(), 7);
    }
    let total = ledger.total();
    assert_eq!((total.delivered, total.returned, total.skipped), (3, 2, 2));
}

/// The states' names in the diagram and, with blanks, in the table.
fn name(state: &ReplayState) -> &'static str {
    match state {
        ReplayState::Running { phase: Phase::Sending, .. } => "sending",
        ReplayState::Running { phase: Phase::Observing { .. }, .. } => "observing",
        ReplayState::Running { phase: Phase::BetweenWaves { .. }, .. } => "between_waves",
        ReplayState::Paused { .. } => "paused",
        ReplayState::Aborting { .. } => "aborting",
        ReplayState::Finished { .. } => "finished",
    }
}

/// The transitions of the diagram, each with its causes.
const TRANSITIONS: &[(&str, &str, &str)] = &[
    ("[*]", "sending", "a plan is approved through the open gate"),
    ("sending", "observing", "every letter that may be sent is sent"),
    ("observing", "sending", "a resumption's canary has passed, or the next round of a message group"),
    ("observing", "between_waves", "the wave has passed"),
    ("between_waves", "sending", "the next wave"),
    ("observing", "finished", "the last wave is settled"),
    ("sending", "paused", "too many letters returned, the queue is gone, a person"),
    ("observing", "paused", "too many letters returned, the gate closed, the main queue keeps the letters, a person"),
    ("between_waves", "paused", "too many letters returned late, the gate closed, a person"),
    ("paused", "sending", "resumed through the open gate"),
    ("paused", "finished", "nothing left to send"),
    ("sending", "aborting", "aborted"),
    ("observing", "aborting", "aborted"),
    ("between_waves", "aborting", "aborted"),
    ("paused", "aborting", "aborted"),
    ("aborting", "finished", "every letter has its outcome"),
    ("finished", "[*]", ""),
];

/// Every replay that can follow this one: by its next step, or by a person.
fn successors(replay: &Replay, ledger: &Ledger, now: Timestamp) -> Vec<Replay> {
    let by = Actor::from("anna");
    let stepped = match next_step(replay, ledger, now, 7) {
        Step::Enter { wave, phase } => Some(replay.entered(wave, phase, ledger)),
        Step::Pause(why) => replay.pause(why, Actor::office(), now),
        Step::Finish(ending) => Some(replay.finished(ending, now)),
        _ => None,
    };
    let lunch = PauseReason::ByPerson { reason: "lunch".into() };
    let paused = replay.pause(lunch, by.clone(), now);
    let aborted = replay.abort(by, "wrong".into(), now);
    [stepped, paused, aborted, replay.resume(&open_gate(), ledger, &[], None)].into_iter().flatten().collect()
}

#[test]
fn the_diagram_has_every_transition_and_no_other() {
    let phases = [Phase::Sending, Phase::Observing { until: at(10) }, Phase::BetweenWaves { until: at(12) }];
    let mut states: Vec<_> = (0..3).flat_map(|wave| phases.map(|phase| running(wave, phase))).collect();
    states.extend([paused(0), paused(1), paused(2), aborting()]);
    states.push(ReplayState::Finished { ending: Ending::Completed, at: at(1) });
    let columns = ["0/0/0/2/0", "0/0/0/0/2", "0/0/2/0/0", "0/2/0/0/0", "2/0/0/0/0", "1/0/0/1/0"];
    let three = 0..columns.len().pow(3);
    let ledgers: Vec<_> = three.map(|n| ledger(&[columns[n % 6], columns[n / 6 % 6], columns[n / 36]])).collect();
    let mut found = BTreeSet::from([("[*]", "sending"), ("finished", "[*]")]);
    for state in &states {
        for ledger in &ledgers {
            for (s, looks) in [(1, vec![]), (20, vec![EARLY, (12, 0, 0, None)]), (99, vec![(80, 9, 0, None)])] {
                let replay = looked(&replay(state.clone()), &looks);
                found.extend(successors(&replay, ledger, at(s)).iter().map(|next| (name(state), name(next.state()))));
            }
        }
    }
    assert_eq!(TRANSITIONS.iter().map(|(from, to, _)| (*from, *to)).collect::<BTreeSet<_>>(), found);
    let mut lines = vec!["```mermaid".to_string(), "stateDiagram-v2".to_string()];
    lines.extend(TRANSITIONS.iter().map(|(from, to, causes)| match *causes {
        "" => format!("    {from} --> {to}"),
        causes => format!("    {from} --> {to}: {causes}"),
    }));
    lines.push("```".to_string());
    check_page("diagram", &lines.join("\n"));
}
