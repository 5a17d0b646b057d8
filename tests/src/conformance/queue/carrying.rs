//! The content of messages, and the attributes of queues.

use super::*;
use domain::limits::MESSAGE_BYTES_MAX;
use domain::message::{Attribute, AttributeValue};
use queue::{QueueAttributes, Redrive};

fn typed(data_type: &str, text: &str) -> Attribute {
    Attribute { data_type: data_type.into(), value: AttributeValue::Text(text.into()) }
}

fn binary(data_type: &str, base64: &str) -> Attribute {
    Attribute { data_type: data_type.into(), value: AttributeValue::Binary(base64.into()) }
}

pub async fn body_and_attributes_come_back_byte_for_byte(world: &dyn QueueWorld) {
    let content = Content {
        body: "{ \"a\" : 1e400,\r\n\t\"b\":\"é漢🦀\u{7f}\u{85}\u{2028}\u{E000}\u{FFFD}\" }\n\n".into(),
        attributes: [
            ("text".to_owned(), Attribute::text(" leading and trailing\t\r\n ")),
            ("number".to_owned(), Attribute::number("-000123.4500E+07")),
            ("huge".to_owned(), Attribute::number("12345678901234567890123456789012345678")),
            ("bytes".to_owned(), binary("Binary", "AAH+/w==")),
            ("Text.Json".to_owned(), typed("String.json", "{}")),
            ("number_int".to_owned(), typed("Number.int", "042")),
            ("gif-image".to_owned(), binary("Binary.gif", "R0lGODlhAQABAAAAACw=")),
        ]
        .into(),
        message_group_id: None,
        trace_header: Some("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1".into()),
    };
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings::default()).await;
        let mut outgoing = message(kind, "id");
        let message_group_id = outgoing.content.message_group_id.clone();
        outgoing.content = Content { message_group_id, ..content.clone() };
        send(world, &queue, outgoing.clone()).await;
        assert_eq!(receive_one(world, &queue).await.content, outgoing.content, "{kind:?}");
    }
}

/// Sends every row without a trace header, which not every endpoint preserves: see
/// `body_and_attributes_come_back_byte_for_byte`.
pub async fn the_oddest_messages_come_back_byte_for_byte(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, QueueSettings::default()).await;
    for (what, count, content) in harness::carried::rows() {
        let content = Content { trace_header: None, ..content };
        let batch = vec![Outgoing { content: content.clone(), ..Outgoing::default() }; count];
        let sent = world.port().send_batch(&queue, &batch).await.expect(what);
        assert!(sent.iter().all(Result::is_ok), "{what}: {sent:?}");
        for received in collect(world, &queue, count).await {
            assert!(received.content == content, "{what}");
            delete(world, &queue, &received).await;
        }
    }
}

pub async fn group_id_on_a_standard_queue_is_kept(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, QueueSettings::default()).await;
    for body in ["1", "2"] {
        send(world, &queue, Outgoing { deduplication_id: None, ..grouped("tenant-7", body) }).await;
    }
    let received = collect(world, &queue, 2).await;
    assert!(received.iter().all(|message| message.content.message_group_id.as_deref() == Some("tenant-7")));
}

pub async fn message_keeps_its_id_and_changes_its_handle(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings::default()).await;
        let id = send(world, &queue, message(kind, "again")).await;
        let first = receive_one(world, &queue).await;
        hide_for(world, &queue, &first, Span::ZERO).await.expect("it is in flight");
        let second = receive_one(world, &queue).await;
        assert_eq!((&first.message_id, &second.message_id), (&id, &id), "{kind:?}");
        assert_ne!(first.receipt_handle, second.receipt_handle);
        assert_eq!((first.system.receive_count, second.system.receive_count), (Some(1), Some(2)));
        assert!(first.system.sent_at.is_some() && first.system.sent_at == second.system.sent_at);
        assert!(first.system.first_received_at >= first.system.sent_at);
        assert_eq!(first.system.first_received_at, second.system.first_received_at);
        assert_eq!(first.system.source_queue, None);
    }
}

pub async fn missing_queue_is_missing_for_every_call(world: &dyn QueueWorld) {
    let there = world.make(Kind::Standard, QueueSettings::default()).await;
    let queue = QueueArn::new(format!("{there}-never-made"));
    let port = world.port();
    let handle = "AQEB".to_owned();
    let answers = [
        port.receive(&queue, 1, Span::ZERO, None).await.map(drop),
        port.send_batch(&queue, &[message(Kind::Standard, "x")]).await.map(drop),
        port.delete_batch(&queue, std::slice::from_ref(&handle)).await.map(drop),
        port.change_visibility(&queue, &handle, Span::ZERO).await,
        port.attributes(&queue).await.map(drop),
    ];
    for (call, answer) in answers.iter().enumerate() {
        assert!(
            matches!(answer, Err(QueueError::Missing { queue: missing }) if *missing == queue),
            "{call}: {answer:?}"
        );
    }
}

pub async fn attributes_tell_what_was_set(world: &dyn QueueWorld) {
    for kind in KINDS {
        let dlq = world.make(kind, QueueSettings { retention: Span::from_days(14), ..QueueSettings::default() }).await;
        let settings = QueueSettings { retention: Span::from_days(1), message_bytes_max: 2048, ..hidden_s(45) }
            .dead_letters_to(&dlq, 4);
        let queue = world.make(kind, settings).await;
        let expected = QueueAttributes {
            fifo: kind == Kind::Fifo,
            visibility_timeout: Span::from_secs(45),
            retention: Span::from_days(1),
            message_bytes_max: 2048,
            redrive: Some(Redrive { dlq: dlq.clone(), receives_max: 4 }),
            visible_count: 0,
            in_flight_count: 0,
            delayed_count: 0,
        };
        assert_eq!(world.port().attributes(&queue).await.expect("it exists"), expected);
        let of_dlq = world.port().attributes(&dlq).await.expect("it exists");
        let calls = (of_dlq.retention, of_dlq.message_bytes_max, of_dlq.redrive);
        assert_eq!(calls, (Span::from_days(14), MESSAGE_BYTES_MAX, None));
    }
}

pub async fn counts_tell_visible_in_flight_and_delayed(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, hidden_s(600)).await;
    for body in ["1", "2", "3", "4", "5"] {
        send(world, &queue, message(Kind::Standard, body)).await;
    }
    let late = Outgoing { delay: Span::from_secs(600), ..message(Kind::Standard, "late") };
    send(world, &queue, late).await;
    let held = collect(world, &queue, 2).await;
    counts(world, &queue, (3, 2, 1)).await;
    delete(world, &queue, &held[0]).await;
    hide_for(world, &queue, &held[1], Span::ZERO).await.expect("it is in flight");
    counts(world, &queue, (4, 0, 1)).await;
}

/// Waits up to a minute for the counts, because those of SQS may lag that much.
async fn counts(world: &dyn QueueWorld, queue: &QueueArn, expected: (u64, u64, u64)) {
    let mut seen = None;
    for _ in 0..60 {
        let now = world.port().attributes(queue).await.expect("it exists");
        seen = Some((now.visible_count, now.in_flight_count, now.delayed_count));
        if seen == Some(expected) {
            return;
        }
        world.advance(Span::from_secs(1)).await;
    }
    assert_eq!(seen, Some(expected), "visible, in flight, delayed");
}
