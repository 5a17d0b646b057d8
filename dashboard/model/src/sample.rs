//! Sample rows and replays for the tests of this crate.

use domain::group::{GroupState, Tally};
use domain::id::GroupId;
use domain::impact::Severity;
use domain::money::{Currency, Money, Purse};
use domain::reading::{Category, Class, Classification, Confidence};
use domain::time::{Span, Timestamp};
use wire::{GroupRow, NextStep};

pub const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

/// Returns an open group: title, letters, euros, customers, hours since the oldest was sent, hours to expiry, failures in
/// the last hour.
pub fn row(
    title: &str,
    letters: i64,
    euros: Option<i64>,
    customers: u64,
    sent_h: Option<i64>,
    loss_h: Option<i64>,
    last_hour: u64,
) -> GroupRow {
    let hours = |h: i64| Span::from_mins(h * 60);
    let money = euros.map(|euros| Money { amount: euros.into(), currency: Currency::parse("EUR").unwrap() });
    GroupRow {
        id: GroupId::new(format!("id-{}", title.to_lowercase())),
        title: title.to_string(),
        culprit: Some("orders::charge (charge.rs)".to_string()),
        queue: "payments".to_string(),
        consumer: Some("orders-worker".to_string()),
        classification: Classification {
            class: Class::Transient,
            category: Category::Timeout,
            confidence: Confidence::from_pct(90),
            reason: "matched: timeout".to_string(),
        },
        severity: Severity::Warning,
        state: GroupState::Open,
        next: NextStep::FindCause,
        open: Tally { letters, priced: if euros.is_some() { letters } else { 0 }, money: Purse::from(money) },
        in_replay: 0,
        delivered: 0,
        customers,
        oldest_sent_at: sent_h.map(|h| NOW.minus(hours(h))),
        loss_at: loss_h.map(|h| NOW.plus(hours(h))),
        first_died_at: NOW.minus(hours(60)),
        last_died_at: Some(NOW.minus(hours(1))),
        arrivals: vec![0, 1, last_hour],
        arrivals_last_hour: last_hour,
    }
}

/// Returns a replay in a state, with waves of these counts and a plan of the same sizes.
pub fn replay(state: domain::replay::ReplayState, waves: &[domain::replay::WaveLedger]) -> wire::ReplayView {
    use domain::replay::{Approval, Ledger, Plan, PlanHash};
    let fix = domain::fix::Fix {
        kind: domain::fix::FixKind::Deploy,
        reference: "v2".into(),
        note: None,
        declared_by: domain::id::Actor::new("ana"),
        declared_by_id: None,
        declared_at: NOW,
        effective_at: NOW,
        transform: None,
    };
    let ledger = Ledger(waves.to_vec());
    let total = ledger.total();
    let plan = Plan {
        id: domain::id::ReplayId::new("replay-1"),
        group: GroupId::new("g"),
        main_queue: domain::id::QueueArn::new("arn:aws:sqs:local:0:orders"),
        made_by: domain::id::Actor::new("ana"),
        made_at: NOW,
        fix,
        filter: domain::filter::LetterFilter::default(),
        letters: Tally { letters: total.selected() as i64, ..Tally::default() },
        message_types: Vec::new(),
        letters_digest: String::new(),
        oldest_sent_at: None,
        left_out: Vec::new(),
        unchecked: Vec::new(),
        rounds: waves.len() as u64,
        waves: waves.iter().map(|wave| wave.selected()).collect(),
        pace_per_s: 50,
        stop_share_pct: 50,
        sample_letters_min: 5,
        window_ms: Span::from_secs(10),
        slack_ms: Span::from_secs(2),
        backlog_ms_max: Span::from_mins(60),
        wave_delay_ms: Span::from_secs(1),
        wave_delay_ms_max: Span::from_secs(10),
    };
    let approval = Approval {
        by: domain::id::Actor::new("bo"),
        by_id: None,
        at: NOW,
        reason: "fixed".into(),
        plan_hash: PlanHash(String::new()),
        waivers: Vec::new(),
    };
    let replay = wire::ReplayInfo {
        version: 1,
        plan,
        approval,
        last_sent_at: None,
        backlog: None,
        resumed: None,
        transform: None,
        state,
    };
    wire::ReplayView { replay, group_title: "null".into(), ledger, total, observed_until: None }
}

/// Returns an entry whose letter returned at a time.
pub fn returned(letter: &str, ms: i64, verdict: domain::replay::Verdict, title: &str) -> wire::EntryRow {
    let outcome = domain::replay::Outcome::Returned {
        at: Timestamp::from_ms(ms),
        verdict,
        group: GroupId::new(title),
        title: title.into(),
    };
    let entry = domain::replay::Entry {
        replay: domain::id::ReplayId::new("replay-1"),
        seq: 0,
        letter: domain::id::LetterId::new(letter),
        wave: 0,
        outcome,
        sends: 1,
        message_group: None,
        answers: 0,
        changed_by: None,
    };
    wire::EntryRow { entry, message_type: None, impact: None }
}
