//! A whole SQS record inside an envelope, as a Lambda function or a consumer receives it.

use super::facts::{Facts, carried, moment, queue_arn};
use super::{Inner, Opening};
use crate::message::{Attribute, AttributeValue, Attributes};
use crate::read::json::{Index, Raw};
use alloc::string::String;

/// Reads a record in the spelling of Lambda's event (`messageId`, `body`) or of the SQS API (`MessageId`, `Body`).
pub fn open<'a>(record: Raw<'a>) -> Option<Opening<'a>> {
    let record = Index::new(record);
    let body = carried(record.first(&["body", "Body"])?);
    let id = record.scalar(&["messageId", "MessageId"])?;
    let system = record.first(&["attributes", "Attributes"]).map(Index::new).unwrap_or_default();
    let facts = Facts {
        original_message_id: Some(id),
        main_queue: record.scalar(&["eventSourceARN"]).as_deref().and_then(queue_arn),
        attempts: system.scalar(&["ApproximateReceiveCount"]).and_then(|n| n.parse().ok()),
        first_tried_at: moment(system.get("ApproximateFirstReceiveTimestamp")),
        sent_at: moment(system.get("SentTimestamp")),
        ..Facts::default()
    };
    let kept = record.first(&["messageAttributes", "MessageAttributes"]);
    let rest = kept.map(|kept| (attributes(kept), system.scalar(&["MessageGroupId"])));
    Some(Opening { facts, inner: Inner::Original { body, rest }, stamp: None })
}

/// The maximum number of attributes of one message (SQS quotas); an object with more is something else.
const ATTRIBUTES_MAX: usize = crate::limits::ATTRIBUTES_MAX;

fn attributes(kept: Raw<'_>) -> Attributes {
    let named = kept.members().take(ATTRIBUTES_MAX).filter_map(|(name, raw)| {
        let fields = Index::new(raw);
        let data_type = fields.scalar(&["dataType", "DataType"])?;
        let value = match fields.scalar(&["stringValue", "StringValue"]) {
            Some(text) => AttributeValue::Text(text),
            None => AttributeValue::Binary(fields.scalar(&["binaryValue", "BinaryValue"])?),
        };
        Some((String::from(name), Attribute { data_type, value }))
    });
    named.collect()
}
