//! Adds the error stamp to the copy for the dead-letter queue.

use crate::failure::Failure;
use domain::id::QueueArn;
use domain::limits::{ATTRIBUTES_MAX, MESSAGE_BYTES_MAX};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::read::stamp::{STAMP_VERSION, Stamp};
use domain::reading::Class;
use domain::time::Timestamp;
use queue::Received;

/// Who failed, on which queue, and when.
pub(crate) struct Circumstances<'a> {
    pub consumer: &'a str,
    pub consumer_version: &'a str,
    pub message_type: Option<String>,
    pub main_queue: &'a QueueArn,
    pub failed_at: Timestamp,
}

/// Returns the message as received, plus the stamp attribute. Drops the stack if the stamp is too large with it.
/// Returns `None` if there is no room even then: a message has at most ten attributes and 1 MiB.
pub(crate) fn stamped(received: &Received, failure: &Failure, circumstances: &Circumstances<'_>) -> Option<Content> {
    let stamp = stamp(received, failure, circumstances);
    let content = &received.content;
    with_stamp(content, &stamp).or_else(|| with_stamp(content, &Stamp { stack: None, ..stamp }))
}

fn with_stamp(content: &Content, stamp: &Stamp) -> Option<Content> {
    let mut content = content.clone();
    // Replaces the stamp of an earlier failure, which an AWS redrive leaves on the message.
    content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
    let fits = content.attributes.len() <= ATTRIBUTES_MAX && content.size_bytes() <= MESSAGE_BYTES_MAX;
    fits.then_some(content)
}

fn stamp(received: &Received, failure: &Failure, circumstances: &Circumstances<'_>) -> Stamp {
    Stamp {
        v: STAMP_VERSION,
        error_type: Some(failure.error_type.clone()),
        message: Some(failure.message.clone()),
        stack: failure.stack(),
        class: (failure.class != Class::Unknown).then_some(failure.class),
        consumer: Some(circumstances.consumer.into()),
        consumer_version: Some(circumstances.consumer_version.into()),
        message_type: circumstances.message_type.clone(),
        attempts: received.system.receive_count,
        original_message_id: Some(received.message_id.clone()),
        main_queue: Some(circumstances.main_queue.clone()),
        first_sent_at: received.system.sent_at,
        first_received_at: received.system.first_received_at,
        failed_at: Some(circumstances.failed_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::SystemAttributes;

    fn received(attribute_count: usize, body_bytes: usize) -> Received {
        let attributes = (0..attribute_count).map(|n| (format!("a{n}"), Attribute::number("1"))).collect();
        Received {
            message_id: "m-1".into(),
            receipt_handle: "r-1".into(),
            content: Content {
                body: "x".repeat(body_bytes),
                attributes,
                message_group_id: Some("g".into()),
                trace_header: Some("Root=1-2".into()),
            },
            system: SystemAttributes { receive_count: Some(3), ..SystemAttributes::default() },
        }
    }

    fn stamped_copy(received: &Received, stack: &str) -> Option<Content> {
        let circumstances = Circumstances {
            consumer: "orders",
            consumer_version: "v1",
            message_type: None,
            main_queue: &"arn:aws:sqs:eu-west-1:111122223333:orders".into(),
            failed_at: Timestamp::from_ms(7),
        };
        stamped(received, &Failure::permanent("T", "m").with_stack(stack), &circumstances)
    }

    fn read(content: &Content) -> Stamp {
        content.attributes[FAILURE_ATTRIBUTE].as_text().and_then(Stamp::parse).expect("a stamp")
    }

    #[test]
    fn the_copy_is_the_message_plus_its_stamp() {
        let message = received(9, 100);
        let mut copy = stamped_copy(&message, "s").expect("room");
        let stamp = read(&copy);
        assert_eq!(stamp.original_message_id, Some("m-1".into()));
        assert_eq!((stamp.attempts, stamp.class), (Some(3), Some(Class::Permanent)));
        assert_eq!((stamp.stack.as_deref(), stamp.consumer_version.as_deref()), (Some("s"), Some("v1")));
        copy.attributes.remove(FAILURE_ATTRIBUTE);
        assert_eq!(copy, message.content);
    }

    #[test]
    fn without_room_there_is_no_copy() {
        assert_eq!(stamped_copy(&received(10, 100), "s"), None);
        assert_eq!(stamped_copy(&received(0, MESSAGE_BYTES_MAX), "s"), None);
    }

    #[test]
    fn a_stack_without_room_is_dropped() {
        let copy = stamped_copy(&received(0, MESSAGE_BYTES_MAX - 2_000), &"frame\n".repeat(1_000)).expect("room");
        assert_eq!(read(&copy).stack, None);
        assert_eq!(read(&copy).message.as_deref(), Some("m"));
    }

    #[test]
    fn an_old_stamp_is_replaced_even_when_all_attributes_are_taken() {
        let mut message = received(9, 100);
        message.content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text("old"));
        assert_eq!(read(&stamped_copy(&message, "s").expect("room")).message.as_deref(), Some("m"));
    }
}
