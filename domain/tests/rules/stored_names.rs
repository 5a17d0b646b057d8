//! Renamed stored fields: records that version 0.1 wrote are still read, one row per renamed name.

use crate::replay_fixture::{aborting, at, plan, running};
use domain::alert::AlertKind;
use domain::audit::Act;
use domain::group::Variant;
use domain::policy::ReplayPolicy;
use domain::replay::{Entry, Outcome, PauseReason, Phase, Plan, ReplayState};
use domain::role::Permission;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Checks that `new` is the record's present form, and that the record with the old name is read as the same.
#[track_caller]
fn check<T: Serialize + DeserializeOwned>(new: &Value, old_name: &str, old: &Value) {
    assert!(old.to_string().contains(&format!("\"{old_name}\"")), "the old record has {old_name}");
    let read = |record: &Value| -> T {
        serde_json::from_value(record.clone()).unwrap_or_else(|error| panic!("{old_name}: {error}: {record}"))
    };
    let present = serde_json::to_value(read(new)).expect("a record is JSON");
    assert_eq!(&present, new, "{old_name}: this is not the present form");
    assert_eq!(serde_json::to_value(read(old)).expect("a record is JSON"), present, "{old_name}");
}

/// Renames a member of an object, at any depth.
fn renamed(record: &Value, new_name: &str, old_name: &str) -> Value {
    match record {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let name = if name == new_name { old_name } else { name };
                (name.to_owned(), renamed(value, new_name, old_name))
            })
            .collect(),
        other => other.clone(),
    }
}

fn variant() -> Value {
    json!({
        "id": "g", "version": 3, "main_queue": "arn:aws:sqs:eu-west-1:111122223333:orders",
        "dlq": "arn:aws:sqs:eu-west-1:111122223333:orders-dlq", "title": "Timeout", "culprit": null,
        "classification": { "class": "transient", "category": "timeout", "confidence": 90, "reason": "matched" },
        "failure": {}, "consumer": "orders", "message_type": "order.placed", "severity": "warning",
        "first_died_at": 1, "note": null,
        "merge": { "into": "h", "members": ["i"], "unmerged": true },
        "state": "open"
    })
}

#[test]
fn a_variant_of_0_1_is_read() {
    let new = variant();
    for (name, old_name) in [("merge", "kin"), ("members", "also"), ("unmerged", "apart")] {
        check::<Variant>(&new, old_name, &renamed(&new, name, old_name));
    }
    // The owner was stored, but never set.
    let mut old = new.clone();
    old["owner"] = Value::Null;
    check::<Variant>(&new, "owner", &old);
}

#[test]
fn a_replays_records_of_0_1_are_read() {
    let entry = Entry {
        replay: "r".into(),
        seq: 0,
        letter: "l".into(),
        wave: 0,
        outcome: Outcome::Pending,
        sends: 0,
        message_group: Some("customer-7".into()),
        answers: 0,
        sent_as: None,
        changed_by: None,
    };
    let entry = serde_json::to_value(entry).expect("a record is JSON");
    check::<Entry>(&entry, "lane", &renamed(&entry, "message_group", "lane"));

    let returned = json!({ "outcome": "returned", "at": 1, "cause": "same_cause", "group": "g", "title": "t" });
    check::<Outcome>(&returned, "verdict", &renamed(&returned, "cause", "verdict"));
    let skipped = |reason: &str| json!({ "outcome": "skipped", "reason": reason });
    check::<Outcome>(&skipped("letter_gone"), "gone", &skipped("gone"));

    let renames = [
        ("wave_delay_ms", "rest_ms"),
        ("wave_delay_ms_max", "rest_ms_max"),
        ("pause_share_pct", "stop_share_pct"),
        ("canary_pause_share_pct", "canary_stop_share_pct"),
    ];
    let plan = serde_json::to_value(Plan { canary_pause_share_pct: Some(0), ..plan() }).expect("a record is JSON");
    let policy = serde_json::to_value(ReplayPolicy::default()).expect("a record is JSON");
    for (name, old_name) in renames {
        check::<Plan>(&plan, old_name, &renamed(&plan, name, old_name));
        check::<ReplayPolicy>(&policy, old_name, &renamed(&policy, name, old_name));
    }
}

#[test]
fn states_and_acts_of_0_1_are_read() {
    let state = |state: ReplayState| serde_json::to_value(state).expect("a record is JSON");
    let mut old = state(aborting());
    old["state"] = json!("stopping");
    check::<ReplayState>(&state(aborting()), "stopping", &old);

    let between = || state(running(1, Phase::BetweenWaves { until: at(9) }));
    let mut old = between();
    old["phase"] = json!("resting");
    check::<ReplayState>(&between(), "resting", &old);

    let why = |name: &str| json!({ "kind": "too_many_returned", "returned": 3, "sent": 4, name: 50 });
    check::<PauseReason>(&why("pause_share_pct"), "stop_share_pct", &why("stop_share_pct"));

    check::<Act>(&json!("groups_unmerged"), "groups_parted", &json!("groups_parted"));
    check::<Act>(&json!("replay_paused_itself"), "replay_stopped_itself", &json!("replay_stopped_itself"));
}

#[test]
fn alerts_and_permissions_of_0_1_are_read() {
    check::<AlertKind>(&json!("new_group"), "new_cause", &json!("new_cause"));
    check::<Permission>(&json!("pause_or_abort"), "stop", &json!("stop"));
}
