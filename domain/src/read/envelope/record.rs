//! A whole SQS record inside an envelope, as a Lambda function or a consumer receives it.

use super::facts::{Facts, moment, queue_arn};
use super::restored::{Restored, UNRECORDED};
use super::{Inner, Opening};
use crate::read::json::{Index, Raw};

/// Names of the record's own attributes.
const SYSTEM: [&str; 2] = ["attributes", "Attributes"];
const ATTRIBUTES: [&str; 2] = ["messageAttributes", "MessageAttributes"];
/// What only SQS writes next to a body and an id. An application's own message has an id and a body, too.
const OWN: [&str; 6] =
    ["receiptHandle", "ReceiptHandle", "md5OfBody", "MD5OfBody", "eventSourceARN", "MD5OfMessageAttributes"];
const OWN_SYSTEM: [&str; 3] = ["ApproximateReceiveCount", "SentTimestamp", "ApproximateFirstReceiveTimestamp"];

/// Whether an object is certainly a record: it has an id, a body, and something that only SQS adds.
pub fn is_record(raw: Raw<'_>) -> bool {
    // Most originals are no records, and a search is cheaper than an index.
    if !raw.text().contains("essageId") {
        return false;
    }
    let record = Index::new(raw);
    let has = |names: &[&str]| record.first(names).is_some();
    let system = record.first(&SYSTEM).map(Index::new).unwrap_or_default();
    has(&["messageId", "MessageId"])
        && has(&["body", "Body"])
        && (has(&OWN) || system.first(&OWN_SYSTEM).is_some() || record.first(&ATTRIBUTES).is_some_and(Raw::is_object))
}

/// Reads a record in the spelling of Lambda's event (`messageId`, `body`) or of the SQS API (`MessageId`, `Body`).
pub fn open<'a>(raw: Raw<'a>) -> Option<Opening<'a>> {
    let record = Index::new(raw);
    let mut restored = Restored::from_body(record.first(&["body", "Body"])?)?;
    let id = record.scalar(&["messageId", "MessageId"])?;
    let system = record.first(&SYSTEM).map(Index::new).unwrap_or_default();
    let facts = Facts {
        original_message_id: Some(id),
        main_queue: record.scalar(&["eventSourceARN"]).as_deref().and_then(queue_arn),
        attempts: system.scalar(&["ApproximateReceiveCount"]).and_then(|n| n.parse().ok()),
        first_tried_at: moment(system.get("ApproximateFirstReceiveTimestamp")),
        sent_at: moment(system.get("SentTimestamp")),
        ..Facts::default()
    };
    restored.message_group_id = system.scalar(&["MessageGroupId"]);
    restored.trace_header = system.scalar(&["AWSTraceHeader"]);
    match record.first(&ATTRIBUTES).filter(|raw| raw.is_object()) {
        Some(recorded) => restored = restored.with_attributes(recorded),
        None => restored.remarks.push(UNRECORDED.into()),
    }
    Some(Opening { facts, inner: Inner::Original(restored), is_stamped: false })
}
