//! Converts messages and attributes between SQS's types and the port's, without changing their content.

use crate::{Outgoing, QueueAttributes, QueueError, Received, Redrive};
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::id::{MessageId, QueueArn};
use domain::limits::MESSAGE_BYTES_MAX;
use domain::message::{Attribute, AttributeValue, Content, SystemAttributes};
use domain::time::{Span, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;
use std::str::FromStr;

/// Returns the error for a response that violates SQS's own interface.
pub(super) fn unexpected(queue: &QueueArn, problem: &str) -> QueueError {
    QueueError::Unanswered { queue: queue.clone(), source: problem.into() }
}

/// Converts a span to whole seconds, rounded up. Negative spans stay negative, so that SQS rejects them.
pub(super) fn seconds(span: Span) -> i32 {
    let whole = if span < Span::ZERO { span.as_ms().div_euclid(1000) } else { span.as_secs_up() };
    i32::try_from(whole).unwrap_or(i32::MAX)
}

/// Converts a received message.
pub(super) fn received(queue: &QueueArn, message: Message) -> Result<Received, QueueError> {
    let system = message.attributes.unwrap_or_default();
    let text = |name: MessageSystemAttributeName| system.get(&name).cloned();
    let attributes = message.message_attributes.unwrap_or_default().into_iter();
    let attributes = attributes.map(|(name, value)| Some((name, attribute(value)?)));
    let content = Content {
        body: message.body.unwrap_or_default(),
        attributes: attributes
            .collect::<Option<_>>()
            .ok_or_else(|| unexpected(queue, "SQS returned a message attribute without a value"))?,
        message_group_id: text(MessageSystemAttributeName::MessageGroupId),
        trace_header: text(MessageSystemAttributeName::AwsTraceHeader),
    };
    Ok(Received {
        message_id: message
            .message_id
            .map(MessageId::new)
            .ok_or_else(|| unexpected(queue, "SQS returned a message without an id"))?,
        receipt_handle: message
            .receipt_handle
            .ok_or_else(|| unexpected(queue, "SQS returned a message without a receipt handle"))?,
        content,
        system: SystemAttributes {
            sent_at: number(&system, MessageSystemAttributeName::SentTimestamp).map(Timestamp::from_ms),
            first_received_at: number(&system, MessageSystemAttributeName::ApproximateFirstReceiveTimestamp)
                .map(Timestamp::from_ms),
            receive_count: number(&system, MessageSystemAttributeName::ApproximateReceiveCount),
            source_queue: text(MessageSystemAttributeName::DeadLetterQueueSourceArn).map(QueueArn::new),
            deduplication_id: text(MessageSystemAttributeName::MessageDeduplicationId),
            sequence_number: text(MessageSystemAttributeName::SequenceNumber),
            sender_id: text(MessageSystemAttributeName::SenderId),
        },
    })
}

fn number<K: std::hash::Hash + Eq, T: FromStr>(attributes: &HashMap<K, String>, name: K) -> Option<T> {
    attributes.get(&name)?.parse().ok()
}

fn attribute(value: MessageAttributeValue) -> Option<Attribute> {
    let text = value.string_value.map(AttributeValue::Text);
    let bytes = value.binary_value.map(|bytes| AttributeValue::Binary(STANDARD.encode(bytes)));
    Some(Attribute { data_type: value.data_type, value: text.or(bytes)? })
}

/// Converts a message to send into an entry of a batch. The entry's id is its index.
pub(super) fn entry(
    queue: &QueueArn,
    index: usize,
    message: &Outgoing,
) -> Result<SendMessageBatchRequestEntry, QueueError> {
    let content = &message.content;
    let mut entry = SendMessageBatchRequestEntry::builder()
        .id(index.to_string())
        .message_body(&content.body)
        .set_message_group_id(content.message_group_id.clone())
        .set_message_deduplication_id(message.deduplication_id.clone())
        // FIFO queues reject a delay per message, even a delay of zero.
        .set_delay_seconds((message.delay != Span::ZERO).then(|| seconds(message.delay)));
    for (name, value) in &content.attributes {
        let invalid = |reason: String| QueueError::Invalid { queue: queue.clone(), reason };
        let typed = MessageAttributeValue::builder().data_type(&value.data_type);
        let typed = match &value.value {
            AttributeValue::Text(text) => typed.string_value(text),
            AttributeValue::Binary(base64) => {
                let bytes = STANDARD.decode(base64).map_err(|error| invalid(format!("attribute {name}: {error}")))?;
                typed.binary_value(Blob::new(bytes))
            }
        };
        entry = entry.message_attributes(name, typed.build().map_err(|error| invalid(error.to_string()))?);
    }
    let unbuildable = |error: aws_sdk_sqs::error::BuildError| unexpected(queue, &error.to_string());
    if let Some(trace) = &content.trace_header {
        let value = MessageSystemAttributeValue::builder().data_type("String").string_value(trace);
        let value = value.build().map_err(unbuildable)?;
        entry = entry.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, value);
    }
    entry.build().map_err(unbuildable)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RedrivePolicy {
    dead_letter_target_arn: String,
    /// A number, or its digits as text: SQS and its emulators use both.
    max_receive_count: serde_json::Value,
}

/// Converts the attributes of a queue.
pub(super) fn attributes(
    queue: &QueueArn,
    values: &HashMap<QueueAttributeName, String>,
) -> Result<QueueAttributes, QueueError> {
    let whole = |name: QueueAttributeName| {
        let problem = format!("SQS returned no valid {} for the queue", name.as_str());
        number::<_, u64>(values, name).ok_or_else(|| unexpected(queue, &problem))
    };
    let span = |name| whole(name).map(|s| Span::from_secs(s.cast_signed()));
    let redrive = match values.get(&QueueAttributeName::RedrivePolicy).filter(|policy| !policy.is_empty()) {
        None => None,
        Some(policy) => {
            Some(redrive(policy).ok_or_else(|| unexpected(queue, "the queue's redrive policy could not be parsed"))?)
        }
    };
    Ok(QueueAttributes {
        fifo: values.get(&QueueAttributeName::FifoQueue).is_some_and(|fifo| fifo == "true"),
        visibility_timeout: span(QueueAttributeName::VisibilityTimeout)?,
        retention: span(QueueAttributeName::MessageRetentionPeriod)?,
        // An endpoint that does not name it has SQS's own limit.
        message_bytes_max: number(values, QueueAttributeName::MaximumMessageSize).unwrap_or(MESSAGE_BYTES_MAX),
        redrive,
        visible_count: whole(QueueAttributeName::ApproximateNumberOfMessages)?,
        in_flight_count: whole(QueueAttributeName::ApproximateNumberOfMessagesNotVisible)?,
        delayed_count: whole(QueueAttributeName::ApproximateNumberOfMessagesDelayed)?,
    })
}

fn redrive(policy: &str) -> Option<Redrive> {
    let policy: RedrivePolicy = serde_json::from_str(policy).ok()?;
    let receives_max = policy.max_receive_count.as_u64().or_else(|| policy.max_receive_count.as_str()?.parse().ok())?;
    Some(Redrive { dlq: QueueArn::new(policy.dead_letter_target_arn), receives_max: u32::try_from(receives_max).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redrive_policies_are_read_in_both_forms() {
        for (count, receives_max) in [("3", Some(3)), ("\"3\"", Some(3)), ("\"many\"", None), ("null", None)] {
            let policy = format!(r#"{{"deadLetterTargetArn":"arn:aws:sqs:r:1:dlq","maxReceiveCount":{count}}}"#);
            assert_eq!(redrive(&policy).map(|redrive| redrive.receives_max), receives_max, "{count}");
        }
    }
}
