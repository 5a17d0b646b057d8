//! Batches: partial failures, sizes, and calls that are refused as a whole.

use super::*;
use domain::limits::MESSAGE_BYTES_MAX;
use domain::message::{Attribute, AttributeValue, Attributes};

fn with(name: &str, attribute: Attribute) -> Attributes {
    [(name.to_owned(), attribute)].into()
}

fn bytes(base64: &str) -> Attribute {
    Attribute { data_type: "Binary".into(), value: AttributeValue::Binary(base64.into()) }
}

/// Returns rows of what is wrong, the code of the refusal, and the message.
fn bad_messages() -> Vec<(&'static str, &'static str, Outgoing)> {
    let body = |body: &str| message(Kind::Standard, body);
    let attributed = |attributes: Attributes| {
        let mut message = body("attributed");
        message.content.attributes = attributes;
        message
    };
    let typed = |data_type: &str| Attribute { data_type: data_type.into(), ..Attribute::text("1") };
    let eleven = (0..11).map(|number| (format!("name-{number}"), Attribute::text("value"))).collect();
    vec![
        ("no body", "MissingParameter", body("")),
        ("NUL", "InvalidMessageContents", body("a\0b")),
        ("control character", "InvalidMessageContents", body("a\u{8}b")),
        ("noncharacter", "InvalidMessageContents", body("a\u{FFFE}b")),
        ("delay too long", "InvalidParameterValue", Outgoing { delay: Span::from_secs(901), ..body("delay") }),
        ("delay below zero", "InvalidParameterValue", Outgoing { delay: Span::from_secs(-1), ..body("delay") }),
        (
            "deduplication on a standard queue",
            "InvalidParameterValue",
            Outgoing { deduplication_id: Some("d".into()), ..body("deduplicated") },
        ),
        ("eleven attributes", "InvalidParameterValue", attributed(eleven)),
        ("empty name", "InvalidParameterValue", attributed(with("", Attribute::text("v")))),
        ("space in name", "InvalidParameterValue", attributed(with("a b", Attribute::text("v")))),
        ("leading dot", "InvalidParameterValue", attributed(with(".a", Attribute::text("v")))),
        ("trailing dot", "InvalidParameterValue", attributed(with("a.", Attribute::text("v")))),
        ("reserved name", "InvalidParameterValue", attributed(with("Aws.trace", Attribute::text("v")))),
        ("reserved name", "InvalidParameterValue", attributed(with("amazon.trace", Attribute::text("v")))),
        ("name too long", "InvalidParameterValue", attributed(with(&"n".repeat(257), Attribute::text("v")))),
        ("unknown type", "InvalidParameterValue", attributed(with("a", typed("Text")))),
        ("empty value", "InvalidParameterValue", attributed(with("a", Attribute::text("")))),
        ("empty bytes", "InvalidParameterValue", attributed(with("a", bytes("")))),
        ("control character in value", "InvalidParameterValue", attributed(with("a", Attribute::text("\u{8}")))),
        ("not a number", "InvalidParameterValue", attributed(with("a", Attribute::number("many")))),
    ]
}

pub async fn a_bad_message_fails_alone(world: &dyn QueueWorld) {
    for (what, code, bad) in bad_messages() {
        let queue = world.make(Kind::Standard, QueueSettings::default()).await;
        let batch = [message(Kind::Standard, "before"), bad, message(Kind::Standard, "after")];
        let sent = world.port().send_batch(&queue, &batch).await.expect("the call is answered");
        let failure = sent[1].as_ref().expect_err(what);
        assert_eq!((failure.code.as_str(), failure.sender_fault), (code, true), "{what}: {}", failure.reason);
        assert!(sent[0].is_ok() && sent[2].is_ok(), "{what}");
        let received = collect(world, &queue, 2).await;
        let mut arrived = bodies(&received);
        arrived.sort_unstable();
        assert_eq!(arrived, ["after", "before"], "{what}");
        nothing(world, &queue).await;
    }
}

pub async fn results_come_in_the_order_of_the_entries(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings::default()).await;
        let batch: Vec<Outgoing> = (0..10).map(|number| message(kind, &format!("number {number}"))).collect();
        let sent = world.port().send_batch(&queue, &batch).await.expect("the call is answered");
        let ids: Vec<MessageId> = sent.into_iter().map(|sent| sent.expect("accepted")).collect();
        for received in collect(world, &queue, 10).await {
            let number = ids.iter().position(|id| *id == received.message_id).expect("an id from the answer");
            assert_eq!(received.content.body, format!("number {number}"), "{kind:?}");
        }
    }
}

/// Returns a message of exactly so many bytes, some of them in an attribute.
fn sized(total_bytes: usize) -> Outgoing {
    let mut message = message(Kind::Standard, "");
    message.content.attributes = with("filler", Attribute::text("v".repeat(100)));
    message.content.body = "b".repeat(total_bytes - message.content.size_bytes());
    assert_eq!(message.content.size_bytes(), total_bytes);
    message
}

pub async fn one_mebibyte_is_carried(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, QueueSettings::default()).await;
    let batches = [vec![sized(MESSAGE_BYTES_MAX)], vec![sized(MESSAGE_BYTES_MAX / 2), sized(MESSAGE_BYTES_MAX / 2)]];
    for batch in batches {
        let sent = world.port().send_batch(&queue, &batch).await.expect("the call is answered");
        assert!(sent.iter().all(Result::is_ok), "{sent:?}");
        for received in collect(world, &queue, batch.len()).await {
            assert!(received.content == batch[0].content, "the content comes back");
        }
    }
}

pub async fn a_batch_over_one_mebibyte_is_refused_as_a_whole(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, QueueSettings::default()).await;
    let half = MESSAGE_BYTES_MAX / 2;
    let batches = [vec![sized(MESSAGE_BYTES_MAX + 1)], vec![sized(half), sized(half + 1)], vec![sized(half); 3]];
    for batch in batches {
        let sent = world.port().send_batch(&queue, &batch).await;
        assert!(is_invalid(&sent), "{} messages: {sent:?}", batch.len());
    }
    nothing(world, &queue).await;
}

pub async fn a_message_over_the_queues_own_maximum_fails_alone(world: &dyn QueueWorld) {
    let settings = QueueSettings { message_bytes_max: 2048, ..QueueSettings::default() };
    let queue = world.make(Kind::Standard, settings).await;
    let sent = world.port().send_batch(&queue, &[sized(2049), sized(2048)]).await.expect("the call is answered");
    let failure = sent[0].as_ref().expect_err("it is too large");
    assert_eq!((failure.code.as_str(), failure.sender_fault), ("InvalidParameterValue", true));
    assert!(sent[1].is_ok());
    assert_eq!(receive_one(world, &queue).await.content.size_bytes(), 2048);
    nothing(world, &queue).await;
}

pub async fn calls_out_of_range_are_refused(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, QueueSettings::default()).await;
    let port = world.port();
    send(world, &queue, message(Kind::Standard, "stays")).await;
    let eleven = vec![message(Kind::Standard, "eleven"); 11];
    for batch in [&[], eleven.as_slice()] {
        let sent = port.send_batch(&queue, batch).await;
        assert!(is_invalid(&sent), "{} messages: {sent:?}", batch.len());
        let deleted = port.delete_batch(&queue, &vec!["handle".to_owned(); batch.len()]).await;
        assert!(is_invalid(&deleted), "{} handles: {deleted:?}", batch.len());
    }
    for (max, wait_s, visibility_s) in [(0, 0, 30), (11, 0, 30), (1, 21, 30), (1, -1, 30), (1, 0, 43_201), (1, 0, -1)] {
        let visibility = Some(Span::from_secs(visibility_s));
        let received = port.receive(&queue, max, Span::from_secs(wait_s), visibility).await;
        assert!(is_invalid(&received), "{max}, {wait_s} s, {visibility_s} s: {received:?}");
    }
    assert_eq!(receive_one(world, &queue).await.system.receive_count, Some(1));
}
