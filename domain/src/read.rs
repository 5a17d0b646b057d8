//! Reading a dead message: envelope, failure, class and category, fingerprint, impact.
//!
//! [`read`] is total: whatever the body is, it gives a reading, in work that is bounded by the message's size. It
//! is deterministic and knows no clock, so the same message reads the same everywhere.

pub mod frames;
pub mod json;
pub mod stamp;

mod classify;
pub(crate) mod costs;
mod envelope;
mod fingerprint;
mod sorted;
mod template;
mod unread;
mod when;

pub(crate) use template::is_file_path;

pub use envelope::PayloadPlace;
pub use fingerprint::FINGERPRINT_VERSION;
pub use stamp::{STAMP_VERSION, Stamp};
pub use unread::unread;

use crate::id::{GroupId, MessageId, QueueArn};
use crate::impact::Impact;
use crate::marker::{MARKER_ATTRIBUTE, Marker};
use crate::merge::Skeleton;
use crate::message::DeadMessage;
use crate::policy::Policy;
use crate::reading::{Classification, Diagnosis, EnvelopeKind, Failure, Reading, Replayability};
use crate::time::Timestamp;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use envelope::{Facts, Layer, Opened};
use frames::Stack;
use json::Raw;

/// The names under which messages tell their type, in attributes and in bodies; the first that is there wins.
const MESSAGE_TYPE_NAMES: [&str; 6] = ["message_type", "messageType", "type", "eventType", "event_type", "detail-type"];

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

/// What is read from the innermost layer of a letter.
#[derive(Default)]
struct Inside {
    impact: Impact,
    payload_problem: Option<&'static str>,
}

/// Reads a dead message. Total: content never makes it fail.
pub fn read(message: &DeadMessage, policy: &Policy) -> Reading {
    let system = &message.system;
    let mut inside = Inside::default();
    let mut opened =
        envelope::open(message, &mut |payload, facts| inside = read_inside(message, payload, facts, policy));
    let original = opened.original_content(message);
    let Opened { kind, mut facts, stamp, .. } = opened;

    let main_queue = facts.main_queue.take().or_else(|| system.source_queue.clone());
    let sent_at = sent_at(message, stamp.is_some(), facts.sent_at, &mut facts.remarks);
    let redriven = system.source_queue.is_some();
    if facts.failure.is_empty() {
        facts.remarks.push(no_error_remark(kind).to_string());
    }
    facts.bound_remarks();
    let stack = frames::parse(facts.failure.stack.as_deref().unwrap_or_default());
    let verdict = judge(
        Case {
            failure: &facts.failure,
            main_queue: main_queue.as_ref(),
            stack: &stack,
            payload_problem: inside.payload_problem,
            message_type: facts.message_type.as_deref(),
            expired: inside.impact.deadline.zip(facts.failed_at).is_some_and(|(deadline, failed)| deadline < failed),
        },
        policy,
    );
    Reading {
        original_message_id: facts
            .original_message_id
            .as_deref()
            .map_or_else(|| message.message_id.clone(), MessageId::from),
        marker: marker_of(message),
        main_queue,
        original,
        group: verdict.group,
        culprit: verdict.culprit,
        sent_at,
        failed_at: facts.failed_at,
        diagnosis: Diagnosis {
            envelope: kind,
            replayability: facts.not_replayable.unwrap_or(Replayability::Replayable),
            consumer: facts.consumer,
            consumer_version: facts.consumer_version,
            producer: facts.producer,
            producer_version: facts.producer_version,
            tenant: facts.tenant,
            attempts: facts.attempts,
            failure: facts.failure,
            classification: classify::after_replays(verdict.classification, marker_of(message).as_ref()),
            title: verdict.title,
            message_type: facts.message_type,
            impact: inside.impact,
            first_tried_at: facts.first_tried_at.or(system.first_received_at.filter(|_| redriven)),
            remarks: facts.remarks,
        },
    }
}

/// Type, tenant, producer and impact, from where a consumer would read them.
fn read_inside(message: &DeadMessage, payload: &Layer<'_>, facts: &mut Facts, policy: &Policy) -> Inside {
    let told = |names: &[&str]| told(message, payload, names);
    facts.bound_names();
    facts.message_type = facts.message_type.take().or_else(|| told(&MESSAGE_TYPE_NAMES));
    let tenant = || told(envelope::TENANTS).or_else(|| beside(payload, envelope::TENANTS));
    facts.tenant = facts.tenant.take().or_else(tenant).or_else(|| fair_queue_tenant(message));
    let producer = || told(envelope::PRODUCERS).or_else(|| beside(payload, envelope::PRODUCERS));
    facts.producer = facts.producer.take().or_else(producer);
    facts.producer_version = facts.producer_version.take().or_else(|| told(envelope::PRODUCER_VERSIONS));
    let raw = Raw::of(payload.text);
    let message_type = facts.message_type.as_deref();
    let payload_of = costs::Payload { raw, members: &payload.body, message_type, told_deadline: facts.deadline };
    let unread = facts.failure.is_empty() && payload.whole;
    Inside {
        impact: costs::impact(payload_of, policy, &mut facts.remarks),
        payload_problem: unread.then(|| classify::payload_problem(Some(payload.text))).flatten(),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= envelope::NAME_BYTES_MAX
}

/// What the message says under one of these names: in its attributes, in the headers of its wrapping, in its body.
fn told(message: &DeadMessage, payload: &Layer<'_>, names: &[&str]) -> Option<String> {
    let attributes = &message.content.attributes;
    let attribute = |name: &&str| attributes.get(*name)?.as_text().filter(|text| is_name(text)).map(String::from);
    let header = || payload.headers.first(names).filter(|text| is_name(text));
    let field = || payload.body.scalar(names).filter(|text| is_name(text));
    let named = if attributes.is_empty() { None } else { names.iter().find_map(attribute) };
    named.or_else(|| if payload.outermost { None } else { header() }).or_else(field)
}

/// What stands one level down, where events have their data and their metadata.
fn beside(payload: &Layer<'_>, names: &[&str]) -> Option<String> {
    const PLACES: [&str; 5] = ["metadata", "meta", "data", "detail", "message"];
    let inside = |place: &&str| payload.body.get(place).filter(|raw| raw.is_object())?.first(names)?.as_scalar();
    PLACES.iter().find_map(inside).filter(|text| is_name(text))
}

/// On a standard queue the group id is the tenant, for fairness' sake (SQS developer guide, "Fair queues").
fn fair_queue_tenant(message: &DeadMessage) -> Option<String> {
    message.content.message_group_id.clone().filter(|_| !message.is_fifo())
}

/// When the message was first sent, as far as anybody knows.
fn sent_at(
    message: &DeadMessage,
    stamped: bool,
    told: Option<Timestamp>,
    remarks: &mut Vec<String>,
) -> Option<Timestamp> {
    let lies_since = message.system.sent_at;
    match (message.system.source_queue.is_some() && !stamped, message.is_fifo()) {
        // The move to the dead-letter queue keeps the time on standard queues, and sets it anew on FIFO (facts 1.1).
        (true, false) => lies_since.or(told),
        (true, true) if told.is_none() => {
            remarks
                .push("On FIFO queues the time of sending is that of the move to the dead-letter queue.".to_string());
            lies_since
        }
        _ => told.or(lies_since),
    }
}

/// The marker of an earlier replay of ours.
fn marker_of(message: &DeadMessage) -> Option<Marker> {
    message.content.attributes.get(MARKER_ATTRIBUTE).and_then(|attribute| Marker::parse(attribute.as_text()?))
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
