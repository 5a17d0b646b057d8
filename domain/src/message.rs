//! A message as SQS hands it over, verbatim. Nothing here rejects anything: a body nobody can parse is a letter too.

use crate::id::{MessageId, QueueArn};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A message attribute's value. SQS knows strings, numbers (sent as text, to be kept digit by digit) and bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttributeValue {
    /// Text of the types `String`, `Number` and their custom forms such as `Number.int`.
    Text(String),
    /// Base64 (standard alphabet, padded) of the bytes of the type `Binary` and its custom forms.
    Binary(String),
}

/// A message attribute: its data type label exactly as it was sent, and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attribute {
    /// `String`, `Number`, `Binary`, or one of these with a custom suffix (`Number.float`).
    pub data_type: String,
    /// The value.
    pub value: AttributeValue,
}

impl Attribute {
    /// An attribute of type `String`.
    pub fn text(value: impl Into<String>) -> Self {
        Self { data_type: "String".into(), value: AttributeValue::Text(value.into()) }
    }

    /// An attribute of type `Number`, its digits as text.
    pub fn number(value: impl Into<String>) -> Self {
        Self { data_type: "Number".into(), value: AttributeValue::Text(value.into()) }
    }

    /// The text of a text-valued attribute.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            AttributeValue::Text(text) => Some(text),
            AttributeValue::Binary(_) => None,
        }
    }
}

/// Message attributes by name.
pub type Attributes = BTreeMap<String, Attribute>;

/// What is sent and kept byte for byte: body, attributes, group id and trace header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Content {
    /// The body. SQS bodies are Unicode text.
    pub body: String,
    /// The message attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: Attributes,
    /// `MessageGroupId`: the order key on FIFO queues, the fairness key on standard ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_group_id: Option<String>,
    /// `AWSTraceHeader`, the only system attribute that may be set on sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_header: Option<String>,
}

impl Content {
    /// Bytes as SQS counts them for its 1 MiB limit: body, plus name, type and value of each attribute.
    pub fn size_bytes(&self) -> usize {
        self.body.len()
            + self.attributes.iter().map(|(name, attribute)| attribute_bytes(name, attribute)).sum::<usize>()
    }
}

fn attribute_bytes(name: &str, attribute: &Attribute) -> usize {
    let value = match &attribute.value {
        AttributeValue::Text(text) => text.len(),
        // Four base64 characters carry three bytes; padding carries none.
        AttributeValue::Binary(b64) => b64.trim_end_matches('=').len() * 3 / 4,
    };
    name.len() + attribute.data_type.len() + value
}

/// A message taken from a dead-letter queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadMessage {
    /// The dead-letter queue it lay in.
    pub dlq: QueueArn,
    /// Its id there. The automatic move of a redrive policy keeps the id of the main queue.
    pub message_id: MessageId,
    /// What it carries.
    pub content: Content,
    /// The system attributes.
    pub system: SystemAttributes,
}

impl DeadMessage {
    /// Whether it lies in a FIFO queue, which is told by the queue's name.
    pub fn is_fifo(&self) -> bool {
        self.dlq.as_str().ends_with(".fifo")
    }
}

/// The system attributes that matter to us, all optional: other producers than SQS's own redrive set only some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemAttributes {
    /// `SentTimestamp`. On a standard queue the original send, on FIFO the move to the DLQ (facts.md 1.1).
    pub sent_at: Option<Timestamp>,
    /// `ApproximateFirstReceiveTimestamp`.
    pub first_received_at: Option<Timestamp>,
    /// `ApproximateReceiveCount`, for display only.
    pub receive_count: Option<u32>,
    /// `DeadLetterQueueSourceArn`: present exactly on messages that a redrive policy moved.
    pub source_queue: Option<QueueArn>,
    /// `MessageDeduplicationId`.
    pub deduplication_id: Option<String>,
    /// `SequenceNumber` on FIFO queues.
    pub sequence_number: Option<String>,
    /// `SenderId`.
    pub sender_id: Option<String>,
}
