//! An error envelope that a team writes into the body: the message, the reason of its failure, and the processing
//! context. Names count in any spelling.
//!
//! An application's own event may also have an original and an error, so a letter is unwrapped only if the form is
//! unmistakable. In doubt the failure is read, and the body stays.

use super::context::{self, LAST_TRIED, Named, TIMES};
use super::facts::Facts;
use super::failure::{failure_of, stated, unwrapped, with_type};
use super::layer::Layer;
use super::restored::{Restored, UNRECORDED};
use super::thrown::{self, TRACEBACKS};
use super::{Inner, Opening, record};
use crate::read::json::Raw;
use crate::reading::{Failure, Replayability};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

const ORIGINALS: &[&str] = &["originalMessage", "originalPayload", "originalBody", "originalEvent"];
const REASONS: &[&str] =
    &["failureReason", "failure", "failureDetails", "error", "errorInfo", "errorDetails", "exception", "lastError"];
/// Also a word of applications: "reason" says that something failed only next to a context.
const VAGUE_REASONS: &[&str] = &["reason"];
/// Parts of a reason without an object of its own.
pub const FLAT_TYPES: &[&str] =
    &["errorType", "exceptionType", "errorClass", "exceptionClass", "failureType", "errorName", "errorCode"];
pub const FLAT_MESSAGES: &[&str] =
    &["errorMessage", "exceptionMessage", "failureMessage", "errorReason", "errorDescription", "failureDescription"];
pub const FLAT_STACKS: &[&str] = &["errorStack", "stackTrace", "errorStackTrace", "exceptionStackTrace", "stack"];
/// Contexts that nothing but an error envelope has.
const PROCESSING: &[&str] = &["processingContext", "failureContext", "errorContext", "executionContext"];
const ENVIRONMENT: &[&str] = &["environmentContext", "runtimeContext", "deploymentContext"];
const OTHER_CONTEXTS: &[&str] = &["processingInfo", "processing", "context", "metadata", "environment", "source"];
/// Facts about the original next to it.
pub const ATTRIBUTES: &[&str] = &["originalMessageAttributes", "originalAttributes", "messageAttributes"];
const GROUPS: &[&str] = &["originalMessageGroupId", "messageGroupId"];
const ENCODINGS: &[&str] = &["originalMessageEncoding", "originalEncoding", "contentEncoding", "encoding"];
const IN_BASE64: &[&str] = &["isBase64Encoded", "isBase64", "base64Encoded"];
const TRUNCATED: &[&str] = &["originalMessageTruncated", "payloadTruncated", "isTruncated", "truncated"];
/// Members that make an envelope, besides the facts of `context`.
const PARTS: &[&[&str]] = &[
    ORIGINALS,
    REASONS,
    FLAT_TYPES,
    FLAT_MESSAGES,
    FLAT_STACKS,
    PROCESSING,
    ENVIRONMENT,
    OTHER_CONTEXTS,
    ATTRIBUTES,
    GROUPS,
    ENCODINGS,
    IN_BASE64,
    TRUNCATED,
];

/// The remark on a body that stays, because it may be the application's own event.
pub const DOUBTFUL: &str = "It looks like an error envelope, but it may be an event of your own. It is sent back as it is. A payload transform can send only the original.";
const MISSING: &str = "The error envelope does not contain the original message.";
const CUT: &str = "The error envelope says that it truncated the original message.";

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let envelope = Named::from_index(&layer.body);
    let (stated, evident) = match failure(layer, &envelope, REASONS) {
        Some(failure) => (Some(failure), true),
        None => (failure(layer, &envelope, VAGUE_REASONS), false),
    };
    let objects = |names| envelope.all(names).filter(|raw| raw.is_object()).map(Named::new);
    let own: Vec<_> = objects(PROCESSING).chain(objects(ENVIRONMENT)).collect();
    // Signs next to the original: a failure and contexts.
    let signs = usize::from(stated.is_some()) + own.len();
    let is_envelope = stated.is_some() || signs > 1;
    let traced = if stated.is_none() { traced(&envelope) } else { None };
    if !is_envelope && traced.is_none() {
        return None;
    }
    let others: Vec<_> = objects(OTHER_CONTEXTS).collect();
    let contexts: Vec<_> = own.iter().chain(&others).collect();
    let facts = facts(stated.or(traced).unwrap_or_default(), &envelope, &contexts);
    if !is_envelope {
        return Some(doubtful(facts));
    }

    let original = envelope.all(ORIGINALS).find(|raw| raw.is_object() || raw.is_array() || raw.says_something());
    // Its text is long and is needed twice.
    let original = original.map(|raw| (raw, raw.as_text()));
    let recorded = original.as_ref().and_then(|(raw, text)| recorded(*raw, text.as_deref()));
    let certain = signs > 1 || evident && (recorded.is_some() || context::consists_of(&envelope, PARTS));
    Some(match certain {
        true => unwrap(facts, &envelope, original, recorded),
        false => doubtful(facts),
    })
}

/// The failure as evidence, and nothing else.
fn doubtful<'a>(mut facts: Facts) -> Opening<'a> {
    (facts.original_message_id, facts.main_queue) = (None, None);
    facts.remarks.push(DOUBTFUL.into());
    Opening::facts(facts)
}

fn unwrap<'a>(
    mut facts: Facts,
    envelope: &Named<'a>,
    original: Option<(Raw<'a>, Option<Cow<'a, str>>)>,
    recorded: Option<Opening<'a>>,
) -> Opening<'a> {
    if envelope.is_true(TRUNCATED) {
        facts.not_replayable = Some(Replayability::Truncated { reason: CUT.into() });
    }
    if let Some(mut record) = recorded {
        // A record names its id and queue, so that they take precedence over what is written around it.
        facts.original_message_id = record.facts.original_message_id.take();
        facts.main_queue = record.facts.main_queue.take().or(facts.main_queue);
        facts.fill_all(record.facts);
        return Opening { facts, inner: record.inner, is_stamped: false };
    }
    let Some(restored) = original.and_then(|(raw, text)| Restored::with_text(raw, text)) else {
        facts.not_replayable.get_or_insert(Replayability::MetadataOnly { reason: MISSING.into() });
        return Opening::facts(facts);
    };
    let encoding = match envelope.is_true(IN_BASE64) {
        true => Some(String::from("base64")),
        false => envelope.scalar(ENCODINGS),
    };
    let mut restored = restored.decoded(encoding.as_deref());
    match envelope.all(ATTRIBUTES).find(|raw| raw.is_object()) {
        Some(attributes) => restored = restored.with_attributes(attributes),
        None => restored.remarks.push(UNRECORDED.into()),
    }
    restored.message_group_id = envelope.scalar(GROUPS);
    Opening { facts, inner: Inner::Original(restored), is_stamped: false }
}

/// Reads the original as a whole SQS record: an object, or its JSON as text.
fn recorded<'a>(original: Raw<'a>, text: Option<&str>) -> Option<Opening<'a>> {
    let Some(text) = text else {
        return record::is_record(original).then(|| record::open(original)).flatten();
    };
    let raw = Raw::new(text);
    let opening = (raw.is_object() && record::is_record(raw)).then(|| record::open(raw)).flatten()?;
    let Inner::Original(restored) = opening.inner else { return None };
    Some(Opening { facts: opening.facts, inner: Inner::Original(restored.into_owned()), is_stamped: false })
}

/// Reads a stack without any other word about the failure.
fn traced(envelope: &Named<'_>) -> Option<Failure> {
    let mut failure = Failure { stack: stack(envelope), ..Failure::default() };
    thrown::complete(&mut failure);
    (!failure.is_empty()).then_some(failure)
}

/// Returns what certainly is a stack.
fn stack(members: &Named<'_>) -> Option<String> {
    members.all(TRACEBACKS).chain(members.all(FLAT_STACKS)).find_map(thrown::stack_of)
}

/// Reads the failure: an object, a text, or members of the envelope itself. Parts that one place lacks come from the
/// others.
fn failure(layer: &Layer<'_>, envelope: &Named<'_>, reasons: &'static [&'static str]) -> Option<Failure> {
    // An object says more than a code next to it.
    let reasons = envelope.all(reasons).filter(|raw| raw.is_object() || raw.says_something());
    let (objects, texts): (Vec<Raw<'_>>, Vec<_>) = reasons.partition(|raw| raw.is_object());
    let text = |names| envelope.scalar(names);
    let flat = Failure {
        error_type: text(FLAT_TYPES),
        message: text(FLAT_MESSAGES),
        stack: text(FLAT_STACKS).or_else(|| stack(envelope)),
        stated_class: stated(&layer.body),
    };
    let is_flat = flat.error_type.is_some() || flat.message.is_some();
    if objects.is_empty() && texts.is_empty() && !is_flat {
        return None;
    }
    let of_reason = |raw: Raw<'_>| {
        let failure = failure_of(raw);
        Failure { stack: failure.stack.or_else(|| stack(&Named::new(raw))), ..failure }
    };
    let stated = objects.into_iter().chain(texts).map(of_reason).chain([flat]);
    let mut failure = stated.reduce(|first, other| Failure {
        error_type: first.error_type.or(other.error_type),
        message: first.message.or(other.message),
        stack: first.stack.or(other.stack),
        stated_class: first.stated_class.or(other.stated_class),
    })?;
    if failure.error_type.is_none() {
        failure = with_type(failure);
    }
    failure = unwrapped(failure);
    thrown::complete(&mut failure);
    Some(failure)
}

/// Reads what the contexts, the reason and the envelope itself record about the attempts.
fn facts(failure: Failure, envelope: &Named<'_>, contexts: &[&Named<'_>]) -> Facts {
    let mut facts = context::facts(contexts);
    let mut outside = context::facts(&[envelope]);
    // A bare version next to the original is the envelope's.
    outside.consumer_version.take_if(|_| outside.consumer.is_none());
    facts.fill_all(outside);
    let reason = envelope.all(REASONS).find(|raw| raw.is_object()).map(Named::new);
    let thrown_at = reason.as_ref().and_then(|reason| reason.moment(LAST_TRIED).or_else(|| reason.moment(TIMES)));
    // The last attempt began before its error: the later time is the failure's.
    facts.failed_at = facts.failed_at.max(thrown_at);
    let places: Vec<_> = contexts.iter().copied().chain([envelope]).chain(&reason).collect();
    if facts.failed_at.is_none() {
        facts.failed_at = places.iter().find_map(|place| place.moment(TIMES));
    }
    facts.remarks.extend(context::circumstances(&places));
    facts.failure = failure;
    facts
}
