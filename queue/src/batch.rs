//! An event source mapping's event, and the answer that it expects (feature `lambda`).
//!
//! With `ReportBatchItemFailures` an answer that is empty or null deletes the whole batch, and so does one without the
//! key: the answer here always has it. An event that cannot be read is an error, and the whole batch comes again.

use crate::Received;
use domain::id::{MessageId, QueueArn};
use domain::message::{Attribute, AttributeValue, Content, SystemAttributes};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A batch of messages.
///
/// ```
/// use queue::batch::Batch;
///
/// let event = r#"{"Records":[{"messageId":"a","body":"{}","eventSourceARN":"arn:aws:sqs:eu-west-1:1:orders"}]}"#;
/// let batch: Batch = serde_json::from_str(event).unwrap();
/// assert_eq!(batch.received()[0].content.body, "{}");
/// ```
#[derive(Debug, Deserialize)]
pub struct Batch {
    /// The messages.
    #[serde(rename = "Records")]
    pub records: Vec<Record>,
}

/// A message of a batch, as Lambda writes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    message_id: String,
    #[serde(default)]
    receipt_handle: String,
    body: String,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    #[serde(default)]
    message_attributes: BTreeMap<String, RecordAttribute>,
    #[serde(rename = "eventSourceARN")]
    queue: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordAttribute {
    data_type: String,
    string_value: Option<String>,
    binary_value: Option<String>,
}

/// The answer to a batch. The mapping reads it only with the function response type `ReportBatchItemFailures`; without,
/// it deletes the whole batch.
///
/// ```
/// use queue::batch::Answer;
///
/// let answer = Answer::failing(["a".into()]);
/// assert_eq!(serde_json::to_string(&answer).unwrap(), r#"{"batchItemFailures":[{"itemIdentifier":"a"}]}"#);
/// ```
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The messages that were not handled and must come again. Lambda deletes all others.
    #[serde(rename = "batchItemFailures")]
    pub failures: Vec<Failure>,
}

/// A message that must come again.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its id.
    #[serde(rename = "itemIdentifier")]
    pub message_id: String,
}

impl Answer {
    /// The answer that makes these messages come again.
    pub fn failing(ids: impl IntoIterator<Item = MessageId>) -> Self {
        let failure = |id: MessageId| Failure { message_id: id.as_str().to_owned() };
        Self { failures: ids.into_iter().map(failure).collect() }
    }
}

impl Batch {
    /// The messages by their queue. A mapping hands over messages of one queue only; nothing here depends on it.
    pub fn by_queue(self) -> BTreeMap<QueueArn, Vec<Received>> {
        let mut queues: BTreeMap<QueueArn, Vec<Received>> = BTreeMap::new();
        for mut record in self.records {
            let queue = QueueArn::new(std::mem::take(&mut record.queue));
            queues.entry(queue).or_default().push(record.received());
        }
        queues
    }

    /// The messages as a consumer receives them.
    pub fn received(self) -> Vec<Received> {
        self.records.into_iter().map(Record::received).collect()
    }
}

impl Record {
    fn received(self) -> Received {
        let system = |name: &str| self.attributes.get(name).cloned();
        let moment = |name: &str| system(name).and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms);
        let attributes = self.message_attributes.into_iter().map(|(name, attribute)| {
            let RecordAttribute { data_type, string_value, binary_value } = attribute;
            // One of the two is always there; an attribute of a type that Lambda has yet to invent is kept as empty.
            let bytes = binary_value.map(AttributeValue::Binary);
            let value = string_value.map(AttributeValue::Text).or(bytes);
            (name, Attribute { data_type, value: value.unwrap_or(AttributeValue::Text(String::new())) })
        });
        Received {
            message_id: MessageId::new(self.message_id),
            receipt_handle: self.receipt_handle,
            system: SystemAttributes {
                sent_at: moment("SentTimestamp"),
                first_received_at: moment("ApproximateFirstReceiveTimestamp"),
                receive_count: system("ApproximateReceiveCount").and_then(|count| count.parse().ok()),
                source_queue: system("DeadLetterQueueSourceArn").map(QueueArn::new),
                deduplication_id: system("MessageDeduplicationId"),
                sequence_number: system("SequenceNumber"),
                sender_id: system("SenderId"),
            },
            content: Content {
                body: self.body,
                attributes: attributes.collect(),
                message_group_id: system("MessageGroupId"),
                trace_header: system("AWSTraceHeader"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_never_empty_and_never_null() {
        for (failed, answer) in [
            (vec![], r#"{"batchItemFailures":[]}"#),
            (vec![MessageId::from("a")], r#"{"batchItemFailures":[{"itemIdentifier":"a"}]}"#),
        ] {
            assert_eq!(serde_json::to_string(&Answer::failing(failed)).unwrap(), answer);
        }
    }

    #[test]
    fn event_of_lambda_is_read_to_the_last_attribute() {
        let event = r#"{"Records":[{"messageId":"059f36b4","receiptHandle":"AQEB","body":"{\"a\":1}","attributes":{
            "ApproximateReceiveCount":"4","SentTimestamp":"1763600000000","SenderId":"AROAX:svc","MessageGroupId":"g",
            "ApproximateFirstReceiveTimestamp":"1763600000123","AWSTraceHeader":"Root=1-5759e988",
            "DeadLetterQueueSourceArn":"arn:aws:sqs:eu-west-1:111122223333:orders"},"messageAttributes":{
            "n":{"stringValue":"00.10","stringListValues":[],"binaryListValues":[],"dataType":"Number"},
            "b":{"binaryValue":"AP8QgA==","dataType":"Binary.png"}},"md5OfBody":"098f","eventSource":"aws:sqs",
            "eventSourceARN":"arn:aws:sqs:eu-west-1:111122223333:orders-dlq","awsRegion":"eu-west-1"}]}"#;
        let batch: Batch = serde_json::from_str(event).unwrap();
        let (queue, messages) = batch.by_queue().pop_first().unwrap();
        let [message] = messages.as_slice() else { panic!("one message: {messages:?}") };
        assert_eq!(queue.name(), "orders-dlq");
        assert_eq!((message.message_id.as_str(), &*message.receipt_handle), ("059f36b4", "AQEB"));
        assert_eq!(message.content.body, r#"{"a":1}"#);
        assert_eq!(message.system.source_queue.as_ref().map(QueueArn::name), Some("orders"));
        assert_eq!(message.system.sent_at, Some(Timestamp::from_ms(1_763_600_000_000)));
        assert_eq!(message.system.receive_count, Some(4));
        assert_eq!(message.content.message_group_id.as_deref(), Some("g"));
        assert_eq!(message.content.trace_header.as_deref(), Some("Root=1-5759e988"));
        assert_eq!(message.content.attributes["n"], Attribute::number("00.10"));
        let bytes = AttributeValue::Binary("AP8QgA==".into());
        assert_eq!(message.content.attributes["b"], Attribute { data_type: "Binary.png".into(), value: bytes });
    }

    #[test]
    fn messages_are_handed_over_with_their_queue() {
        let record = |id: &str, queue: &str| {
            format!(r#"{{"messageId":"{id}","body":"{{}}","eventSourceARN":"arn:aws:sqs:r:1:{queue}"}}"#)
        };
        let records = [record("a", "dlq"), record("b", "receipts"), record("c", "dlq")].join(",");
        let batch: Batch = serde_json::from_str(&format!(r#"{{"Records":[{records}]}}"#)).unwrap();
        let by_queue = batch.by_queue().into_iter().map(|(queue, messages)| {
            let ids: Vec<_> = messages.into_iter().map(|message| message.message_id.as_str().to_owned()).collect();
            (queue.name().to_owned(), ids.concat())
        });
        assert_eq!(by_queue.collect::<Vec<_>>(), [("dlq".into(), "ac".into()), ("receipts".into(), "b".into())]);
        assert!(Batch { records: Vec::new() }.by_queue().is_empty());
    }

    #[test]
    fn event_that_cannot_be_read_is_an_error() {
        for event in ["null", "{}", r#"{"Records":null}"#, r#"{"Records":[{"body":"x"}]}"#] {
            assert!(serde_json::from_str::<Batch>(event).is_err(), "{event}");
        }
    }
}
