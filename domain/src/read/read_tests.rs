//! Properties of every reading, whatever the message is.

use super::*;
use crate::letter::Letter;
use crate::marker::FAILURE_ATTRIBUTE;
use crate::message::{Attribute, Content, SystemAttributes};
use crate::reading::{Category, Class};
use crate::time::{Span, Timestamp};
use alloc::format;
use alloc::vec::Vec;
use proptest::prelude::*;

fn message(body: &str) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), ..Content::default() },
        system: SystemAttributes {
            source_queue: Some("arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            sent_at: Some(Timestamp::from_ms(1_000)),
            ..SystemAttributes::default()
        },
    }
}

fn stamped(stamp: &Stamp, body: &str) -> DeadMessage {
    let mut message = message(body);
    message.system.source_queue = None;
    message.content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
    message
}

/// A policy that names main queues.
fn naming(queues: &[&str]) -> Policy {
    let mut policy = Policy::default();
    policy.queues.main = queues.iter().map(|queue| QueueArn::from(*queue)).collect();
    policy
}

#[test]
fn a_stamp_provides_queue_id_and_times() {
    let stamp = Stamp {
        error_type: Some("PaymentError".into()),
        message: Some("card declined".into()),
        class: Some(Class::Permanent),
        main_queue: Some("arn:main".into()),
        original_message_id: Some("m-0".into()),
        first_sent_at: Some(Timestamp::from_ms(7)),
        failed_at: Some(Timestamp::from_ms(9)),
        message_type: Some("order.placed".into()),
        attempts: Some(3),
        ..Stamp::default()
    };
    let mut message = stamped(&stamp, "{}");
    message.content.attributes.insert("trace".into(), Attribute::number("1.50"));
    let marker =
        Marker { letter: "a".repeat(32).as_str().into(), replay: "b".repeat(32).as_str().into(), attempt: 2, seq: 7 };
    message.content.attributes.insert(MARKER_ATTRIBUTE.into(), Attribute::text(marker.print()));
    let reading = read(&message, &naming(&["arn:main"]));
    assert_eq!(reading.diagnosis.envelope, EnvelopeKind::Consumer);
    assert_eq!(reading.main_queue.map(|q| q.to_string()).as_deref(), Some("arn:main"));
    assert_eq!(reading.original_message_id.as_str(), "m-0");
    assert_eq!((reading.sent_at, reading.failed_at), (Some(Timestamp::from_ms(7)), Some(Timestamp::from_ms(9))));
    assert_eq!(reading.diagnosis.classification.class, Class::Permanent);
    assert_eq!(reading.marker, Some(marker));
    assert_eq!(reading.diagnosis.attempts, Some(3));
    assert_eq!(reading.original.attributes.keys().collect::<Vec<_>>(), ["trace"]);
}

#[test]
fn a_redrive_is_untouched_and_says_that_the_cause_is_not_recorded() {
    let message = message(r#"{"type":"order.placed","amount":12.10,"currency":"EUR"}"#);
    let reading = read(&message, &Policy::default());
    assert_eq!(reading.original, message.content);
    assert_eq!(reading.main_queue, message.system.source_queue);
    assert_eq!(reading.diagnosis.message_type.as_deref(), Some("order.placed"));
    assert_eq!(reading.diagnosis.classification.class, Class::Unknown);
    assert_eq!(reading.diagnosis.title, "No error recorded: order.placed");
    assert!(reading.diagnosis.remarks.iter().any(|r| r.contains("does not record why")));
}

#[test]
fn a_body_that_is_not_json_is_a_malformed_payload() {
    let reading = read(&message(r#"{"type":"order.placed","#), &Policy::default());
    assert_eq!(reading.diagnosis.classification.category, Category::MalformedPayload);
    assert_eq!(reading.diagnosis.classification.class, Class::Permanent);
    assert!(reading.diagnosis.classification.confidence.as_pct() < 50);
}

#[test]
fn a_deadline_that_had_passed_makes_it_expired() {
    let stamp = Stamp {
        message: Some("gave up".into()),
        failed_at: Some(Timestamp::from_ms(1_795_075_262_001)),
        ..Stamp::default()
    };
    let mut message = stamped(&stamp, r#"{"deadline":"2026-11-19T08:01:02Z"}"#);
    message.system.sent_at = stamp.failed_at;
    let reading = read(&message, &Policy::default());
    assert_eq!(reading.diagnosis.classification.category, Category::Expired);
}

#[test]
fn a_letter_returned_three_times_is_poison_unless_the_policy_says_otherwise() {
    let stamp = Stamp { message: Some("connection refused".into()), ..Stamp::default() };
    let read_after = |replays: u32, policy: &Policy| {
        let mut message = stamped(&stamp, "{}");
        // The office counts the replays; a marker that names more changes nothing.
        let marker = Marker {
            letter: "a".repeat(32).as_str().into(),
            replay: "b".repeat(32).as_str().into(),
            attempt: 9,
            seq: 0,
        };
        message.content.attributes.insert(MARKER_ATTRIBUTE.into(), Attribute::text(marker.print()));
        let reading = read(&message, policy);
        let first = Letter::first(&message, reading.clone(), Some(Span::from_days(14)), Timestamp::from_ms(1));
        assert_eq!(first.diagnosis.classification.class, Class::Transient);
        Letter { replays, ..first }.died_again(reading, 5, Timestamp::from_ms(2)).diagnosis.classification
    };
    assert_eq!(read_after(2, &Policy::default()).class, Class::Transient);
    let poison = read_after(3, &Policy::default());
    assert_eq!((poison.class, poison.category), (Class::Permanent, Category::DependencyUnavailable));
    assert!(poison.reason.starts_with("poison: it failed again after 3 replays"), "{}", poison.reason);
    let rule = crate::policy::ClassRule {
        name: "flaky".into(),
        error_type: None,
        message_contains: Some("refused".into()),
        class: Class::Transient,
        category: Category::DependencyUnavailable,
    };
    let policy = Policy { class_rules: alloc::vec![rule], ..Policy::default() };
    assert_eq!(read_after(3, &policy).class, Class::Transient);
}

#[test]
fn one_error_on_two_queues_is_two_groups() {
    let group = |queue: &str| {
        let stamp = Stamp { message: Some("m".into()), main_queue: Some(queue.into()), ..Stamp::default() };
        read(&stamped(&stamp, "{}"), &naming(&["a", "b"])).group
    };
    assert_ne!(group("a"), group("b"));
}

#[test]
fn hostile_bodies_are_letters_like_any_other() {
    let deep = "[".repeat(100_000);
    let deep_object = "{\"a\":".repeat(100_000);
    let long = format!("{{\"type\":\"{}\"}}", "x".repeat(1 << 20));
    let number = format!("{{\"amount\":{},\"currency\":\"EUR\"}}", "9".repeat(1 << 20));
    let twice = r#"{"type":"a","type":"b"}"#;
    for body in [
        deep.as_str(),
        &deep_object,
        &long,
        &number,
        twice,
        "\0",
        "\"\\ud800\"",
        "",
        "{\"originalMessage\":",
        "\u{feff}{}",
    ] {
        let message = message(body);
        assert_eq!(read(&message, &Policy::default()).original, message.content);
    }
}

proptest! {
    #[test]
    fn reading_is_total_and_deterministic(body in "\\PC{0,200}|[\\[\\]{}\":,a-e0-9]{0,60}", error in "\\PC{0,120}", stack in "(\\PC|\n|\t){0,300}") {
        let stamp = Stamp { error_type: Some("E".into()), message: Some(error), stack: Some(stack), ..Stamp::default() };
        let message = stamped(&stamp, &body);
        prop_assert_eq!(read(&message, &Policy::default()), read(&message, &Policy::default()));
    }
}

#[test]
fn general_types_are_distinguished_by_message_and_others_by_frames() {
    let group = |error_type: &str, message: &str| {
        let stack = "    at total (/srv/app/cart.js:7:1)";
        let some = |text: &str| Some(String::from(text));
        let failure =
            Failure { error_type: some(error_type), message: some(message), stack: some(stack), ..Failure::default() };
        classify_failure(&failure, None, &Policy::default()).group
    };
    assert_ne!(group("Error", "cart is empty"), group("Error", "cart is locked"));
    assert_eq!(group("Error", "cart 7 is empty"), group("Error", "cart 12 is empty"));
    assert_eq!(group("CustomerBlocked", "Anna is blocked"), group("CustomerBlocked", "Bo is blocked"));
}
