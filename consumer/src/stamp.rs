//! Adds the error stamp to the copy for the dead-letter queue.

mod context;
#[cfg(test)]
mod tests;

pub use context::StampContext;

use crate::attempts::Attempt;
use crate::case::Case;
use crate::config::ConsumerConfig;
use crate::decide::Reason;
use crate::failure::Failure;
use context::CONTEXT_BYTES_MAX;
use domain::impact::{Impact, Severity};
use domain::limits::{ATTRIBUTES_MAX, MESSAGE_BYTES_MAX, STAMP_BYTES_MAX};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::read::stamp::{STAMP_VERSION, Stamp};
use domain::reading::{Category, Class};
use domain::text::{head, tail};
use domain::time::{Span, Timestamp};
use queue::Received;
use serde_json::Value;

/// The largest stamp without its context as JSON, bytes: error and stack never displace the context.
const ERROR_BYTES_MAX: usize = STAMP_BYTES_MAX - CONTEXT_BYTES_MAX;
/// The longest stack of a stamp, bytes: with a message of the longest kind it usually fits.
const STACK_BYTES_MAX: usize = 7 * 1024;
/// A stack or message that would become shorter than this is left out, bytes.
const SHORTEST_BYTES: usize = 100;
/// The longest error message of a stamp, bytes.
const MESSAGE_TEXT_BYTES_MAX: usize = 2 * 1024;

/// A failure as the stamp records it.
pub(crate) struct Stamping<'a> {
    pub case: &'a Case,
    pub failure: &'a Failure,
    pub message_type: Option<String>,
    /// The severity of the type's strategy.
    pub severity: Severity,
    pub failed_at: Timestamp,
    /// How long the handler ran.
    pub attempt: Span,
    pub category: Option<Category>,
    pub classified_by: Option<String>,
    /// All known attempts, this one last.
    pub history: &'a [Attempt],
    pub reason: Reason,
}

/// Returns the message as received, plus the stamp attribute. Drops stack and context if the stamp is too large with
/// them. Returns `None` if there is no room even then: a message has at most ten attributes and 1 MiB.
pub(crate) fn stamped(config: &ConsumerConfig, stamping: &Stamping<'_>) -> Option<Content> {
    let (stamp, context) = (stamp(config, stamping), context(config, stamping));
    let content = &stamping.case.received.content;
    let bare = Stamp { stack: None, ..stamp.clone() };
    with_stamp(content, print(&stamp, context.clone()))
        .or_else(|| with_stamp(content, print(&bare, context)))
        .or_else(|| with_stamp(content, bare.print()))
}

fn with_stamp(content: &Content, stamp: String) -> Option<Content> {
    let mut content = content.clone();
    // Replaces the stamp of an earlier failure, which an AWS redrive leaves on the message.
    content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp));
    let fits = content.attributes.len() <= ATTRIBUTES_MAX && content.size_bytes() <= MESSAGE_BYTES_MAX;
    fits.then_some(content)
}

/// Prints stamp and context as one JSON object of at most [`STAMP_BYTES_MAX`] bytes, in characters that SQS accepts.
fn print(stamp: &Stamp, context: StampContext) -> String {
    let printed = print_error(stamp.clone());
    let room = STAMP_BYTES_MAX.saturating_sub(printed.len());
    // One byte less for the comma between the two objects; their inner braces go.
    let context = context.bounded(CONTEXT_BYTES_MAX.min(room));
    let merged = merged(&printed, &context).filter(|merged| merged.len() <= STAMP_BYTES_MAX);
    merged.unwrap_or(printed).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Prints a stamp in at most [`ERROR_BYTES_MAX`] bytes. Escapes lengthen texts up to six times, so stack and message are
/// halved until they fit.
fn print_error(mut stamp: Stamp) -> String {
    loop {
        let printed = stamp.print();
        if printed.len() <= ERROR_BYTES_MAX {
            return printed;
        }
        let half = |text: &str| text.len() / 2;
        if let Some(stack) = stamp.stack.take() {
            stamp.stack = (half(&stack) >= SHORTEST_BYTES).then(|| cut_middle(&stack, half(&stack)));
        } else if let Some(message) = stamp.message.take() {
            stamp.message = (half(&message) >= SHORTEST_BYTES).then(|| head(&message, half(&message)).to_owned());
        } else {
            // Only names are left, each of at most 512 bytes.
            return printed;
        }
    }
}

fn merged(printed: &str, context: &StampContext) -> Option<String> {
    let mut stamp: Value = serde_json::from_str(printed).ok()?;
    let Value::Object(more) = serde_json::to_value(context).ok()? else { return None };
    stamp.as_object_mut()?.extend(more);
    serde_json::to_string(&stamp).ok()
}

fn stamp(config: &ConsumerConfig, stamping: &Stamping<'_>) -> Stamp {
    let Stamping { case, failure, .. } = stamping;
    let received = &case.received;
    Stamp {
        v: STAMP_VERSION,
        error_type: Some(failure.error_type.clone()),
        message: Some(head(&failure.message, MESSAGE_TEXT_BYTES_MAX).into()),
        stack: failure.stack().map(|stack| cut_middle(&stack, STACK_BYTES_MAX)),
        class: (failure.class != Class::Unknown).then_some(failure.class),
        consumer: Some(config.consumer.clone()),
        consumer_version: Some(case.consumer_version.clone()),
        message_type: stamping.message_type.clone(),
        attempts: received.system.receive_count,
        original_message_id: Some(received.message_id.clone()),
        main_queue: Some(config.queue.clone()),
        first_sent_at: received.system.sent_at,
        first_received_at: received.system.first_received_at,
        failed_at: Some(stamping.failed_at),
    }
}

/// Both ends of a stack matter: the throwing frame and the root cause.
fn cut_middle(stack: &str, bytes_max: usize) -> String {
    if stack.len() <= bytes_max {
        return stack.to_owned();
    }
    let (first, last) = (head(stack, bytes_max / 3 * 2), tail(stack, bytes_max / 3));
    format!("{first}\n... {} bytes left out\n{last}", stack.len() - first.len() - last.len())
}

fn context(config: &ConsumerConfig, stamping: &Stamping<'_>) -> StampContext {
    let Stamping { case, failure, .. } = stamping;
    let received = &case.received;
    let message_type = stamping.message_type.as_deref();
    let ruled = config.policy.message_type_rule(message_type).is_some();
    let read = if ruled { case.impact(config) } else { Impact::default() };
    let impact = Impact { severity: stamping.severity, ..read };
    StampContext {
        reason: Some(stamping.reason),
        category: stamping.category,
        classified_by: stamping.classified_by.clone(),
        causes: failure.context.causes.clone(),
        history: stamping.history.to_vec(),
        stop: failure.context.stop,
        attempt: Some(stamping.attempt),
        total: received.system.first_received_at.map(|first| stamping.failed_at.since(first)),
        instance: config.instance.clone(),
        circuit: failure.context.circuit.clone(),
        impact: (ruled || impact != Impact::default()).then_some(impact),
        idempotency_key: (config.idempotency_key)(&received.content),
        idempotent: (config.idempotent)(message_type),
        trace: trace(received),
    }
}

fn trace(received: &Received) -> Option<String> {
    let attribute = received.content.attributes.get("traceparent").and_then(Attribute::as_text);
    attribute.map(String::from).or_else(|| received.content.trace_header.clone())
}
