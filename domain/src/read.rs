//! Reading a dead message: envelope, failure, class and category, fingerprint, impact.
//!
//! [`read`] is total: whatever the body is, it gives a reading, in work that is bounded by the message's size. It
//! is deterministic and knows no clock, so the same message reads the same everywhere.

pub mod frames;
pub mod json;
pub mod stamp;

mod classify;
mod costs;
mod envelope;
mod fingerprint;
mod template;
mod when;

pub use fingerprint::FINGERPRINT_VERSION;
pub use stamp::{STAMP_VERSION, Stamp};

use crate::id::{GroupId, MessageId, QueueArn};
use crate::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE, Marker};
use crate::merge::Skeleton;
use crate::message::{Content, DeadMessage};
use crate::policy::Policy;
use crate::reading::{Classification, EnvelopeKind, Failure, Reading};
use alloc::string::{String, ToString};
use frames::Stack;
use json::Raw;

/// The names under which messages tell their type, in attributes and in bodies; the first that is there wins.
const MESSAGE_TYPE_NAMES: [&str; 6] = ["message_type", "messageType", "type", "eventType", "event_type", "detail-type"];

/// The longest text that is taken as a message type, bytes.
const MESSAGE_TYPE_BYTES_MAX: usize = 200;

/// What is judged of one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The group: the fingerprint.
    pub group: GroupId,
    /// Class, category, confidence and reason.
    pub classification: Classification,
    /// A title that a person understands.
    pub title: String,
    /// Where it was thrown.
    pub culprit: Option<String>,
}

/// All that bears on a failure's verdict.
#[derive(Clone, Copy)]
struct Case<'a> {
    failure: &'a Failure,
    /// Part of the fingerprint: one error on two queues is two causes to fix.
    main_queue: Option<&'a QueueArn>,
    stack: &'a Stack,
    /// What is wrong with the body as such, looked at only where no error is carried.
    payload_problem: Option<&'static str>,
    message_type: Option<&'a str>,
    /// Its own deadline had passed when the consumer failed on it.
    expired: bool,
}

/// Judges a failure by itself, with the body of the message where it is known.
pub fn classify_failure(failure: &Failure, body: Option<&str>, policy: &Policy) -> Verdict {
    let (stack, payload_problem) = evidence(failure, body);
    judge(
        Case { failure, main_queue: None, stack: &stack, payload_problem, message_type: None, expired: false },
        policy,
    )
}

/// What a merge above the fingerprint sees of a failure: asked for once, when its fingerprint is first met. Nothing
/// where the fingerprint does not depend on the message.
pub fn skeleton(failure: &Failure, main_queue: Option<&QueueArn>) -> Option<Skeleton> {
    let stack = frames::parse(failure.stack.as_deref().unwrap_or_default());
    let case = Case { failure, main_queue, stack: &stack, payload_problem: None, message_type: None, expired: false };
    fingerprint::skeleton(case)
}

/// What is read once for both fingerprint and class.
fn evidence(failure: &Failure, body: Option<&str>) -> (Stack, Option<&'static str>) {
    let problem = || classify::payload_problem(body);
    let stack = frames::parse(failure.stack.as_deref().unwrap_or_default());
    (stack, failure.is_empty().then(problem).flatten())
}

fn judge(case: Case<'_>, policy: &Policy) -> Verdict {
    let found = fingerprint::of(case);
    Verdict {
        group: found.group,
        classification: classify::classify(case, policy),
        title: found.title,
        culprit: found.culprit,
    }
}

/// Reads a dead message. Total: content never makes it fail.
pub fn read(message: &DeadMessage, policy: &Policy) -> Reading {
    let opened = envelope::open(message);
    let mut remarks = opened.remarks.clone();
    let original = original_content(message, opened.original_body.as_deref());
    let inner = opened.inner_body.as_deref().unwrap_or(&original.body);
    let body = Raw::of(inner);
    let stamp = opened.stamp.as_ref();
    let system = &message.system;

    let main_queue = stamp.and_then(|s| s.main_queue.clone()).or_else(|| system.source_queue.clone());
    let message_type = opened.message_type.clone().or_else(|| message_type(&message.content, body));
    let impact = costs::impact(body, message_type.as_deref(), policy, &mut remarks);
    let failed_at = opened.failed_at;
    let sent_at = stamp.and_then(|s| s.first_sent_at).or(system.sent_at);
    if opened.failure.is_empty() {
        remarks.push(no_error_remark(opened.kind).to_string());
    }
    let (stack, payload_problem) = evidence(&opened.failure, Some(inner));
    let verdict = judge(
        Case {
            failure: &opened.failure,
            main_queue: main_queue.as_ref(),
            stack: &stack,
            payload_problem,
            message_type: message_type.as_deref(),
            expired: impact.deadline.zip(failed_at).is_some_and(|(deadline, failed)| deadline < failed),
        },
        policy,
    );
    Reading {
        envelope: opened.kind,
        replayability: opened.replayability(),
        original_message_id: opened
            .original_message_id
            .as_deref()
            .map_or_else(|| message.message_id.clone(), MessageId::from),
        marker: message.content.attributes.get(MARKER_ATTRIBUTE).and_then(|a| Marker::parse(a.as_text()?)),
        consumer: opened.consumer,
        consumer_version: opened.consumer_version,
        attempts: opened.attempts,
        failure: opened.failure,
        main_queue,
        original,
        classification: verdict.classification,
        group: verdict.group,
        title: verdict.title,
        culprit: verdict.culprit,
        message_type,
        impact,
        sent_at,
        failed_at,
        remarks,
    }
}

/// What was on the main queue: without our own attributes, and without the envelope where the original is inside.
fn original_content(message: &DeadMessage, inner: Option<&str>) -> Content {
    let mut content = message.content.clone();
    content.attributes.remove(FAILURE_ATTRIBUTE);
    content.attributes.remove(MARKER_ATTRIBUTE);
    if let Some(inner) = inner {
        content.body = inner.to_string();
    }
    content
}

fn message_type(content: &Content, body: Raw<'_>) -> Option<String> {
    let fits = |text: &String| !text.is_empty() && text.len() <= MESSAGE_TYPE_BYTES_MAX;
    let attribute = |name: &&str| content.attributes.get(*name)?.as_text().map(String::from).filter(fits);
    let field = || body.first(&MESSAGE_TYPE_NAMES).and_then(Raw::as_string).filter(fits);
    MESSAGE_TYPE_NAMES.iter().find_map(attribute).or_else(field)
}

fn no_error_remark(kind: EnvelopeKind) -> &'static str {
    match kind {
        EnvelopeKind::SqsRedrive => "SQS moved this message by its redrive policy, which does not say why it failed.",
        EnvelopeKind::Consumer => "The consumer's stamp names no error.",
        _ => "The message carries no error.",
    }
}

#[cfg(test)]
#[path = "read/read_tests.rs"]
mod tests;
