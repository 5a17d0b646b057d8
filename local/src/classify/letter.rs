//! An SQS message as the AWS command prints it, or as a Lambda function receives it.

use super::record::text;
use domain::message::{Attribute, AttributeValue, Attributes, Content, DeadMessage, SystemAttributes};
use domain::read::json::Raw;
use domain::time::Timestamp;

/// Returns the messages of an output of `aws sqs receive-message`, or of a Lambda event.
pub fn batch(line: Raw<'_>) -> Option<Raw<'_>> {
    let of_sqs = |records: &Raw<'_>| records.elements().next().is_some_and(is_letter);
    line.get("Messages").or_else(|| line.get("Records").filter(of_sqs))
}

/// Whether an object is a message.
pub fn is_letter(raw: Raw<'_>) -> bool {
    let has_body = || raw.get("body").is_some_and(|body| body.text().trim_end() != "null");
    raw.first(&["Body", "MessageId"]).is_some() || raw.get("messageId").is_some() && has_body()
}

/// Returns the message's id.
pub fn id(raw: Raw<'_>) -> Option<Raw<'_>> {
    raw.first(&["MessageId", "messageId"])
}

/// Reads a message. A body that is no text is its JSON.
pub fn read(raw: Raw<'_>) -> Result<DeadMessage, String> {
    let body = raw.first(&["Body", "body"]).filter(|raw| raw.text().trim_end() != "null");
    let body = body.map(|raw| text(raw).unwrap_or_default()).ok_or("`Body` is missing")?;
    let system = raw.first(&["Attributes", "attributes"]);
    let text = |name: &str| system.and_then(|s| s.get(name)).and_then(Raw::as_scalar);
    let moment = |name: &str| text(name).and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms);
    let attributes = raw.first(&["MessageAttributes", "messageAttributes"]).map(attributes);
    Ok(DeadMessage {
        message_id: id(raw).and_then(Raw::as_scalar).unwrap_or_default().as_str().into(),
        content: Content {
            attributes: attributes.transpose()?.unwrap_or_default(),
            message_group_id: text("MessageGroupId"),
            trace_header: text("AWSTraceHeader"),
            ..of_body(body).content
        },
        system: SystemAttributes {
            sent_at: moment("SentTimestamp"),
            first_received_at: moment("ApproximateFirstReceiveTimestamp"),
            receive_count: text("ApproximateReceiveCount").and_then(|n| n.parse().ok()),
            source_queue: text("DeadLetterQueueSourceArn").as_deref().map(Into::into),
            deduplication_id: text("MessageDeduplicationId"),
            sequence_number: text("SequenceNumber"),
            sender_id: text("SenderId"),
        },
        ..of_body(String::new())
    })
}

/// Returns a message with this body, and nothing else.
pub fn of_body(body: String) -> DeadMessage {
    DeadMessage {
        dlq: "".into(),
        message_id: "".into(),
        content: Content { body, ..Content::default() },
        system: SystemAttributes::default(),
    }
}

fn attributes(raw: Raw<'_>) -> Result<Attributes, String> {
    raw.members().map(|(name, value)| Ok((name.to_string(), attribute(name, value)?))).collect()
}

fn attribute(name: &str, raw: Raw<'_>) -> Result<Attribute, String> {
    let member = |names: &[&str]| raw.first(names).and_then(Raw::as_string);
    let text = member(&["StringValue", "stringValue"]).map(AttributeValue::Text);
    let value = text.or_else(|| member(&["BinaryValue", "binaryValue"]).map(AttributeValue::Binary));
    let value = value.ok_or_else(|| format!("attribute `{name}` has no value"))?;
    let kind = if matches!(value, AttributeValue::Text(_)) { "String" } else { "Binary" };
    Ok(Attribute { data_type: member(&["DataType", "dataType"]).unwrap_or_else(|| kind.to_owned()), value })
}
