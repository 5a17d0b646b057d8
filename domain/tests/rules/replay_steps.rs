//! The replay state machine, row by row: state, what the ledger says, time, and the step that follows.

use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::{GateFacts, OpenGate, QueueFact, evaluate};
use domain::group::Tally;
use domain::id::{Actor, GroupId, QueueArn, ReplayId};
use domain::policy::GatePolicy;
use domain::reading::Class;
use domain::replay::{
    Approval, Backlog, Ending, Ledger, LedgerMove, OutcomeKind, PauseReason, Phase, Plan, Replay, ReplayState, Step,
    WaveLedger, next_step,
};
use domain::time::{Span, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const T0: i64 = 1_800_000_000_000;
const WINDOW_S: i64 = 10;
const SLACK_S: i64 = 2;

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(T0).plus(Span::from_secs(s))
}

fn group() -> GroupId {
    GroupId::from("g")
}

fn open_gate() -> OpenGate {
    let (fix, filter, approver) = (plan().fix, LetterFilter::default(), Actor::from("anna"));
    let facts = GateFacts {
        group: &group(),
        class: Class::Permanent,
        fix: Some(&fix),
        last_died_at: None,
        dry_run: None,
        filter: &filter,
        deployment: None,
        letters: &Tally { letters: 1, ..Tally::default() },
        left_out: &[],
        unchecked: &[],
        queue: QueueFact::Ready("orders answers".into()),
        approver: Some(&approver),
        waivers: &[],
        four_eyes: false,
    };
    let policy = GatePolicy { quiet_ms: Span::ZERO, ..GatePolicy::default() };
    evaluate(&facts, &policy, fix.effective_at).open().expect("every condition is met")
}

fn plan() -> Plan {
    Plan {
        id: ReplayId::from("r"),
        group: group(),
        main_queue: QueueArn::from("arn:aws:sqs:local:0:orders"),
        made_by: Actor::from("otto"),
        made_at: at(0),
        fix: Fix {
            kind: FixKind::Deploy,
            reference: "v2".into(),
            note: None,
            declared_by: Actor::from("otto"),
            declared_at: at(0),
            effective_at: at(0),
            transform: None,
        },
        filter: domain::filter::LetterFilter::default(),
        letters: Tally { letters: 26, ..Tally::default() },
        message_types: Vec::new(),
        letters_digest: String::new(),
        oldest_sent_at: None,
        left_out: Vec::new(),
        unchecked: Vec::new(),
        rounds: 3,
        waves: vec![2, 8, 16],
        pace_per_s: 10,
        stop_share_pct: 50,
        sample_letters_min: 4,
        window_ms: Span::from_secs(WINDOW_S),
        slack_ms: Span::from_secs(SLACK_S),
        backlog_ms_max: Span::from_secs(60),
        wave_delay_ms: Span::from_secs(4),
        wave_delay_ms_max: Span::from_secs(60),
    }
}

fn replay(state: ReplayState) -> Replay {
    let plan = plan();
    let approval = Approval {
        by: Actor::from("anna"),
        at: at(0),
        reason: "tested".into(),
        plan_hash: plan.hash(),
        waivers: Vec::new(),
    };
    let replay = plan.approve(open_gate(), approval).unwrap();
    stored(&replay, |record| {
        let object = serde_json::to_value(&state).unwrap();
        record.extend(object.as_object().unwrap().clone());
        record.insert("last_sent_at".into(), json!(at(0)));
        record.insert("backlog".into(), json!(backlog(SLACK_S, 0, 0)));
    })
}

/// The replay as a store would give it back after these changes of its record.
fn stored(replay: &Replay, change: impl FnOnce(&mut Map<String, Value>)) -> Replay {
    let Ok(Value::Object(mut record)) = serde_json::to_value(replay) else { unreachable!("a replay is a record") };
    change(&mut record);
    serde_json::from_value(Value::Object(record)).unwrap()
}

fn with_backlog(replay: &Replay, backlog: Option<Backlog>) -> Replay {
    stored(replay, |record| drop(record.insert("backlog".into(), json!(backlog))))
}

fn backlog(s: i64, visible_count: u64, in_flight_count: u64) -> Backlog {
    Backlog { seen_at: at(s), visible_count, in_flight_count }
}

/// `pending/sending/in flight/delivered/returned` of each wave.
fn ledger(waves: &[&str]) -> Ledger {
    Ledger(
        waves
            .iter()
            .map(|wave| {
                let n: Vec<u64> = wave.split('/').map(|n| n.parse().unwrap()).collect();
                WaveLedger {
                    pending: n[0],
                    sending: n[1],
                    in_flight: n[2],
                    delivered: n[3],
                    returned: n[4],
                    ..WaveLedger::default()
                }
            })
            .collect(),
    )
}

fn running(wave: u32, phase: Phase) -> ReplayState {
    ReplayState::Running { wave, phase }
}

fn observing(wave: u32) -> ReplayState {
    running(wave, Phase::Observing { until: at(WINDOW_S) })
}

fn paused(wave: u32) -> ReplayState {
    let why = PauseReason::ByPerson { reason: "lunch".into() };
    ReplayState::Paused { wave, why, by: Actor::from("otto"), at: at(1) }
}

fn stopping() -> ReplayState {
    ReplayState::Aborting { by: Actor::from("otto"), reason: "wrong".into(), at: at(1) }
}

fn too_many(wave: u32, returned: u64, sent: u64) -> Step {
    Step::Pause(PauseReason::TooManyReturned { returned, sent, stop_share_pct: 50, wave: Some(wave) })
}

#[track_caller]
fn check(state: ReplayState, waves: &[&str], second: i64, expected: Step) {
    assert_eq!(next_step(&replay(state), &ledger(waves), at(second), 0), expected);
}

#[test]
fn every_row_of_the_table() {
    let send = |wave, letters_max| Step::Send { wave, letters_max };
    let settle = |s: i64| Step::Settle { sent_until: at(s - WINDOW_S) };
    let wait = |s| Step::Wait { until: at(s) };
    let enter = |wave, phase| Step::Enter { wave, phase };
    let rest = |s| Phase::BetweenWaves { until: at(s) };
    let observe = Phase::Observing { until: at(WINDOW_S) };
    use Phase::Sending;

    //    state                  wave 1       wave 2       wave 3         s   step
    check(running(0, Sending), &["2/0/0/0/0", "8/0/0/0/0", "16/0/0/0/0"], 0, send(0, 2));
    check(running(0, Sending), &["1/1/0/0/0", "8/0/0/0/0", "16/0/0/0/0"], 0, send(0, 2));
    check(running(0, Sending), &["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 0, enter(0, observe));
    check(observing(0), &["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 9, wait(WINDOW_S));
    check(observing(0), &["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"], 10, settle(10));
    check(observing(0), &["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 10, enter(0, rest(10)));
    check(running(0, rest(12)), &["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 11, wait(12));
    check(running(0, rest(12)), &["0/0/0/2/0", "8/0/0/0/0", "16/0/0/0/0"], 12, enter(1, Sending));
    // One of two is not more than half; two of two is. A canary smaller than the sample counts whole.
    check(observing(0), &["0/0/1/0/1", "8/0/0/0/0", "16/0/0/0/0"], 5, wait(WINDOW_S));
    check(observing(0), &["0/0/0/0/2", "8/0/0/0/0", "16/0/0/0/0"], 5, too_many(0, 2, 2));
    // Below the sample nothing is said; above it the wave stops in the middle of sending.
    check(running(1, Sending), &["0/0/0/2/0", "5/0/0/0/3", "16/0/0/0/0"], 5, send(1, 5));
    check(running(1, Sending), &["0/0/0/2/0", "4/0/1/0/3", "16/0/0/0/0"], 5, too_many(1, 3, 4));
    check(running(1, Sending), &["0/0/0/2/0", "4/0/2/0/2", "16/0/0/0/0"], 5, send(1, 4));
    // Late, when their windows are over: of the wave before the rest, and of any wave before.
    check(running(0, rest(12)), &["0/0/0/0/2", "8/0/0/0/0", "16/0/0/0/0"], 11, too_many(0, 2, 2));
    check(running(1, Sending), &["0/0/0/0/2", "4/0/4/0/0", "16/0/0/0/0"], 13, too_many(0, 2, 2));
    check(observing(2), &["0/0/0/2/0", "0/0/0/3/5", "0/0/9/7/0"], 13, too_many(1, 5, 8));
    // Letters that are still observed count as not returned.
    check(observing(1), &["0/0/0/2/0", "0/0/4/0/4", "16/0/0/0/0"], 5, wait(WINDOW_S));
    check(observing(2), &["0/0/0/2/0", "0/0/0/8/0", "0/0/0/9/7"], 30, Step::Finish(Ending::Completed));
    // A pause sends nothing; what is in flight still gets its outcome.
    check(paused(1), &["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 5, wait(WINDOW_S));
    check(paused(1), &["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 12, settle(12));
    check(paused(1), &["0/0/0/2/0", "4/1/0/3/0", "16/0/0/0/0"], 12, settle(12));
    check(paused(1), &["0/0/0/2/0", "4/0/0/4/0", "16/0/0/0/0"], 99, Step::Rest);
    check(paused(2), &["0/0/0/2/0", "0/0/0/8/0", "0/0/0/0/16"], 99, Step::Finish(Ending::Completed));
    // An abort skips what was not sent, and observes the rest.
    check(stopping(), &["0/0/0/2/0", "4/0/4/0/0", "16/0/0/0/0"], 5, Step::SkipUnsent);
    check(stopping(), &["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], 5, wait(WINDOW_S));
    check(stopping(), &["0/0/0/2/0", "0/0/4/0/0", "0/0/0/0/0"], 10, settle(10));
    check(stopping(), &["0/0/0/2/0", "0/0/0/4/0", "0/0/0/0/0"], 10, Step::Finish(Ending::Aborted));
    check(ReplayState::Finished { ending: Ending::Completed, at: at(1) }, &["0/0/0/2/0"], 99, Step::Rest);
}

#[test]
fn a_window_begins_when_the_main_queues_backlog_is_drained() {
    let in_flight = ledger(&["0/0/2/0/0", "8/0/0/0/0", "16/0/0/0/0"]);
    let settle = |s: i64| Step::Settle { sent_until: at(s - WINDOW_S) };
    let wait = |s| Step::Wait { until: at(s) };
    let stuck = Step::Pause(PauseReason::BacklogNotDrained { visible_count: 9 });
    let rows = [
        // what was seen of the queue   s    step
        (None, 1, wait(SLACK_S)),
        (None, 2, Step::LookAtQueue),
        (Some(backlog(2, 1, 0)), 3, Step::LookAtQueue),
        (Some(backlog(2, 9, 8)), 99, Step::LookAtQueue),
        // Drained late: the consumer's attempts, 8 s, count from then.
        (Some(backlog(2, 0, 0)), 9, wait(10)),
        (Some(backlog(2, 0, 0)), 10, settle(10)),
        (Some(backlog(30, 0, 0)), 37, wait(38)),
        (Some(backlog(30, 0, 0)), 38, settle(38)),
        // A busy queue is never empty: what waits is less than what is in hand.
        (Some(backlog(2, 7, 8)), 10, settle(10)),
        // Looked at past the longest wait.
        (Some(backlog(69, 9, 8)), 70, Step::LookAtQueue),
        (Some(backlog(70, 9, 8)), 70, stuck),
    ];
    for (backlog, s, step) in rows {
        let seen = with_backlog(&replay(observing(0)), backlog);
        assert_eq!(next_step(&seen, &in_flight, at(s), 0), step, "{backlog:?} at {s}");
    }
    // Whoever has stopped it waits too, and is not stopped again.
    for state in [paused(0), stopping()] {
        let nothing_left = ledger(&["0/0/2/0/0", "0/0/0/0/0", "0/0/0/0/0"]);
        let seen = with_backlog(&replay(state), Some(backlog(70, 9, 8)));
        assert_eq!(next_step(&seen, &nothing_left, at(80), 0), Step::LookAtQueue);
    }
}

#[test]
fn a_resumption_starts_with_a_canary_and_forgives_what_came_back_before() {
    let ledger_then = ledger(&["0/0/0/2/0", "3/0/0/1/4", "16/0/0/0/0"]);
    let resumed = replay(paused(1)).resume(&open_gate(), &ledger_then, &[], None).unwrap();
    assert_eq!(next_step(&resumed, &ledger_then, at(20), 0), Step::Send { wave: 1, letters_max: 2 });

    let sent = stored(&with_backlog(&resumed, Some(backlog(22, 0, 0))), |record| {
        record.insert("last_sent_at".into(), json!(at(20)));
    });
    let canary_out = ledger(&["0/0/0/2/0", "1/0/2/1/4", "16/0/0/0/0"]);
    let observe = Phase::Observing { until: at(20 + WINDOW_S) };
    assert_eq!(next_step(&sent, &canary_out, at(21), 0), Step::Enter { wave: 1, phase: observe });

    let observing = sent.entered(1, observe, &canary_out);
    let canary_back = ledger(&["0/0/0/2/0", "1/0/0/1/6", "16/0/0/0/0"]);
    assert_eq!(next_step(&observing, &canary_back, at(22), 0), too_many(1, 2, 2));
    let canary_passed = ledger(&["0/0/0/2/0", "1/0/0/3/4", "16/0/0/0/0"]);
    let step = next_step(&observing, &canary_passed, at(31), 0);
    assert_eq!(step, Step::Enter { wave: 1, phase: Phase::Sending });

    let rest = observing.entered(1, Phase::Sending, &canary_passed);
    assert_eq!(next_step(&rest, &canary_passed, at(31), 0), Step::Send { wave: 1, letters_max: 1 });
}

#[test]
fn a_resumption_whose_wave_is_used_up_tries_its_canary_in_the_next() {
    let used_up = ledger(&["0/0/0/2/0", "0/0/0/0/8", "16/0/0/0/0"]);
    let resumed = replay(paused(1)).resume(&open_gate(), &used_up, &[], None).unwrap();
    let next = resumed.entered(2, Phase::Sending, &used_up);
    assert_eq!(next_step(&next, &used_up, at(20), 0), Step::Send { wave: 2, letters_max: 2 });
}

#[test]
fn nothing_resumes_while_letters_are_in_flight() {
    let in_flight = ledger(&["0/0/0/2/0", "3/0/1/0/4", "16/0/0/0/0"]);
    assert!(replay(paused(1)).resume(&open_gate(), &in_flight, &[], None).is_none());
}

#[test]
fn an_approval_of_another_plan_starts_nothing() {
    let approved = plan();
    let mut changed = plan();
    changed.pace_per_s = 1_000;
    let approval = Approval {
        by: Actor::from("anna"),
        at: at(0),
        reason: "tested".into(),
        plan_hash: approved.hash(),
        waivers: Vec::new(),
    };
    assert_eq!(changed.clone().approve(open_gate(), approval).unwrap_err(), changed.hash());
}

#[test]
fn a_ledger_closes_whatever_moves() {
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

/// The states' names in the diagram.
fn name(state: &ReplayState) -> &'static str {
    match state {
        ReplayState::Running { phase: Phase::Sending, .. } => "sending",
        ReplayState::Running { phase: Phase::Observing { .. }, .. } => "observing",
        ReplayState::Running { phase: Phase::BetweenWaves { .. }, .. } => "resting",
        ReplayState::Paused { .. } => "paused",
        ReplayState::Aborting { .. } => "stopping",
        ReplayState::Finished { .. } => "finished",
    }
}

/// Where a replay can go from here: by its next step, or by a person.
fn ways_on(replay: &Replay, ledger: &Ledger, now: Timestamp) -> Vec<Replay> {
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
fn the_diagram_has_every_way_and_no_other() {
    let phases = [Phase::Sending, Phase::Observing { until: at(10) }, Phase::BetweenWaves { until: at(12) }];
    let mut states: Vec<_> = (0..3).flat_map(|wave| phases.map(|phase| running(wave, phase))).collect();
    states.extend([paused(0), paused(1), paused(2), stopping()]);
    states.push(ReplayState::Finished { ending: Ending::Completed, at: at(1) });
    let columns = ["0/0/0/2/0", "0/0/0/0/2", "0/0/2/0/0", "0/2/0/0/0", "2/0/0/0/0", "1/0/0/1/0"];
    let mut found = BTreeSet::from(["[*] --> sending".to_string()]);
    let three = 0..columns.len().pow(3);
    let ledgers: Vec<_> = three.map(|n| ledger(&[columns[n % 6], columns[n / 6 % 6], columns[n / 36]])).collect();
    for state in &states {
        for ledger in &ledgers {
            for (s, backlog) in [(1, None), (20, Some(backlog(2, 0, 0))), (99, Some(backlog(80, 9, 0)))] {
                let replay = with_backlog(&replay(state.clone()), backlog);
                let ways = ways_on(&replay, ledger, at(s)).into_iter();
                found.extend(ways.map(|to| format!("{} --> {}", name(state), name(&to.state()))));
            }
        }
    }
    let page = include_str!("../../../ARCHITECTURE.md");
    let diagram = page.split_once("stateDiagram-v2").and_then(|(_, rest)| rest.split_once("```")).expect("a diagram").0;
    let edges = diagram.lines().filter_map(|line| line.trim().split(':').next().filter(|edge| edge.contains("-->")));
    let told: BTreeSet<_> = edges.map(|edge| edge.trim().to_string()).filter(|edge| !edge.ends_with("[*]")).collect();
    assert_eq!(told, found);
}
