//! Tagged enums survive a round trip, alone and flattened into another type.

use domain::gate::{Condition, Status};
use domain::group::GroupState;
use domain::letter::LetterState;
#[cfg(feature = "schema")]
use domain::replay::Phase;
use domain::replay::{Entry, Outcome, PauseReason, ReplayState};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wire::{NextStep, PlanningAnswer};

/// Checks the round trip, and that a value without any one field is rejected, except for optional fields.
fn check<T: DeserializeOwned + Serialize>(value: Value, may_lack: &[&str]) {
    let read = serde_json::from_value::<T>(value.clone()).unwrap_or_else(|err| panic!("{value}: {err}"));
    assert_eq!(serde_json::to_value(read).unwrap(), value);
    for name in value.as_object().unwrap().keys() {
        let mut lacking = value.clone();
        lacking.as_object_mut().unwrap().remove(name);
        let may = may_lack.contains(&name.as_str());
        assert_eq!(serde_json::from_value::<T>(lacking).is_ok(), may, "{value} without {name}");
    }
}

#[test]
fn every_state_of_a_group_is_read_as_it_was_written() {
    let fix = json!({
        "kind": "deploy", "reference": "v2", "declared_by": "ana", "declared_at": 1, "effective_at": 2
    });
    for state in [
        json!({"state": "open"}),
        json!({"state": "fix_declared", "fix": fix}),
        json!({"state": "replaying", "replay": "r", "fix": fix}),
        json!({"state": "paused", "replay": "r", "fix": fix}),
        json!({"state": "paused", "replay": "r", "fix": null}),
        json!({"state": "verifying", "replay": "r", "fix": fix}),
        json!({"state": "resolved", "at": 3, "fix": fix, "replay": "r"}),
        json!({"state": "regressed", "at": 3, "was": fix}),
    ] {
        let may_lack: &[&str] = if state["state"] == "paused" { &["fix"] } else { &[] };
        check::<GroupState>(state, may_lack);
    }
    assert!(serde_json::from_value::<GroupState>(json!({"state": "closed"})).is_err());
}

#[test]
fn every_outcome_is_read_as_it_was_written() {
    for outcome in [
        json!({"outcome": "pending"}),
        json!({"outcome": "sending", "since": 1}),
        json!({"outcome": "in_flight", "sent_at": 1, "message_id": "m"}),
        json!({"outcome": "delivered", "at": 1}),
        json!({"outcome": "delivered", "at": 1, "confirmed": {"consumer": "c", "version": "v", "processed_at": 1}}),
        json!({"outcome": "returned", "at": 1, "cause": "same_cause", "group": "g", "title": "t"}),
        json!({"outcome": "expired", "at": 1}),
        json!({"outcome": "skipped", "reason": "in_doubt"}),
        json!({"outcome": "skipped", "reason": "transform_failed", "detail": "not JSON"}),
    ] {
        let may_lack: &[&str] = &["confirmed", "detail"];
        check::<Outcome>(outcome.clone(), may_lack);
        let mut entry = json!({"replay": "r", "seq": 1, "letter": "l", "wave": 0, "sends": 1});
        entry.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
        check::<Entry>(entry.clone(), may_lack);
        entry["changed_by"] = json!({"version": 2, "body_hash": "00"});
        check::<Entry>(entry, &[may_lack, &["changed_by"]].concat());
    }
    assert!(serde_json::from_value::<Outcome>(json!({"outcome": "lost"})).is_err());
}

#[test]
fn every_state_of_a_replay_is_read_as_it_was_written() {
    let reasons = [
        json!({"kind": "too_many_returned", "returned": 3, "sent": 10, "pause_share_pct": 5}),
        json!({"kind": "too_many_returned", "returned": 3, "sent": 10, "pause_share_pct": 5, "wave": 1}),
        json!({"kind": "gate_closed", "unmet": ["a", "b"]}),
        json!({"kind": "queue_unavailable", "detail": "gone"}),
        json!({"kind": "backlog_not_drained", "visible_count": 7}),
        json!({"kind": "queue_never_empty", "visible_count": 31, "in_flight_count": 8}),
        json!({"kind": "unproven_return", "letter": "l"}),
        json!({"kind": "by_person", "reason": "lunch"}),
    ];
    for why in reasons {
        check::<PauseReason>(why.clone(), &["wave"]);
        check::<ReplayState>(json!({"state": "paused", "wave": 1, "why": why, "by": "ana", "at": 1}), &[]);
    }
    for state in [
        json!({"state": "running", "wave": 0, "phase": "sending"}),
        json!({"state": "running", "wave": 1, "phase": "observing", "until": 5}),
        json!({"state": "running", "wave": 2, "phase": "between_waves", "until": 5}),
        json!({"state": "aborting", "by": "ana", "reason": "wrong", "at": 1}),
        json!({"state": "finished", "ending": "completed", "at": 1}),
    ] {
        check::<ReplayState>(state, &[]);
    }
    assert!(serde_json::from_value::<ReplayState>(json!({"state": "lost"})).is_err());
    assert!(serde_json::from_value::<PauseReason>(json!({"kind": "mood"})).is_err());
}

#[test]
fn every_state_of_a_letter_is_read_as_it_was_written() {
    for state in [
        json!({"state": "waiting"}),
        json!({"state": "in_replay", "replay": "r"}),
        json!({"state": "quarantined", "at": 1}),
        json!({"state": "delivered", "replay": "r", "at": 1}),
    ] {
        check::<LetterState>(state, &[]);
    }
    assert!(serde_json::from_value::<LetterState>(json!({"state": "lost"})).is_err());
}

#[test]
fn an_answer_to_a_request_for_a_plan_is_a_plan_or_a_draft() {
    let fix = json!({
        "kind": "deploy", "reference": "v2", "declared_by": "ana", "declared_at": 1, "effective_at": 2
    });
    let plan = json!({
        "id": "r", "group": "g", "main_queue": "arn:aws:sqs:local:0:orders", "made_by": "otto", "made_at": 0, "fix": fix,
        "letters": { "letters": 1, "priced": 0, "money": [] }, "message_types": [], "letters_digest": "",
        "oldest_sent_at": null, "left_out": [], "waves": [1], "rounds": 1, "pace_per_s": 20, "pause_share_pct": 50,
        "sample_letters_min": 5, "window_ms": 1, "slack_ms": 1, "backlog_ms_max": 1, "wave_delay_ms": 1,
        "wave_delay_ms_max": 1,
    });
    check::<PlanningAnswer>(json!({"plan": plan, "hash": "h", "duration_ms": 1, "arrived_since": 0}), &[]);
    let draft = json!({"id": "r", "made_by": "otto", "made_at": 0, "read": 5, "waiting": 9, "letters": 4});
    check::<PlanningAnswer>(json!({"drafting": draft}), &[]);
    let mut failed = draft.clone();
    failed["failed"] = json!("no letter of this group can be replayed now");
    check::<PlanningAnswer>(json!({"drafting": failed}), &[]);
}

#[test]
fn every_condition_and_every_step_is_read_as_it_was_written() {
    for status in [
        json!({"status": "met"}),
        json!({"status": "unmet", "opens_at": 5}),
        json!({"status": "unmet", "opens_at": null}),
        json!({"status": "waived", "by": "ana", "reason": "known"}),
    ] {
        let may_lack: &[&str] = if status["status"] == "unmet" { &["opens_at"] } else { &[] };
        check::<Status>(status.clone(), may_lack);
        let mut condition = json!({"kind": "quiet", "evidence": "e"});
        condition.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        check::<Condition>(condition, may_lack);
    }
    for step in [
        "regressed",
        "replay_paused",
        "growing",
        "blocked",
        "waiting_for_approval",
        "replay_ready",
        "find_cause",
        "resolved",
    ] {
        check::<NextStep>(json!({"step": step}), &[]);
    }
    check::<NextStep>(json!({"step": "replaying", "wave": 1, "waves": 5}), &[]);
    assert!(serde_json::from_value::<NextStep>(json!({"step": "dance"})).is_err());
}

/// The hand-written deserializers must know every variant that the derived serializers write.
#[cfg(feature = "schema")]
#[test]
fn every_tag_that_can_be_written_is_known() {
    fn check<Tagged: schemars::JsonSchema, Read: DeserializeOwned>(tag: &str, beside: Value) {
        let schema = schemars::schema_for!(Tagged).to_value();
        let variants = schema["oneOf"].as_array().unwrap_or_else(|| panic!("{schema}"));
        for variant in variants {
            let name = variant["properties"][tag]["const"].as_str().unwrap_or_else(|| panic!("{variant}"));
            let mut text = beside.clone();
            text[tag] = json!(name);
            let said = serde_json::from_value::<Read>(text).err().map(|err| err.to_string());
            assert!(!said.unwrap_or_default().contains("unknown variant"), "{name} is written but not read");
        }
    }
    check::<GroupState, GroupState>("state", json!({}));
    check::<LetterState, LetterState>("state", json!({}));
    check::<Outcome, Outcome>("outcome", json!({}));
    check::<Phase, ReplayState>("phase", json!({"state": "running", "wave": 0}));
    check::<PauseReason, PauseReason>("kind", json!({}));
    check::<ReplayState, ReplayState>("state", json!({}));
    check::<Status, Status>("status", json!({}));
    check::<NextStep, NextStep>("step", json!({}));
}
