//! The fallback reading for a message on which the reader itself crashes.

use super::fingerprint::FINGERPRINT_VERSION;
use super::marker_of;
use crate::id::{GroupId, hash_hex};
use crate::impact::Impact;
use crate::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use crate::message::{Content, DeadMessage};
use crate::reading::{
    Category, Class, Classification, Confidence, Diagnosis, EnvelopeKind, Failure, Reading, Replayability,
};
use alloc::string::ToString;
use alloc::vec::Vec;

const TITLE: &str = "The office could not read these letters";
const REMARK: &str = "The office failed to read this letter. This is a defect of the office; please report it. The letter is stored unchanged.";
const NOT_KNOWN: &str = "The office could not read this letter, so its original content on the main queue is unknown.";

/// Returns what is known about a message on which [`read`](super::read()) panics: only the queue's information and the
/// marker of a replay. The letter is kept, in one group per queue. Only a letter that SQS itself moved can be sent
/// back, because its content is what the consumer received; for others, an added envelope cannot be excluded.
pub fn unread(message: &DeadMessage) -> Reading {
    let system = &message.system;
    let redriven = system.source_queue.is_some();
    let queue = system.source_queue.as_ref().unwrap_or(&message.dlq);
    let mut attributes = message.content.attributes.clone();
    attributes.retain(|name, _| ![FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE].contains(&name.as_str()));
    Reading {
        main_queue: system.source_queue.clone(),
        original_message_id: message.message_id.clone(),
        original: Content { attributes, ..message.content.clone() },
        original_at: None,
        group: GroupId::new(hash_hex(&[FINGERPRINT_VERSION, queue.as_str(), "unread"])),
        culprit: None,
        sent_at: system.sent_at,
        failed_at: None,
        died_after: None,
        marker: marker_of(message),
        diagnosis: Diagnosis {
            envelope: EnvelopeKind::Plain,
            failure: Failure::default(),
            classification: Classification {
                class: Class::Unknown,
                category: Category::Unknown,
                confidence: Confidence::from_pct(0),
                reason: TITLE.to_string(),
            },
            title: TITLE.to_string(),
            message_type: None,
            consumer: None,
            consumer_version: None,
            producer: None,
            producer_version: None,
            tenant: None,
            impact: Impact::default(),
            attempts: None,
            first_tried_at: system.first_received_at.filter(|_| redriven),
            replayability: match redriven {
                true => Replayability::Replayable,
                false => Replayability::NotReplayable { reason: NOT_KNOWN.to_string() },
            },
            remarks: Vec::from([REMARK.to_string()]),
            reported: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::QueueArn;
    use crate::message::{Attribute, SystemAttributes};
    use crate::policy::Policy;
    use crate::read::read;
    use crate::time::Timestamp;
    use alloc::format;

    fn message(source_queue: Option<&str>, attributes: &[(&str, &str)]) -> DeadMessage {
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), Attribute::text(*value)));
        DeadMessage {
            dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
            message_id: "m-1".into(),
            content: Content { body: "{}".into(), attributes: attributes.collect(), ..Content::default() },
            system: SystemAttributes {
                source_queue: source_queue.map(QueueArn::from),
                sent_at: Some(Timestamp::from_ms(1)),
                first_received_at: Some(Timestamp::from_ms(2)),
                ..SystemAttributes::default()
            },
        }
    }

    /// The queue's information is read as by a working reader.
    #[test]
    fn it_equals_a_plain_letter_except_for_its_cause() {
        let queue = "arn:aws:sqs:eu-west-1:111122223333:orders";
        let marker = format!("2.{}.{}.2.0", "0a".repeat(16), "1b".repeat(16));
        for attributes in [&[][..], &[("tenant", "t"), ("dlo.replay", &marker)]] {
            let message = message(Some(queue), attributes);
            let (unread, read) = (unread(&message), read(&message, &Policy::default()));
            let as_unread = Reading {
                group: unread.group.clone(),
                diagnosis: Diagnosis {
                    title: unread.diagnosis.title.clone(),
                    classification: unread.diagnosis.classification.clone(),
                    remarks: unread.diagnosis.remarks.clone(),
                    reported: None,
                    tenant: None,
                    envelope: unread.diagnosis.envelope,
                    ..read.diagnosis.clone()
                },
                ..read.clone()
            };
            assert_eq!(unread, as_unread);
            assert_eq!(unread.marker.is_some(), !attributes.is_empty(), "a returned letter is recognised");
            assert_ne!(unread.group, read.group);
        }
    }

    #[test]
    fn an_envelope_stays_because_it_is_unknown() {
        let stamped = message(None, &[("dlo.failure", "{}")]);
        let reading = unread(&stamped);
        assert!(matches!(reading.diagnosis.replayability, Replayability::NotReplayable { .. }));
        assert_eq!(reading.original.body, stamped.content.body);
        assert_ne!(reading.group, unread(&message(Some("q"), &[])).group, "a group for each queue");
    }
}
