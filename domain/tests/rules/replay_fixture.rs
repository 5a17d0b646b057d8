//! A replay in any state, with any ledger, for the tests of its steps.

use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::{ConsumerFacts, GateFacts, OpenGate, QueueFact, evaluate};
use domain::group::Tally;
use domain::id::{Actor, GroupId, QueueArn, ReplayId};
use domain::person::Person;
use domain::policy::GatePolicy;
use domain::reading::Class;
use domain::replay::{
    Approval, Backlog, Ledger, PauseReason, Phase, Plan, QueueCounts, Replay, ReplayState, Settling, Step, WaveLedger,
    Wrapped,
};
use domain::time::{Span, Timestamp};
use serde_json::{Map, Value, json};

pub const T0: i64 = 1_800_000_000_000;
pub const WINDOW_S: i64 = 10;
pub const SLACK_S: i64 = 2;
pub const RETENTION_S: i64 = 3_600;

pub fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(T0).plus(Span::from_secs(s))
}

pub fn group() -> GroupId {
    GroupId::from("g")
}

pub fn open_gate() -> OpenGate {
    let (fix, filter, approver) = (plan().fix, LetterFilter::default(), Person::from("anna"));
    let facts = GateFacts {
        group: &group(),
        class: Class::Permanent,
        fix: Some(&fix),
        last_died_at: None,
        last_undated_at: None,
        dry_run: None,
        filter: &filter,
        deployment: None,
        consumers: ConsumerFacts::default(),
        letters: &Tally { letters: 1, ..Tally::default() },
        left_out: &[],
        unchecked: &[],
        wrapped: &Wrapped::default(),
        queue: QueueFact::Ready("orders answers".into()),
        approver: Some(&approver),
        waivers: &[],
        four_eyes: false,
    };
    let policy = GatePolicy { quiet_ms: Span::ZERO, ..GatePolicy::default() };
    evaluate(&facts, &policy, fix.effective_at).open().expect("every condition is met")
}

pub fn plan() -> Plan {
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
            declared_by_id: None,
            declared_at: at(0),
            effective_at: at(0),
            transform: None,
        },
        filter: domain::filter::LetterFilter::default(),
        named: false,
        letters: Tally { letters: 26, ..Tally::default() },
        message_types: Vec::new(),
        letters_digest: String::new(),
        oldest_sent_at: None,
        left_out: Vec::new(),
        unchecked: Vec::new(),
        wrapped: Wrapped::default(),
        rounds: 3,
        waves: vec![2, 8, 16],
        pace_per_s: 10,
        pause_share_pct: 50,
        canary_pause_share_pct: None,
        sample_letters_min: 4,
        window_ms: Span::from_secs(WINDOW_S),
        slack_ms: Span::from_secs(SLACK_S),
        backlog_ms_max: Span::from_secs(60),
        wave_delay_ms: Span::from_secs(4),
        wave_delay_ms_max: Span::from_secs(60),
    }
}

pub fn replay(state: ReplayState) -> Replay {
    let plan = plan();
    let approval = Approval {
        by: Actor::from("anna"),
        by_id: None,
        at: at(0),
        reason: "tested".into(),
        plan_hash: plan.hash(),
        waivers: Vec::new(),
        policy_version: 0,
    };
    let replay = plan.approve(open_gate(), approval).unwrap();
    stored(&replay, |record| {
        let object = serde_json::to_value(&state).unwrap();
        record.extend(object.as_object().unwrap().clone());
        record.insert("last_sent_at".into(), json!(at(0)));
    })
}

/// Returns the replay as a store would return it after these changes to its record.
pub fn stored(replay: &Replay, change: impl FnOnce(&mut Map<String, Value>)) -> Replay {
    let Ok(Value::Object(mut record)) = serde_json::to_value(replay) else { unreachable!("a replay is an object") };
    change(&mut record);
    serde_json::from_value(Value::Object(record)).unwrap()
}

/// A check of the main queue: its second, the messages that waited and those that consumers held, and the second of the
/// oldest message's send if the platform tells.
pub type Look = (i64, u64, u64, Option<i64>);

/// Returns the replay after these checks of its main queue, which keeps messages for [`RETENTION_S`].
pub fn looked(replay: &Replay, looks: &[Look]) -> Replay {
    looks.iter().fold(replay.clone(), |replay, (s, visible, in_flight, oldest)| {
        let counts = QueueCounts { visible: *visible, in_flight: *in_flight, delayed: 0 };
        replay.saw(Backlog::measured(at(*s), counts, oldest.map(at), Some(Span::from_secs(RETENTION_S))))
    })
}

/// Builds a ledger from `pending/sending/in flight/delivered/returned` of each wave.
pub fn ledger(waves: &[&str]) -> Ledger {
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

pub fn running(wave: u32, phase: Phase) -> ReplayState {
    ReplayState::Running { wave, phase }
}

pub fn observing(wave: u32) -> ReplayState {
    running(wave, Phase::Observing { until: at(WINDOW_S) })
}

pub fn paused(wave: u32) -> ReplayState {
    let why = PauseReason::ByPerson { reason: "lunch".into() };
    ReplayState::Paused { wave, why, by: Actor::from("otto"), at: at(1) }
}

pub fn aborting() -> ReplayState {
    ReplayState::Aborting { by: Actor::from("otto"), reason: "wrong".into(), at: at(1) }
}

pub fn too_many(wave: u32, returned: u64, sent: u64) -> Step {
    Step::Pause(PauseReason::TooManyReturned { returned, sent, pause_share_pct: 50, wave: Some(wave) })
}

/// The first check: the queue is empty.
pub const EARLY: Look = (SLACK_S, 0, 0, None);

/// The letters sent in the first second are delivered, and those that the queue may have deleted are in doubt.
pub fn settle(s: i64) -> Step {
    settled(s, SLACK_S)
}

pub fn settled(s: i64, gone_since: i64) -> Step {
    settle_until(s - WINDOW_S, gone_since)
}

pub fn settle_until(s: i64, gone_since: i64) -> Step {
    Step::Settle(Settling { delivered_until: Some(at(s)), unknown_until: Some(at(gone_since - RETENTION_S + SLACK_S)) })
}

pub fn wait(s: i64) -> Step {
    Step::Wait { until: at(s) }
}
