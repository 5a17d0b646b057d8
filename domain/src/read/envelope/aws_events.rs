//! AWS events of the form `{"Records":[...]}`. Queues receive them from S3 directly, or from a function that forwards
//! its whole event (Lambda developer guide, the pages of each event source; S3 user guide, "Event message structure").
//! S3 object keys are URL-encoded and stay so.

use super::facts::{Facts, moment};
use super::layer::Layer;
use super::{Opening, record};
use crate::read::json::{Index, Raw};
use crate::reading::Replayability;
use alloc::format;

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let Some(records) = layer.body.get("Records") else { return test_event(layer) };
    let mut records = records.elements();
    let first = records.next()?;
    let more = records.count();
    let fields = Index::new(first);
    let mut opening = match &*fields.text("eventSource").or_else(|| fields.text("EventSource"))? {
        "aws:sqs" => record::open(first)?,
        "aws:sns" => {
            let sns = Index::new(fields.get("Sns")?);
            let facts = Facts { sent_at: moment(sns.get("Timestamp")), ..Facts::default() };
            Opening::payload(facts, sns.text("Message"), sns.get("MessageAttributes"))
        }
        "aws:kinesis" => {
            let data = fields.get("kinesis").and_then(|kinesis| kinesis.get("data")).and_then(Raw::as_text);
            Opening::payload(Facts::default(), data, None)
        }
        // aws:s3, aws:dynamodb and similar: policy pointers reach everything in them.
        _ => Opening::facts(Facts {
            message_type: fields.scalar(&["eventName"]),
            sent_at: moment(fields.get("eventTime")),
            ..Facts::default()
        }),
    };
    if more > 0 {
        let all = more + 1;
        opening.facts.remarks.push(format!("This is a batch of {all} records. Only the first record was read."));
        if fields.text("eventSource").is_some_and(|source| source == "aws:sqs") {
            let reason = format!("This is a batch of {all} messages, and it does not say which of them failed.");
            // The first record is not the message, and a whole batch never was one.
            opening = Opening::facts(Facts { remarks: opening.facts.remarks, ..Facts::default() });
            opening.facts.not_replayable = Some(Replayability::NotReplayable { reason });
        }
    }
    Some(opening)
}

/// The test event that S3 sends once when notifications are configured.
fn test_event<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    (layer.body.text("Event")? == "s3:TestEvent").then_some(())?;
    let mut facts = Facts::remark("This is the test event that S3 sends once when notifications are configured.");
    facts.message_type = Some("s3:TestEvent".into());
    facts.sent_at = moment(layer.body.get("Time"));
    Some(Opening::facts(facts))
}
