//! The batch in an invocation's event.

use domain::id::{MessageId, QueueArn};
use domain::marker::MARKER_ATTRIBUTE;
use domain::report::ReportedMessage;
use domain::report::clues::Suspect;
use memchr::memmem;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The event source of every record from SQS.
const SQS: &str = "aws:sqs";

/// A batch of messages from one queue.
#[derive(Debug, Deserialize)]
pub struct Batch<'a> {
    #[serde(rename = "Records", borrow)]
    records: Vec<Record<'a>>,
}

/// One message. Everything is optional except its id: whoever invokes the function by hand may leave it out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    message_id: Cow<'a, str>,
    #[serde(borrow, default)]
    event_source: Cow<'a, str>,
    #[serde(borrow, default, rename = "eventSourceARN")]
    queue: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Cow<'a, str>,
    #[serde(borrow, default)]
    attributes: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(borrow, default)]
    message_attributes: BTreeMap<Cow<'a, str>, Attribute<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attribute<'a> {
    #[serde(borrow, default)]
    string_value: Option<Cow<'a, str>>,
}

/// Whether an event may hold messages of SQS. Reads it once and understands nothing, so that other events cost next to
/// nothing.
pub fn may_be_sqs(event: &[u8]) -> bool {
    memmem::find(event, SQS.as_bytes()).is_some()
}

/// Whether an event may hold a message that a replay of the office sent.
pub fn may_have_marker(event: &[u8]) -> bool {
    memmem::find(event, MARKER_ATTRIBUTE.as_bytes()).is_some()
}

impl<'a> Batch<'a> {
    /// Parses an event. Returns `None` unless all its records came from SQS.
    pub fn parse(event: &'a [u8]) -> Option<Self> {
        let batch: Self = serde_json::from_slice(event).ok()?;
        let is_sqs = !batch.records.is_empty() && batch.records.iter().all(|record| record.event_source == SQS);
        is_sqs.then_some(batch)
    }

    /// The main queue.
    pub fn queue(&self) -> Option<QueueArn> {
        let arn = self.records.first().map(|record| &*record.queue).filter(|arn| !arn.is_empty())?;
        Some(QueueArn::from(arn))
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.records.iter().map(|record| &*record.message_id)
    }

    /// The messages, in order, as a report lists them.
    pub fn messages(&self) -> impl Iterator<Item = ReportedMessage> {
        self.records.iter().map(|record| {
            let attribute = |name: &str| record.attributes.get(name).map(|value| value.as_ref());
            ReportedMessage {
                receives: attribute("ApproximateReceiveCount").and_then(|count| count.parse().ok()),
                // On a standard queue the group is a key of fair queues, and orders nothing.
                group: attribute("MessageGroupId").filter(|_| record.queue.ends_with(".fifo")).map(str::to_owned),
                ..ReportedMessage::new(MessageId::from(&*record.message_id))
            }
        })
    }

    /// The messages, in order, with their bodies.
    pub fn suspects(&self) -> Vec<Suspect<'_>> {
        self.records.iter().map(|record| Suspect { id: &record.message_id, body: &record.body }).collect()
    }

    /// The messages that a replay sent: id and marker.
    pub fn marked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.records.iter().filter_map(|record| {
            let marker = record.message_attributes.get(MARKER_ATTRIBUTE)?.string_value.as_deref()?;
            Some((&*record.message_id, marker))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"Records": [
        {"messageId": "a", "receiptHandle": "h", "body": "{\"order\":\"A-1\"}",
         "attributes": {"ApproximateReceiveCount": "3", "SentTimestamp": "1", "MessageGroupId": "g"},
         "messageAttributes": {"dlo.replay": {"stringValue": "1.x.y.1", "stringListValues": [], "dataType": "String"}},
         "md5OfBody": "x", "eventSource": "aws:sqs",
         "eventSourceARN": "arn:aws:sqs:eu-west-1:111122223333:orders.fifo", "awsRegion": "eu-west-1"},
        {"messageId": "b", "eventSource": "aws:sqs"}]}"#;

    #[test]
    fn a_batch_is_read() {
        assert!(may_be_sqs(EVENT.as_bytes()) && may_have_marker(EVENT.as_bytes()));
        let batch = Batch::parse(EVENT.as_bytes()).expect("a batch");
        assert_eq!(batch.queue(), Some("arn:aws:sqs:eu-west-1:111122223333:orders.fifo".into()));
        assert_eq!(batch.ids().collect::<Vec<_>>(), ["a", "b"]);
        let first = ReportedMessage { receives: Some(3), group: Some("g".into()), ..ReportedMessage::new("a".into()) };
        assert_eq!(batch.messages().collect::<Vec<_>>(), [first, ReportedMessage::new("b".into())]);
        assert_eq!(batch.marked().collect::<Vec<_>>(), [("a", "1.x.y.1")]);
        assert_eq!(batch.suspects()[0].body, r#"{"order":"A-1"}"#);
    }

    #[test]
    fn the_group_of_a_standard_queue_orders_nothing() {
        let standard = EVENT.replace("orders.fifo", "orders");
        let batch = Batch::parse(standard.as_bytes()).expect("a batch");
        assert!(batch.messages().all(|message| message.group.is_none()));
    }

    #[test]
    fn other_events_are_no_batch() {
        let others = [
            "",
            "null",
            "[]",
            "{}",
            "{\"Records\":[]}",
            "{\"Records\":[{\"eventSource\":\"aws:s3\"}]}",
            "{\"detail\":\"aws:sqs\"}",
            "{\"Records\":[{\"messageId\":\"a\",\"eventSource\":\"aws:kinesis\"}]}",
        ];
        for other in others {
            assert!(Batch::parse(other.as_bytes()).is_none(), "{other}");
        }
    }
}
