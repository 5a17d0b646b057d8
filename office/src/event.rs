//! What an event source mapping hands a function, and what the function has to answer.
//!
//! With `ReportBatchItemFailures` an answer that is empty or null deletes the whole batch, and so does one without the
//! key: the answer here always has it. An event that cannot be read is an error, and the whole batch comes again.

use crate::intake;
use crate::office::{Office, StepMessage};
use crate::{error, replay};
use domain::id::{MessageId, QueueArn};
use domain::message::{Attribute, AttributeValue, Content, DeadMessage, SystemAttributes};
use domain::time::Timestamp;
use queue::Received;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A batch of messages.
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

/// The answer: the messages that must come again.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Those that were not dealt with; empty when all were.
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
    /// These come again.
    pub fn failing(ids: impl IntoIterator<Item = String>) -> Self {
        Self { failures: ids.into_iter().map(|message_id| Failure { message_id }).collect() }
    }
}

impl Batch {
    /// Whether it comes from this queue: a mapping hands over messages of one queue only.
    pub fn is_from(&self, queue: &QueueArn) -> bool {
        self.records.first().is_some_and(|record| record.queue == queue.as_str())
    }

    /// The messages as a consumer receives them.
    pub fn received(self) -> Vec<Received> {
        let received = |mut record: Record| {
            let receipt_handle = std::mem::take(&mut record.receipt_handle);
            let DeadMessage { message_id, system, content, .. } = record.dead();
            Received { message_id, receipt_handle, content, system }
        };
        self.records.into_iter().map(received).collect()
    }
}

impl Record {
    fn dead(self) -> DeadMessage {
        let system = |name: &str| self.attributes.get(name).cloned();
        let moment = |name: &str| system(name).and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms);
        let attributes = self.message_attributes.into_iter().map(|(name, attribute)| {
            let RecordAttribute { data_type, string_value, binary_value } = attribute;
            // One of the two is always there; an attribute of a type that Lambda has yet to invent is kept as empty.
            let bytes = binary_value.map(AttributeValue::Binary);
            let value = string_value.map(AttributeValue::Text).or(bytes);
            (name, Attribute { data_type, value: value.unwrap_or(AttributeValue::Text(String::new())) })
        });
        DeadMessage {
            dlq: QueueArn::new(self.queue),
            message_id: MessageId::new(self.message_id),
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

/// Intake of a batch. Letters that do not say which queue they died on died on `main_of_silent`, where the stack names
/// one.
pub async fn keep(office: &Office, batch: Batch, main_of_silent: Option<&QueueArn>) -> Answer {
    let mut messages: Vec<_> = batch.records.into_iter().map(Record::dead).collect();
    for message in &mut messages {
        message.system.source_queue = message.system.source_queue.take().or_else(|| main_of_silent.cloned());
    }
    let count = messages.len();
    let report = intake::keep(office, messages).await;
    tracing::info!(
        messages = count,
        kept = report.kept,
        returned = report.returned,
        duplicates = report.duplicates,
        failed = report.failed.len(),
        new_groups = report.new_groups,
        "a batch of dead messages"
    );
    Answer::failing(report.failed.into_iter().map(|id| id.as_str().to_owned()))
}

/// Receipts of consumers.
pub async fn receipts(office: &Office, batch: Batch) -> Answer {
    let messages = batch.records.into_iter().map(|record| (MessageId::new(record.message_id), record.body));
    let failed = replay::take_receipts(office, messages.collect()).await;
    Answer::failing(failed.into_iter().map(|id| id.as_str().to_owned()))
}

/// Steps of replays. A step that cannot be read or done comes again, and ends in the dead-letter queue of our own.
pub async fn step(office: &Office, batch: Batch, executor: &str) -> Answer {
    let mut failed = Vec::new();
    for record in batch.records {
        let done = match serde_json::from_str::<StepMessage>(&record.body) {
            Ok(step) => replay::handle(office, &step, executor).await.map_err(|fault| error::chain(&fault)),
            Err(fault) => Err(error::chain(&fault)),
        };
        if let Err(error) = done {
            tracing::error!(message_id = record.message_id, error, "a step of a replay failed; it comes again");
            failed.push(record.message_id);
        }
    }
    Answer::failing(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_never_empty_and_never_null() {
        for (failed, answer) in [
            (vec![], r#"{"batchItemFailures":[]}"#),
            (vec!["a".to_owned()], r#"{"batchItemFailures":[{"itemIdentifier":"a"}]}"#),
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
        let dead = batch.records.into_iter().next().unwrap().dead();
        assert_eq!(dead.dlq.name(), "orders-dlq");
        assert_eq!(dead.system.source_queue.as_ref().map(QueueArn::name), Some("orders"));
        assert_eq!(dead.system.sent_at, Some(Timestamp::from_ms(1_763_600_000_000)));
        assert_eq!(dead.system.receive_count, Some(4));
        assert_eq!(dead.content.message_group_id.as_deref(), Some("g"));
        assert_eq!(dead.content.trace_header.as_deref(), Some("Root=1-5759e988"));
        assert_eq!(dead.content.attributes["n"], Attribute::number("00.10"));
        let bytes = AttributeValue::Binary("AP8QgA==".into());
        assert_eq!(dead.content.attributes["b"], Attribute { data_type: "Binary.png".into(), value: bytes });
    }

    #[test]
    fn batch_says_which_queue_it_is_from() {
        let event = r#"{"Records":[{"messageId":"m","body":"{}","eventSourceARN":"arn:aws:sqs:r:1:receipts"}]}"#;
        let batch: Batch = serde_json::from_str(event).unwrap();
        assert!(batch.is_from(&"arn:aws:sqs:r:1:receipts".into()) && !batch.is_from(&"arn:aws:sqs:r:1:dlq".into()));
        assert!(!Batch { records: Vec::new() }.is_from(&"arn:aws:sqs:r:1:receipts".into()));
    }

    #[test]
    fn event_that_cannot_be_read_is_an_error() {
        for event in ["null", "{}", r#"{"Records":null}"#, r#"{"Records":[{"body":"x"}]}"#] {
            assert!(serde_json::from_str::<Batch>(event).is_err(), "{event}");
        }
    }
}
