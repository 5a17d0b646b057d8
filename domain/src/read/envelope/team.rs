//! An error envelope in the body, as teams write it: the message beside the reason of its failure, and what was
//! processing it.

use super::facts::{Facts, carried};
use super::failure::{failure_in, failure_of, unwrapped};
use super::layer::Layer;
use super::{Opening, record};
use crate::read::json::Index;

const ORIGINALS: [&str; 8] = [
    "originalMessage",
    "original_message",
    "originalPayload",
    "original_payload",
    "originalBody",
    "original_body",
    "originalEvent",
    "original_event",
];
const REASONS: [&str; 8] =
    ["failureReason", "failure_reason", "failure", "error", "errorInfo", "errorDetails", "exception", "reason"];
/// Where the reason is not in an object of its own.
const FLAT: [&str; 4] = ["errorMessage", "error_message", "errorType", "error_type"];
const CONTEXTS: [&str; 8] = [
    "processingContext",
    "processing_context",
    "environmentContext",
    "environment_context",
    "context",
    "metadata",
    "environment",
    "source",
];

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let original = layer.body.first(&ORIGINALS)?;
    let failure = match layer.body.first(&REASONS) {
        Some(reason) => failure_of(reason),
        None => {
            layer.body.first(&FLAT)?;
            unwrapped(failure_in(&layer.body))
        }
    };
    let mut facts = Facts { failure, ..Facts::default() };
    for context in CONTEXTS.iter().filter_map(|name| layer.body.get(name)).filter(|raw| raw.is_object()) {
        let mut told = Facts::in_context(&Index::of(context));
        // The version may stand in another context than the name.
        facts.consumer_version = facts.consumer_version.take().or(told.consumer_version.take());
        facts.fill_all(told);
    }
    // What stands beside the original itself; a bare `messageId` may be anybody's: two letters that claim one id would
    // be taken for one.
    facts.fill_all(Facts::in_context(&layer.body));
    if !original.is_object() {
        return Some(Opening::original(facts, Some(carried(original))));
    }
    let Some(mut kept) = record::open(original) else {
        return Some(Opening::original(facts, Some(carried(original))));
    };
    // The record is what SQS handed over: it knows its own id and queue best.
    facts.original_message_id = kept.facts.original_message_id.take();
    facts.main_queue = kept.facts.main_queue.take().or(facts.main_queue);
    facts.fill_all(kept.facts);
    Some(Opening { facts, inner: kept.inner, stamp: None })
}
