//! Sample replays for the tests of this crate.

use domain::group::{Customers, Tally};
use domain::id::GroupId;
use domain::time::{Span, Timestamp};

pub const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

/// Returns a replay in a state, with waves of these counts and a plan of the same sizes.
pub fn replay(state: domain::replay::ReplayState, waves: &[domain::replay::WaveLedger]) -> wire::ReplayAnswer {
    use domain::replay::{Approval, Ledger, Plan, PlanHash, Wrapped};
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
        named: false,
        letters: Tally { letters: total.selected() as i64, ..Tally::default() },
        message_types: Vec::new(),
        letters_digest: String::new(),
        oldest_sent_at: None,
        left_out: Vec::new(),
        unchecked: Vec::new(),
        wrapped: Wrapped::default(),
        rounds: waves.len() as u64,
        waves: waves.iter().map(|wave| wave.selected()).collect(),
        pace_per_s: 50,
        pause_share_pct: 50,
        canary_pause_share_pct: Some(0),
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
        policy_version: 0,
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
    wire::ReplayAnswer { replay, group_title: "null".into(), fix: None, ledger, total, observed_until: None }
}

/// Returns an entry whose letter returned at a time.
pub fn returned(letter: &str, ms: i64, cause: domain::replay::ReturnCause, title: &str) -> wire::EntryRow {
    let outcome = domain::replay::Outcome::Returned {
        at: Timestamp::from_ms(ms),
        cause,
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
        sent_as: None,
        changed_by: None,
    };
    wire::EntryRow { entry, message_type: None, impact: None }
}

/// Returns the row of a waiting letter.
pub fn letter_row(id: &str) -> wire::LetterRow {
    wire::LetterRow {
        id: domain::id::LetterId::new(id),
        group: GroupId::new("g"),
        message_type: None,
        tenant: None,
        impact: domain::impact::Impact::default(),
        sent_at: NOW,
        died_at: NOW,
        died_after: None,
        loss_at: None,
        deaths: 1,
        replays: 0,
        size_bytes: 100,
        replayability: domain::reading::Replayability::Replayable,
        state: domain::letter::LetterState::Waiting,
    }
}

/// Returns the row of an open group with so many letters.
pub fn group_row(id: &str, letters: i64) -> wire::GroupRow {
    use domain::reading::{Category, Class, Classification, Confidence};
    wire::GroupRow {
        id: GroupId::new(id),
        title: "Timeout".into(),
        culprit: None,
        queue: "payments".into(),
        consumer: None,
        classification: Classification {
            class: Class::Transient,
            category: Category::Timeout,
            confidence: Confidence::from_pct(90),
            reason: "matched: timeout".into(),
        },
        from_logs: false,
        severity: domain::impact::Severity::Warning,
        state: domain::group::GroupState::Open,
        next: wire::NextStep::FindCause,
        blocked: None,
        for_me: false,
        owner: None,
        open: Tally { letters, ..Tally::default() },
        about: None,
        in_replay: 0,
        delivered: 0,
        discarded: 0,
        customers: Customers::Exact(1),
        oldest_sent_at: None,
        loss_at: None,
        first_died_at: NOW,
        last_died_at: None,
        arrivals: Vec::new(),
        arrivals_last_hour: 0,
        arrivals_recent: 0,
    }
}

/// Returns the page of an open group without letters.
pub fn group_answer(id: &str) -> wire::GroupAnswer {
    wire::GroupAnswer {
        row: group_row(id, 0),
        chart: wire::DeathsChart::default(),
        failure: domain::reading::Failure::default(),
        reported: None,
        logs: wire::LogsView::default(),
        note: None,
        counts: domain::group::GroupCounts::default(),
        gate: wire::GateView { group: GroupId::new(id), conditions: Vec::new() },
        quiet_ms: 0,
        discarding: None,
        discarded_kept_ms: None,
        plan: None,
        drafting: None,
        replay: None,
        replays: Vec::new(),
        deployment: None,
        died_on: Vec::new(),
        merged: Vec::new(),
        merged_into: None,
        unmerged: false,
    }
}
