//! AWS Lambda: the asynchronous dead-letter queue, the on-failure destination, and the failed batch of a stream
//! (Lambda developer guide: "Adding a dead-letter queue", "Capturing records of asynchronous invocations", "Capturing
//! discarded batches"). EventBridge Pipes writes batches in the same form.

use super::Opening;
use super::facts::{Facts, carried, moment};
use super::failure::{failure_of, unwrapped};
use super::layer::Layer;
use super::restored::Restored;
use super::thrown;
use crate::read::json::{Index, Raw};
use crate::reading::Replayability;
use alloc::borrow::ToOwned;
use alloc::format;

/// Members with a batch's position.
const BATCHES: [&str; 2] = ["KinesisBatchInfo", "DDBStreamBatchInfo"];

/// A function's dead-letter queue; the body is the event.
pub fn asynchronous<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    // Lambda's event for SNS is never the bare notification: SNS itself gave up on that one.
    if layer.body.get("TopicArn").is_some() { None } else { refused(layer) }
}

/// The attributes RequestID, ErrorCode and ErrorMessage, which Lambda and SNS both use.
pub fn refused<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let request = layer.headers.get("RequestID")?;
    let code = layer.headers.get("ErrorCode")?;
    let mut facts = Facts::remark(format!("Request ID: {request}."));
    facts.failure = unwrapped(thrown::read(&layer.headers.get("ErrorMessage")?));
    // 200 means that the function itself returned an error; other codes come from the service.
    if code != "200" {
        facts.remarks.push(format!("Error code: {code}."));
        if facts.failure.error_type.is_none() {
            facts.failure.error_type = Some(code.into_owned());
        }
    }
    Some(Opening::facts(facts))
}

/// An asynchronous invocation that failed for good: request and response.
pub fn destination<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let request = Index::new(layer.body.get("requestContext")?);
    let condition = request.text("condition").filter(|_| layer.body.first(&BATCHES).is_none())?;
    let mut facts = Facts {
        attempts: request.scalar(&["approximateInvokeCount"]).and_then(|n| n.parse().ok()),
        failed_at: moment(layer.body.get("timestamp")),
        consumer: request.scalar(&["functionArn"]),
        ..Facts::default()
    };
    let response = layer.body.get("responseContext").map(Index::new).unwrap_or_default();
    facts.consumer_version = response.scalar(&["executedVersion"]);
    if let Some(answer) = layer.body.get("responsePayload") {
        facts.failure = failure_of(answer);
    }
    if facts.failure.is_empty() {
        facts.failure.error_type = Some(response.text("functionError").unwrap_or(condition).into_owned());
    }
    let original = layer.body.get("requestPayload").and_then(Restored::from_body);
    if original.is_none() {
        let reason = "The record of the invocation does not contain the event.".into();
        facts.not_replayable = Some(Replayability::MetadataOnly { reason });
    }
    Some(Opening::original(facts, original))
}

/// A batch of a stream: its position, without its records.
pub fn stream<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let request = Index::new(layer.body.first(&["requestContext", "context"])?);
    let condition = request.text("condition")?;
    let batch = Index::new(layer.body.first(&BATCHES)?);
    let mut facts = Facts {
        attempts: request.scalar(&["approximateInvokeCount"]).and_then(|n| n.parse().ok()),
        failed_at: moment(layer.body.get("timestamp")),
        sent_at: moment(batch.get("approximateArrivalOfFirstRecord")),
        consumer: request.scalar(&["functionArn", "partnerResourceArn", "pipeArn"]),
        ..Facts::default()
    };
    if let Some(answer) = layer.body.get("responsePayload") {
        facts.failure = failure_of(answer);
    }
    if facts.failure.is_empty() {
        facts.failure.error_type = Some(condition.into_owned());
    }
    let field = |name: &str| batch.scalar(&[name]).unwrap_or_else(|| "?".to_owned());
    let reason = format!(
        "Only the position of {} records was kept (stream {}, {}, from {} to {}), not the records themselves.",
        field("batchSize"),
        field("streamArn"),
        field("shardId"),
        field("startSequenceNumber"),
        field("endSequenceNumber"),
    );
    facts.not_replayable = Some(Replayability::MetadataOnly { reason });
    // Destinations in S3 also contain the records (Lambda developer guide, "services-dynamodb-errors").
    Some(Opening::payload(facts, layer.body.get("payload").filter(|raw| !Raw::is_object(*raw)).map(carried), None))
}
