//! Waits, and which strategy a message type has.

use super::*;
use crate::backoff::Jitter;

fn of_policy(text: &str, default: &Strategy) -> Strategies {
    let policy = Policy::parse(text).expect("a policy");
    Strategies::of_policy(&policy, default, &Dlqs::default()).expect("no queue is named")
}

#[test]
fn stages_pass_the_queues_own_timeout_but_not_for_replayed_messages() {
    let left = Span::from_secs(20);
    let check = |wait: &Wait, held_s, replayed, expected_s| {
        assert_eq!(wait.limit(left, Span::from_secs(held_s), replayed), Span::from_secs(expected_s));
    };
    let backoff = Strategy::default().wait;
    check(&Wait::stages(), 10, false, 43_130);
    check(&Wait::stages(), 10, true, 20);
    check(&Wait::stages(), 50_000, false, 0);
    check(&backoff, 10, false, 20);
}

#[test]
fn each_receive_has_its_stage() {
    let waits: Vec<i64> = (0..=9).map(|n| Wait::stages().after(n, 0).as_ms() / 1000).collect();
    assert_eq!(waits, [10, 10, 60, 300, 900, 3_600, 14_400, 43_200, 43_200, 43_200]);
    assert_eq!(Wait::stages().after(3, u64::MAX), Span::from_secs(330));
    assert_eq!(Wait::Stages(vec![Span::from_secs(-5)]).after(1, 7), Span::ZERO);
}

#[test]
fn the_first_strategy_of_a_type_wins() {
    let strategy = |attempts| Strategy { attempts_max: Some(attempts), ..Strategy::default() };
    let strategies = Strategies::new(strategy(9)).with("a", strategy(1)).with("b", strategy(2)).with("a", strategy(3));
    let check = |message_type, expected| assert_eq!(strategies.select(message_type), &strategy(expected));
    check(Some("a"), 1);
    check(Some("b"), 2);
    check(Some("A"), 9);
    check(Some(""), 9);
    check(None, 9);
}

#[test]
fn a_policy_file_makes_the_strategies() {
    let policy = r#"{ "strategies": [
        { "message_type": "refund", "attempts_max": 9, "stages_ms": [1000, 2000], "dlq": "critical" },
        { "message_type": "mail", "jitter": "equal", "backoff_ms": 500, "ttl_ms": 60000, "dlq": "retry" },
        { "message_type": "*", "backoff_ms_max": 9000, "dlq": "investigation" },
        { "message_type": "never", "attempts_max": 1 }
    ] }"#;
    let policy = Policy::parse(policy).expect("a policy");
    let arn = |name: &str| Some(QueueArn::from(name));
    let dlqs = Dlqs { critical: arn("c"), retry: arn("r"), investigation: arn("i") };
    let strategies = Strategies::of_policy(&policy, &Strategy::default(), &dlqs).expect("known queues");
    let check = |message_type, attempts_max, wait: Wait, ttl: Option<i64>, dlq: &str| {
        let (ttl, dlq) = (ttl.map(Span::from_secs), arn(dlq));
        let expected = Strategy { attempts_max, wait, ttl, dlq, ..Strategy::default() };
        assert_eq!(strategies.select(message_type), &expected, "{message_type:?}");
    };
    let backoff = |base_ms, cap_s| Backoff::new(Span::from_ms(base_ms), Span::from_secs(cap_s));
    check(Some("refund"), Some(9), Wait::Stages([1, 2].map(Span::from_secs).to_vec()), None, "c");
    check(Some("mail"), None, Wait::Backoff(backoff(500, 300).with_jitter(Jitter::Equal)), Some(60), "r");
    check(Some("never"), None, Wait::Backoff(backoff(1_000, 9)), None, "i");
    check(None, None, Wait::Backoff(backoff(1_000, 9)), None, "i");
}

#[test]
fn a_policy_file_says_per_type_what_an_open_circuit_and_an_empty_budget_mean() {
    let policy = r#"{ "strategies": [
        { "message_type": "refund", "circuit_open": "wait", "budget_exhausted": "wait" },
        { "message_type": "quote", "circuit_open": "dead_letter" },
        { "message_type": "mail" }
    ] }"#;
    let strategies = of_policy(policy, &Strategy::default());
    let check = |message_type, circuit_open, budget_exhausted| {
        let selected = strategies.select(message_type);
        assert_eq!((selected.circuit_open, selected.budget_exhausted), (circuit_open, budget_exhausted));
    };
    check(Some("refund"), Overload::Wait, Overload::Wait);
    check(Some("quote"), Overload::DeadLetter, Overload::DeadLetter);
    check(Some("mail"), Overload::Wait, Overload::DeadLetter);
    check(None, Overload::Wait, Overload::DeadLetter);
    let default = Strategy { circuit_open: Overload::DeadLetter, ..Strategy::default() };
    let strategies = of_policy(policy, &default);
    assert_eq!(strategies.select(Some("refund")).circuit_open, Overload::Wait, "a rule changes the default");
    assert_eq!(strategies.select(Some("mail")).circuit_open, Overload::DeadLetter, "what it leaves out does not");
}

#[test]
fn the_severity_of_a_type_is_the_one_that_the_office_reads() {
    use Severity::{Critical, Info, Warning};
    let policy = r#"{
        "strategies": [
            { "message_type": "refund", "attempts_max": 9 },
            { "message_type": "*", "attempts_max": 2 }
        ],
        "message_types": [
            { "message_type": "refund", "severity": "critical" },
            { "message_type": "quote" },
            { "message_type": "*", "severity": "info" },
            { "message_type": "late", "severity": "critical" }
        ]
    }"#;
    let strategies = of_policy(policy, &Strategy::default());
    let check = |message_type, attempts, severity| {
        let selected = strategies.select(message_type);
        assert_eq!((selected.attempts_max, selected.severity), (Some(attempts), severity), "{message_type:?}");
        let read = Policy::parse(policy).expect("a policy");
        let read = read.message_type_rule(message_type).and_then(|rule| rule.severity).unwrap_or_default();
        assert_eq!(severity, read, "{message_type:?}: the office's reader");
    };
    check(Some("refund"), 9, Critical);
    check(Some("quote"), 2, Warning);
    check(Some("late"), 2, Info);
    check(Some("other"), 2, Info);
    check(None, 2, Info);
    let severe = Strategy { severity: Critical, ..Strategy::default() };
    assert_eq!(of_policy("{}", &severe).select(None).severity, Critical, "the policy says nothing");
}
