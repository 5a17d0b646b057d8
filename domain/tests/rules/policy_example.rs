//! The example policy is valid, and shows the defaults where it makes no choice.

use domain::policy::{Policy, warnings};

#[test]
fn the_example_is_a_policy_and_shows_the_defaults() {
    let example = Policy::parse(include_str!("../../../infra/policy.example.json")).unwrap();
    let default = Policy::default();
    assert_eq!(
        (example.gate, example.replay, example.alerts, example.retention_ms),
        (default.gate, default.replay, default.alerts, default.retention_ms)
    );
    assert_eq!(example.message_types.len(), 1);
    assert_eq!(example.strategies.len(), 1);
    assert_eq!(example.class_rules.len(), 1);
    assert_eq!(example.groups.len(), 1);
    assert_eq!(example.auto_approvals.len(), 1);
    assert_eq!(example.rates.map(|rates| rates.values.len()), Some(4));
    assert!(example.links.trace_of("Root=1-2-3").is_some());
    assert_eq!((example.sign_in.idle_ms, example.sign_in.revoked.len()), (default.sign_in.idle_ms, 1));
}

#[test]
fn a_misspelt_key_is_rejected() {
    let error = Policy::parse(r#"{"gate":{"four_eys":false}}"#).unwrap_err();
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("four_eys"), "{cause}");
}

#[test]
fn a_check_says_that_rules_are_reordered_and_that_a_replay_is_faster() {
    let warned = |before: &str, after: &str| {
        let of = |text| Policy::parse(text).unwrap();
        warnings(&of(before), &of(after))
    };
    let reordered = warned(
        r#"{"message_types":[{"message_type":"refund","amount":"/sum"}]}"#,
        r#"{"message_types":[{"message_type":"refund","amount":"/no"},{"message_type":"refund","amount":"/sum"}]}"#,
    );
    assert!(reordered.iter().any(|line| line.starts_with("Rules of message types are")), "{reordered:?}");
    let faster = warned(
        r#"{"replay":{"pace_per_s":10,"wave_delay_ms":1000}}"#,
        r#"{"replay":{"pace_per_s":100,"wave_delay_ms":0}}"#,
    );
    assert_eq!(faster.len(), 2, "{faster:?}");
}
