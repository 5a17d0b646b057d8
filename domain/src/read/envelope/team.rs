//! An error envelope that a team writes into the body: the message, the reason of its failure, and the processing
//! context.

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
/// Fields of a reason without an object of its own.
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
        let mut stated = Facts::in_context(&Index::new(context));
        // The version may be in another context than the name.
        facts.consumer_version = facts.consumer_version.take().or(stated.consumer_version.take());
        facts.fill_all(stated);
    }
    // Facts next to the original itself. A bare `messageId` does not count because it may be any id: two letters with
    // the same id would be taken for one.
    facts.fill_all(Facts::in_context(&layer.body));
    if !original.is_object() {
        return Some(Opening::original(facts, Some(carried(original))));
    }
    let Some(mut kept) = record::open(original) else {
        return Some(Opening::original(facts, Some(carried(original))));
    };
    // The record comes from SQS itself, so its id and queue take precedence.
    facts.original_message_id = kept.facts.original_message_id.take();
    facts.main_queue = kept.facts.main_queue.take().or(facts.main_queue);
    facts.fill_all(kept.facts);
    Some(Opening { facts, inner: kept.inner, stamp: None })
}
