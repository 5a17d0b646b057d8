//! Tests of the stamp: what it says, its bounds, its schema.

use super::*;
use crate::breaker::CircuitState;
use crate::budget::BudgetUsage;
use crate::failure::CircuitNote;
use crate::instance::Instance;
use crate::stop::Stop;
use domain::message::SystemAttributes;
use domain::policy::{MessageTypeRule, Policy};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Instant;

const SCHEMA: &str = include_str!("../../../docs/schema/stamp.json");

fn case(attribute_count: usize, body: &str) -> Case {
    let attributes = (0..attribute_count).map(|n| (format!("a{n}"), Attribute::number("1"))).collect();
    let content = Content {
        body: body.into(),
        attributes,
        message_group_id: Some("g".into()),
        trace_header: Some("Root=1-2".into()),
    };
    let system = SystemAttributes {
        receive_count: Some(3),
        sent_at: Some(Timestamp::from_ms(1_000)),
        first_received_at: Some(Timestamp::from_ms(2_000)),
        ..SystemAttributes::default()
    };
    let received = Received { message_id: "m-1".into(), receipt_handle: "r-1".into(), content, system };
    Case::new(received, Instant::now(), "v1".into())
}

fn config() -> ConsumerConfig {
    let rule = MessageTypeRule {
        message_type: "*".into(),
        amount: Some("/total".into()),
        currency: Some("=EUR".into()),
        customer: Some("/customer".into()),
        deadline: Some("/deliver_by".into()),
        ..MessageTypeRule::default()
    };
    ConsumerConfig {
        instance: Instance {
            instance: "i-1".into(),
            host: Some("h-1".into()),
            runtime: Some("linux x86_64".into()),
            commit: Some("4f1c2d9".into()),
        },
        policy: Arc::new(Policy { message_types: vec![rule], ..Policy::default() }),
        idempotent: |_| true,
        idempotency_key: |_| Some("order-7".into()),
        ..ConsumerConfig::new("arn:aws:sqs:eu-west-1:111122223333:orders".into(), "orders", String::new)
    }
}

/// A failure in which everything is known.
fn failure() -> Failure {
    let mut failure = Failure::transient("orders::Timeout", "no answer: refused").with_stack("at orders::pay");
    failure.context.causes = vec!["refused".into()];
    failure.context.stop = Some(Stop::CircuitOpen);
    failure.context.circuit = Some(CircuitNote {
        dependency: "payments".into(),
        state: CircuitState::Open,
        retry_after: Some(Span::from_secs(3)),
        budget: BudgetUsage { requests: 40, retries: 4, retries_left: 0 },
    });
    failure
}

fn copy(case: &Case, failure: &Failure, history: &[Attempt]) -> Option<Content> {
    copy_within(MESSAGE_BYTES_MAX, case, failure, history)
}

fn copy_within(bytes_max: usize, case: &Case, failure: &Failure, history: &[Attempt]) -> Option<Content> {
    let stamping = Stamping {
        case,
        failure,
        message_type: Some("order.placed".into()),
        severity: Severity::Critical,
        failed_at: Timestamp::from_ms(9_000),
        attempt: Span::from_ms(40),
        category: Some(Category::Timeout),
        classified_by: Some("matched: timeout".into()),
        history,
        reason: Reason::CircuitOpen,
    };
    Copies::new(&config(), &stamping).within(bytes_max)
}

fn text(content: &Content) -> &str {
    content.attributes[FAILURE_ATTRIBUTE].as_text().expect("a text")
}

fn stamp_of(content: &Content) -> Stamp {
    Stamp::parse(text(content)).expect("a stamp")
}

fn context_of(content: &Content) -> StampContext {
    serde_json::from_str(text(content)).expect("a context")
}

fn attempts(count: usize) -> Vec<Attempt> {
    let attempt = |n: usize| Attempt {
        delay: Some(Span::from_secs(2)),
        ..Attempt::new(&failure(), Timestamp::from_ms(n as i64), "i-1")
    };
    (0..count).map(attempt).collect()
}

const ORDER: &str = r#"{"total":"12.50","customer":"c-1","deliver_by":"2025-11-20T00:53:20Z"}"#;

#[test]
fn the_copy_is_the_message_plus_its_stamp() {
    let case = case(9, ORDER);
    let mut copy = copy(&case, &failure(), &attempts(3)).expect("room");
    let (stamp, context) = (stamp_of(&copy), context_of(&copy));
    assert_eq!(stamp.original_message_id, Some("m-1".into()));
    assert_eq!((stamp.attempts, stamp.class), (Some(3), Some(Class::Transient)));
    assert_eq!((stamp.stack.as_deref(), stamp.consumer_version.as_deref()), (Some("at orders::pay"), Some("v1")));
    assert_eq!((context.reason, context.stop), (Some(Reason::CircuitOpen), Some(Stop::CircuitOpen)));
    assert_eq!((context.causes, context.history), (vec!["refused".to_string()], attempts(3)));
    assert_eq!((context.attempt, context.total), (Some(Span::from_ms(40)), Some(Span::from_secs(7))));
    assert_eq!(context.instance, config().instance);
    assert_eq!(context.circuit.map(|circuit| circuit.state), Some(CircuitState::Open));
    let impact = context.impact.expect("a policy says where it is");
    assert_eq!(impact.money.map(|money| money.amount.to_string()), Some("12.50".into()));
    assert_eq!(impact.severity, Severity::Critical, "the strategy's");
    assert_eq!((context.idempotency_key.as_deref(), context.idempotent), (Some("order-7"), true));
    assert_eq!(context.trace.as_deref(), Some("Root=1-2"));
    copy.attributes.remove(FAILURE_ATTRIBUTE);
    assert_eq!(copy, case.received.content);
}

#[test]
fn without_room_there_is_no_copy() {
    assert_eq!(copy(&case(10, "x"), &failure(), &[]), None);
    assert_eq!(copy(&case(0, &"x".repeat(MESSAGE_BYTES_MAX)), &failure(), &[]), None);
}

#[test]
fn stack_and_context_without_room_are_dropped() {
    let nearly = |left: usize| case(0, &"x".repeat(MESSAGE_BYTES_MAX - left));
    let failure = Failure::permanent("T", "m").with_stack("frame\n".repeat(1_000));
    let without_stack = copy(&nearly(4_000), &failure, &attempts(3)).expect("room");
    assert_eq!((stamp_of(&without_stack).stack, context_of(&without_stack).history.len()), (None, 3));
    let bare = copy(&nearly(600), &failure, &attempts(3)).expect("room");
    assert_eq!((stamp_of(&bare).message.as_deref(), context_of(&bare).reason), (Some("m"), Some(Reason::CircuitOpen)));
}

/// A dead-letter queue may take less than 1 MiB, its `MaximumMessageSize`: the stamp shrinks, and the message does not.
#[test]
fn a_stamp_shrinks_to_the_room_and_keeps_what_says_whose_message_it_is() {
    let case = case(3, &"x".repeat(2_000));
    let failure = Failure { message: "m".repeat(2_000), ..failure().with_stack("at orders::pay\n".repeat(900)) };
    let room = |bytes: usize| copy_within(case.received.content.size_bytes() + bytes, &case, &failure, &attempts(16));
    let (mut said, mut none_from) = (Vec::new(), 0);
    for bytes in (0..20_000).rev().step_by(37) {
        let Some(mut copy) = room(bytes) else {
            none_from = bytes;
            break;
        };
        assert!(copy.size_bytes() <= case.received.content.size_bytes() + bytes, "{bytes}");
        let (stamp, context) = (stamp_of(&copy), context_of(&copy));
        assert_eq!(stamp.original_message_id, Some("m-1".into()), "{bytes}");
        assert_eq!(
            (stamp.main_queue.as_ref(), stamp.class),
            (Some(&config().queue), Some(Class::Transient)),
            "{bytes}"
        );
        let has = [
            ("stack", stamp.stack.is_some()),
            ("history", !context.history.is_empty()),
            ("message", stamp.message.is_some()),
            ("reason", context.reason.is_some()),
            ("type", stamp.error_type.is_some()),
        ];
        let has: Vec<&str> = has.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
        if said.last() != Some(&has) {
            said.push(has);
        }
        copy.attributes.remove(FAILURE_ATTRIBUTE);
        assert_eq!(copy, case.received.content, "{bytes}");
    }
    assert_eq!(said.first().map(Vec::len), Some(5), "{said:?}");
    assert_eq!(said.last(), Some(&vec![]), "{said:?}");
    assert!((60..200).contains(&none_from), "{none_from} bytes are too few for queue, id and class");
}

#[test]
fn an_old_stamp_is_replaced_even_when_all_attributes_are_taken() {
    let mut case = case(9, "x");
    case.received.content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text("old"));
    let copy = copy(&case, &Failure::permanent("T", "m"), &[]).expect("room");
    assert_eq!(stamp_of(&copy).message.as_deref(), Some("m"));
}

#[test]
fn a_long_stack_keeps_both_ends_and_leaves_room_for_the_context() {
    let failure = failure().with_stack(format!("first frame\n{}last cause", "middle\n".repeat(10_000)));
    let copy = copy(&case(0, "x"), &failure, &attempts(16)).expect("room");
    let stack = stamp_of(&copy).stack.expect("a stack");
    assert!(stack.starts_with("first frame") && stack.ends_with("last cause") && stack.contains("left out"));
    assert_eq!(context_of(&copy).history.len(), 16);
}

proptest! {
    // Each case serialises some 100 KiB several times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_stamp_exceeds_its_maximum_length(
        unit in "\\PC|\u{1}|\"|€|\u{ffff}", lengths in proptest::collection::vec(0_usize..10_000, 5),
    ) {
        let of = |at: usize| unit.repeat(lengths[at] / unit.len());
        let mut failure = failure().with_stack(of(0));
        failure.message = of(1);
        failure.error_type = of(2);
        failure.context.causes = vec![of(3); 16];
        let history = vec![Attempt { error: of(4), ..attempts(1)[0].clone() }; 16];
        let copy = copy(&case(0, "x"), &failure, &history).expect("room");
        prop_assert!(text(&copy).len() <= STAMP_BYTES_MAX);
        prop_assert!(Stamp::parse(text(&copy)).is_some());
        prop_assert_eq!(context_of(&copy).reason, Some(Reason::CircuitOpen));
        let rejected = text(&copy).contains('\u{ffff}');
        prop_assert!(!rejected);
    }
}

/// Returns the first place where a value breaks a schema. Knows the keywords that our schema uses.
fn broken(schema: &Value, value: &Value, path: &str, root: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).expect("a definition");
        return broken(target, value, path, root);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let limit = |name: &str| schema[name].as_u64().map_or(usize::MAX, |limit| limit as usize);
    let fits = schema["type"] == kind
        && schema["enum"].as_array().is_none_or(|allowed| allowed.contains(value))
        && value.as_str().is_none_or(|text| text.chars().count() <= limit("maxLength"))
        && value.as_array().is_none_or(|items| items.len() <= limit("maxItems"));
    if !fits {
        return Some(format!("{path} is {value}"));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.into_iter().find(|name| value.get(name).is_none()) {
        return Some(format!("{path}.{name} is missing"));
    }
    let members =
        value.as_object().into_iter().flatten().find_map(|(name, value)| match schema["properties"].get(name) {
            Some(schema) => broken(schema, value, &format!("{path}.{name}"), root),
            None => Some(format!("{path}.{name} is unknown")),
        });
    let mut items = value.as_array().into_iter().flatten();
    members.or_else(|| items.find_map(|item| broken(&schema["items"], item, &format!("{path}[]"), root)))
}

#[test]
fn the_schema_knows_every_field_of_a_full_stamp() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let copy = copy(&case(0, ORDER), &failure(), &attempts(3)).expect("room");
    let full: Value = serde_json::from_str(text(&copy)).expect("JSON");
    assert_eq!(broken(&schema, &full, "stamp", &schema), None);
    let described = schema["properties"].as_object().expect("properties").keys();
    let missing: Vec<_> = described.filter(|name| full.get(name.as_str()).is_none()).collect();
    assert!(missing.is_empty(), "described, but not in a full stamp: {missing:?}");
    for (field, wrong) in [("class", "fatal"), ("reason", "tired"), ("instance", &*"x".repeat(1_000))] {
        let mut changed = full.clone();
        changed[field] = wrong.into();
        assert!(broken(&schema, &changed, "stamp", &schema).is_some(), "{field}");
    }
    let mut unknown = full;
    unknown["surprise"] = 1.into();
    assert_eq!(broken(&schema, &unknown, "stamp", &schema).as_deref(), Some("stamp.surprise is unknown"));
}

#[test]
fn the_schema_names_every_reason_and_state() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let named = |pointer: &str| schema.pointer(pointer).and_then(|found| found["enum"].as_array().cloned());
    let json = |value| serde_json::to_value(value).expect("JSON");
    let reasons = [
        Reason::Permanent,
        Reason::Poison,
        Reason::Expired,
        Reason::BudgetExhausted,
        Reason::CircuitOpen,
        Reason::AttemptsExhausted,
    ];
    assert_eq!(named("/properties/reason"), Some(reasons.map(json).to_vec()));
    assert!(reasons.iter().all(|reason| json(*reason) == reason.name()));
    let states = [CircuitState::Closed, CircuitState::Open, CircuitState::HalfOpen];
    let states = states.map(|state| serde_json::to_value(state).expect("JSON")).to_vec();
    assert_eq!(named("/properties/circuit/properties/state"), Some(states));
}
