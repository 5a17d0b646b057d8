//! A message as SQS delivers it, verbatim. Nothing is rejected here: an unparsable body is a letter too.

use crate::id::{MessageId, QueueArn};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A message attribute's value. SQS has strings, numbers (as text, preserved digit by digit) and bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttributeValue {
    /// Text of the types `String`, `Number` and their custom forms such as `Number.int`.
    Text(String),
    /// Base64 (standard alphabet, padded) of the bytes of the type `Binary` and its custom forms.
    Binary(String),
}

/// A message attribute: its data type label exactly as sent, and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attribute {
    /// `String`, `Number`, `Binary`, or one of these with a custom suffix (`Number.float`).
    pub data_type: String,
    /// The value.
    pub value: AttributeValue,
}

impl Attribute {
    /// Creates an attribute of type `String`.
    pub fn text(value: impl Into<String>) -> Self {
        Self { data_type: "String".into(), value: AttributeValue::Text(value.into()) }
    }

    /// Creates an attribute of type `Number` from its digits.
    pub fn number(value: impl Into<String>) -> Self {
        Self { data_type: "Number".into(), value: AttributeValue::Text(value.into()) }
    }

    /// Returns the text of a text-valued attribute; `None` for bytes.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            AttributeValue::Text(text) => Some(text),
            AttributeValue::Binary(_) => None,
        }
    }
}

/// Message attributes by name.
pub type Attributes = BTreeMap<String, Attribute>;

/// Everything that a replay sends and the office stores byte for byte: body, attributes, group id and trace header.
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
    /// `AWSTraceHeader`, the only system attribute that senders may set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_header: Option<String>,
}

impl Content {
    /// Returns the size as SQS counts it for its 1 MiB limit: the body plus name, type and value of each attribute.
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
    /// The dead-letter queue where it was.
    pub dlq: QueueArn,
    /// Its id there. A move by a redrive policy keeps the id from the main queue.
    pub message_id: MessageId,
    /// Its content.
    pub content: Content,
    /// The system attributes.
    pub system: SystemAttributes,
}

impl DeadMessage {
    /// Whether it is in a FIFO queue, according to the queue's name.
    pub fn is_fifo(&self) -> bool {
        self.dlq.as_str().ends_with(".fifo")
    }
}

/// The system attributes that matter to the office. All are optional: only SQS's own redrive sets all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemAttributes {
    /// `SentTimestamp`. The original send on a standard queue, the move to the DLQ on FIFO (SQS developer guide,
    /// "Using dead-letter queues").
    pub sent_at: Option<Timestamp>,
    /// `ApproximateFirstReceiveTimestamp`.
    pub first_received_at: Option<Timestamp>,
    /// `ApproximateReceiveCount`, for display only.
    pub receive_count: Option<u32>,
    /// `DeadLetterQueueSourceArn`: present on messages that a redrive policy moved, and only on those.
    pub source_queue: Option<QueueArn>,
    /// `MessageDeduplicationId`.
    pub deduplication_id: Option<String>,
    /// `SequenceNumber` on FIFO queues.
    pub sequence_number: Option<String>,
    /// `SenderId`.
    pub sender_id: Option<String>,
}

impl SystemAttributes {
    /// Returns when a consumer first received it, if SQS moved it afterwards. Of others it is the first receive in the
    /// dead-letter queue.
    pub(crate) fn first_attempt_at(&self) -> Option<Timestamp> {
        self.first_received_at.filter(|_| self.source_queue.is_some())
    }
}
