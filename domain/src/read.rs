//! Reads a dead message: envelope, failure, class and category, fingerprint, impact.
//!
//! [`read`] is total: it returns a reading for any body, and its work is bounded by the message's size. It is
//! deterministic and takes no clock, so the same message gives the same reading on every machine.

pub mod frames;
pub mod json;
pub mod stamp;

mod classify;
pub(crate) mod costs;
mod dated;
mod envelope;
mod fingerprint;
mod origin;
mod sorted;
mod template;
mod times;
mod title;
mod type_name;
mod unread;
mod vocabulary;
mod when;

pub(crate) use classify::after_replays;
pub(crate) use template::{MASK, is_file_path, is_media_type};
pub(crate) use title::values as title_values;
pub(crate) use vocabulary::holds as is_word_of_failure;
pub(crate) use when::parse as moment;

pub use classify::objects::error_type;
pub use classify::weighed_hashes;
pub use dated::{date, may_be_undated};
pub use envelope::PayloadLocation;
pub use fingerprint::{FINGERPRINT_VERSION, Skeleton};
pub use stamp::{STAMP_VERSION, Stamp};
pub use unread::unread;

use crate::id::{GroupId, QueueArn};
use crate::impact::Impact;
use crate::marker::{MARKER_ATTRIBUTE, Marker};
use crate::message::DeadMessage;
use crate::policy::Policy;
use crate::reading::{Classification, Diagnosis, EnvelopeKind, Failure, Reading, Replayability};
use crate::reported::ReportedReason;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use envelope::{Facts, Layer, Opened};
use frames::Stack;
use json::Raw;
use origin::{Claim, Origin, origin};

/// The names under which messages state their type, in attributes and in bodies. The first name that is present wins.
const MESSAGE_TYPE_NAMES: [&str; 6] = ["message_type", "messageType", "type", "eventType", "event_type", "detail-type"];

/// The group, classification, title and location of one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The group: the fingerprint.
    pub group: GroupId,
    /// Class, category, confidence and reason.
    pub classification: Classification,
    /// A title for people.
    pub title: String,
    /// Where the error was thrown.
    pub culprit: Option<String>,
}

/// Everything that the assessment of a failure depends on.
#[derive(Clone, Copy)]
struct Case<'a> {
    failure: &'a Failure,
    /// Part of the fingerprint: the same error on two queues is two things to fix.
    main_queue: Option<&'a QueueArn>,
    stack: &'a Stack<'a>,
    /// What is wrong with the body itself; checked only if the message carries no error.
    payload_problem: Option<&'static str>,
    message_type: Option<&'a str>,
    /// Whether the message's own deadline had passed when the consumer failed.
    expired: bool,
    /// Who claims the failure's class, in words.
    claimant: &'static str,
}

/// The claimant of a class in the stamp.
const STAMP: &str = "the consumer's stamp";

/// Assesses a failure without its message. `body`, if known, is checked for malformed JSON when the failure is empty.
///
/// ```
/// use domain::policy::Policy;
/// use domain::reading::{Category, Class, Failure};
///
/// let failure = Failure {
///     error_type: Some("java.net.SocketTimeoutException".into()),
///     message: Some("Read timed out".into()),
///     ..Failure::default()
/// };
/// let found = domain::read::classify_failure(&failure, None, &Policy::default());
/// assert_eq!(found.classification.class, Class::Transient);
/// assert_eq!(found.classification.category, Category::Timeout);
/// assert_eq!(found.title, "SocketTimeoutException: Read timed out");
/// ```
pub fn classify_failure(failure: &Failure, body: Option<&str>, policy: &Policy) -> Assessment {
    let (stack, payload_problem) = evidence(failure, body);
    assess(Case { payload_problem, ..bare(failure, None, &stack) }, policy).0
}

/// A failure without its message.
fn bare<'a>(failure: &'a Failure, main_queue: Option<&'a QueueArn>, stack: &'a Stack<'a>) -> Case<'a> {
    Case { failure, main_queue, stack, payload_problem: None, message_type: None, expired: false, claimant: STAMP }
}

/// Returns what merging compares of a failure. Called once, when its fingerprint is first seen. Returns `None` if the
/// fingerprint does not depend on the error message.
pub fn skeleton(failure: &Failure, main_queue: Option<&QueueArn>) -> Option<Skeleton> {
    let stack = frames::parse(failure.stack.as_deref().unwrap_or_default());
    fingerprint::skeleton(bare(failure, main_queue, &stack))
}

/// Parses what both the fingerprint and the class need.
fn evidence<'a>(failure: &'a Failure, body: Option<&str>) -> (Stack<'a>, Option<&'static str>) {
    let problem = || classify::payload_problem(body);
    let stack = frames::parse(failure.stack.as_deref().unwrap_or_default());
    (stack, failure.is_empty().then(problem).flatten())
}

/// Assesses a failure, and returns a remark if it contradicts the class that the letter claims.
fn assess(case: Case<'_>, policy: &Policy) -> (Assessment, Option<String>) {
    let found = fingerprint::compute(case);
    let classification = classify::classify(case, policy);
    let remark = classify::contradiction(case, &classification);
    (Assessment { group: found.group, classification, title: found.title, culprit: found.culprit }, remark)
}

/// The results that come from the innermost layer of a letter.
#[derive(Default)]
struct Inside {
    impact: Impact,
    payload_problem: Option<&'static str>,
    /// The error next to the message, if the body may be a wrapper of both.
    beside: Option<Failure>,
    /// Where the message is in that body; see `Letter::original_at`.
    original_at: Option<String>,
}

/// Reads a dead message. Never fails: every message gives a reading, whatever it contains.
///
/// ```
/// use domain::message::{Content, DeadMessage, SystemAttributes};
/// use domain::policy::Policy;
///
/// let body = r#"{"type":"order.placed","amount":"12.50","currency":"EUR"}"#;
/// let message = DeadMessage {
///     dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
///     message_id: "m-1".into(),
///     content: Content { body: body.into(), ..Content::default() },
///     system: SystemAttributes::default(),
/// };
/// let reading = domain::read::read(&message, &Policy::default());
/// assert_eq!(reading.diagnosis.title, "No error recorded: order.placed");
/// assert_eq!(reading.diagnosis.impact.money.unwrap().amount.to_string(), "12.50");
/// assert_eq!(reading.original.body, body);
/// ```
pub fn read(message: &DeadMessage, policy: &Policy) -> Reading {
    read_with(message, policy, None)
}

/// Reads a dead message as [`read`] does, with the reason that consumers reported for it. What the message itself says
/// about its failure counts first. A report never changes the message's identity, its impact or its main queue.
pub fn read_with(message: &DeadMessage, policy: &Policy, reason: Option<&ReportedReason>) -> Reading {
    let mut inside = Inside::default();
    let mut opened =
        envelope::open(message, &mut |payload, facts| inside = read_inside(message, payload, facts, policy));
    let original = opened.original_content(message);
    let Opened { kind, mut facts, is_stamped, .. } = opened;

    let claim = Claim { main_queue: facts.main_queue.take(), message_id: facts.original_message_id.take() };
    let Origin { main_queue, message_id } = origin(message, claim, &policy.queues, &mut facts.remarks);
    let died_at = times::check(message, kind, &mut facts, &mut inside.impact.deadline);
    let sent_at = sent_at(message, is_stamped, facts.sent_at, &mut facts.remarks);
    let reason = reason.filter(|_| facts.failure.is_empty());
    if let Some(ReportedReason { failure, reported }) = reason {
        facts.failure = failure.clone();
        facts.consumer_version = facts.consumer_version.take().or_else(|| reported.version.clone());
        inside.payload_problem = None;
    }
    take_from_attributes(message, &mut facts, &mut inside);
    let kind = take_from_wrapper(kind, &mut facts, &mut inside);
    facts.remarks.extend(facts.failure.is_empty().then(|| no_error_remark(kind).to_string()));
    let stack = frames::parse(facts.failure.stack.as_deref().unwrap_or_default());
    let (mut assessment, contradiction) = assess(
        Case {
            failure: &facts.failure,
            main_queue: main_queue.as_ref(),
            stack: &stack,
            payload_problem: inside.payload_problem,
            message_type: facts.message_type.as_deref(),
            expired: inside.impact.deadline.zip(facts.failed_at).is_some_and(|(deadline, failed)| deadline < failed),
            claimant: if kind == EnvelopeKind::Consumer { STAMP } else { "the letter's envelope" },
        },
        policy,
    );
    if let Some(reason) = reason {
        assessment.classification = classify::as_reported(assessment.classification, &reason.reported);
    }
    facts.remarks.extend(contradiction);
    facts.bound_remarks();
    Reading {
        original_message_id: message_id,
        marker: marker_of(message),
        main_queue,
        original,
        // The consumer crate leaves the body as it is.
        original_at: facts.original_at.filter(|_| !is_stamped),
        group: assessment.group,
        culprit: assessment.culprit,
        sent_at,
        failed_at: died_at,
        died_after: None,
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
            classification: assessment.classification,
            title: assessment.title,
            message_type: facts.message_type,
            impact: inside.impact,
            first_tried_at: facts.first_tried_at.or(message.system.first_attempt_at()),
            remarks: facts.remarks,
            reported: reason.map(|reason| reason.reported.clone()),
        },
    }
}

/// Takes the error from the message's attributes if nothing else says why it failed. What is wrong with its body is then
/// a remark.
fn take_from_attributes(message: &DeadMessage, facts: &mut Facts, inside: &mut Inside) {
    let attributes = &message.content.attributes;
    if !facts.failure.is_empty() || attributes.is_empty() {
        return;
    }
    let is_redriven = message.system.source_queue.is_some();
    let Some((failure, names)) = envelope::attributes::failure(attributes, is_redriven) else { return };
    facts.failure = failure;
    facts.remarks.push(envelope::attributes::remark(&names));
    if is_redriven {
        facts.remarks.push(envelope::CARRIED_BEFORE.into());
    }
    facts.remarks.extend(inside.payload_problem.take().map(|problem| format!("{problem}.")));
}

/// Takes the error that stands next to the message in the body, if nothing else says why it failed.
fn take_from_wrapper(kind: EnvelopeKind, facts: &mut Facts, inside: &mut Inside) -> EnvelopeKind {
    let Some(failure) = inside.beside.take() else { return kind };
    facts.remarks.push(envelope::wrapper::REMARK.to_string());
    facts.original_at = inside.original_at.take();
    if !facts.failure.is_empty() {
        return kind;
    }
    facts.failure = failure;
    facts.remarks.extend(inside.payload_problem.take().map(|problem| format!("{problem}.")));
    if kind == EnvelopeKind::Plain { EnvelopeKind::BodyEnvelope } else { kind }
}

/// Reads type, tenant, producer and impact from where a consumer would read them.
fn read_inside(message: &DeadMessage, payload: &Layer<'_>, facts: &mut Facts, policy: &Policy) -> Inside {
    let stated = |names: &[&str]| named_value(message, payload, names);
    facts.bound_names();
    facts.message_type = facts.message_type.take().or_else(|| stated(&MESSAGE_TYPE_NAMES));
    let tenant = || stated(envelope::TENANTS).or_else(|| nested(payload, envelope::TENANTS));
    facts.tenant = facts.tenant.take().or_else(tenant).or_else(|| fair_queue_tenant(message));
    let producer = || stated(envelope::PRODUCERS).or_else(|| nested(payload, envelope::PRODUCERS));
    facts.producer = facts.producer.take().or_else(producer);
    facts.producer_version = facts.producer_version.take().or_else(|| stated(envelope::PRODUCER_VERSIONS));
    let raw = Raw::new(payload.text);
    let message_type = facts.message_type.as_deref();
    let payload_of = costs::Payload { raw, members: &payload.body, message_type, stated_deadline: facts.deadline };
    let unread = facts.failure.is_empty() && payload.whole;
    // A redrive policy moved the message as the consumer got it.
    let by_hand = facts.failure.is_empty() && message.system.source_queue.is_none();
    let beside = by_hand.then(|| envelope::wrapper::failure(&payload.body)).flatten();
    Inside {
        impact: costs::impact(payload_of, policy, &mut facts.remarks),
        payload_problem: unread.then(|| classify::payload_problem(Some(payload.text))).flatten(),
        original_at: beside.as_ref().and_then(|_| envelope::wrapper::original_at(payload)),
        beside,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= envelope::NAME_BYTES_MAX
}

/// Looks a value up by name: first in the message's attributes, then in the headers of its wrapping, then in its body.
fn named_value(message: &DeadMessage, payload: &Layer<'_>, names: &[&str]) -> Option<String> {
    let attributes = &message.content.attributes;
    let attribute = |name: &&str| attributes.get(*name)?.as_text().filter(|text| is_name(text)).map(String::from);
    let header = || payload.headers.first(names).filter(|text| is_name(text));
    let field = || payload.body.scalar(names).filter(|text| is_name(text));
    let named = if attributes.is_empty() { None } else { names.iter().find_map(attribute) };
    named.or_else(|| if payload.outermost { None } else { header() }).or_else(field)
}

/// Looks one level down, where events keep their data and metadata.
fn nested(payload: &Layer<'_>, names: &[&str]) -> Option<String> {
    const CONTAINERS: [&str; 5] = ["metadata", "meta", "data", "detail", "message"];
    let inside = |place: &&str| payload.body.get(place).filter(|raw| raw.is_object())?.first(names)?.as_scalar();
    CONTAINERS.iter().find_map(inside).filter(|text| is_name(text))
}

/// On standard queues the message group id is the tenant, used for fairness (SQS developer guide, "Fair queues").
fn fair_queue_tenant(message: &DeadMessage) -> Option<String> {
    message.content.message_group_id.clone().filter(|_| !message.is_fifo())
}

/// Returns the best known time of the first send.
fn sent_at(
    message: &DeadMessage,
    stamped: bool,
    stated: Option<Timestamp>,
    remarks: &mut Vec<String>,
) -> Option<Timestamp> {
    let enqueued_at = message.system.sent_at;
    match (message.system.source_queue.is_some() && !stamped, message.is_fifo()) {
        // The move to the dead-letter queue keeps the send time on standard queues and resets it on FIFO queues (SQS
        // developer guide, "Using dead-letter queues").
        (true, false) => enqueued_at.or(stated),
        (true, true) if stated.is_none() => {
            remarks.push(
                "The send time is the time of the move to the dead-letter queue, as on every FIFO queue.".to_string(),
            );
            enqueued_at
        }
        _ => stated.map(|claimed| times::sent(message, claimed, remarks)).or(enqueued_at),
    }
}

/// Returns the marker that one of our replays attached.
fn marker_of(message: &DeadMessage) -> Option<Marker> {
    message.content.attributes.get(MARKER_ATTRIBUTE).and_then(|attribute| Marker::parse(attribute.as_text()?))
}

fn no_error_remark(kind: EnvelopeKind) -> &'static str {
    match kind {
        EnvelopeKind::SqsRedrive => {
            "SQS moved this message under its redrive policy, which does not record why it failed."
        }
        EnvelopeKind::Consumer => "The consumer's stamp contains no error details.",
        _ => "The message contains no error details.",
    }
}

#[cfg(test)]
#[path = "read/read_tests.rs"]
mod tests;
