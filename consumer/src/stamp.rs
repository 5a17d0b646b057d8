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

/// A message for dead-letter queues: as received, plus the stamp attribute.
pub(crate) struct Copies<'a> {
    received: &'a Received,
    stamp: Stamp,
    context: StampContext,
}

impl<'a> Copies<'a> {
    pub(crate) fn new(config: &ConsumerConfig, stamping: &Stamping<'a>) -> Self {
        Self { received: &stamping.case.received, stamp: stamp(config, stamping), context: context(config, stamping) }
    }

    pub(crate) fn received(&self) -> &'a Received {
        self.received
    }

    /// The message without a stamp.
    pub(crate) fn plain(&self) -> &'a Content {
        &self.received.content
    }

    /// Returns the message with the largest stamp with which it has at most `bytes_max` bytes. Without room for all of it,
    /// the stack goes first, then attempts and causes, the error's message, and what else is known; queue and id of the
    /// message, class and the error's type stay. Returns `None` if there is no room for those, or no attribute left: a
    /// message has at most ten.
    pub(crate) fn within(&self, bytes_max: usize) -> Option<Content> {
        let mut content = self.plain().clone();
        // Replaces the stamp of an earlier failure, which an AWS redrive leaves on the message.
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(String::new()));
        if content.attributes.len() > ATTRIBUTES_MAX {
            return None;
        }
        let room = bytes_max.min(MESSAGE_BYTES_MAX).checked_sub(content.size_bytes())?;
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(self.printed(room)?));
        Some(content)
    }

    /// Returns the largest stamp of at most this many bytes.
    fn printed(&self, room: usize) -> Option<String> {
        let bare = Stamp { stack: None, ..self.stamp.clone() };
        let fits = |text: &String| text.len() <= room;
        print(&self.stamp, self.context.clone(), STAMP_BYTES_MAX)
            .filter(fits)
            .or_else(|| print(&bare, self.context.clone(), STAMP_BYTES_MAX).filter(fits))
            .or_else(|| print(&bare, self.context.clone(), room))
    }
}

/// Prints stamp and context as one JSON object of at most `bytes_max` bytes, in characters that SQS accepts. The context is
/// what there is room for beside the stamp.
fn print(stamp: &Stamp, context: StampContext, bytes_max: usize) -> Option<String> {
    let printed = print_error(stamp.clone(), ERROR_BYTES_MAX.min(bytes_max))?;
    let room = bytes_max.saturating_sub(printed.len());
    // One byte less for the comma between the two objects; their inner braces go.
    let context = context.bounded(CONTEXT_BYTES_MAX.min(room));
    let merged = merged(&printed, &context).filter(|merged| merged.len() <= bytes_max);
    Some(merged.unwrap_or(printed).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

/// Prints a stamp in at most `bytes_max` bytes. Escapes lengthen texts up to six times, so stack and message are halved until
/// they fit, and names go last.
fn print_error(mut stamp: Stamp, bytes_max: usize) -> Option<String> {
    loop {
        let printed = stamp.print();
        if printed.len() <= bytes_max {
            return Some(printed);
        }
        let half = |text: &str| text.len() / 2;
        if let Some(stack) = stamp.stack.take() {
            stamp.stack = (half(&stack) >= SHORTEST_BYTES).then(|| cut_middle(&stack, half(&stack)));
        } else if let Some(message) = stamp.message.take() {
            stamp.message = (half(&message) >= SHORTEST_BYTES).then(|| head(&message, half(&message)).to_owned());
        } else if stamp.error_type.is_some() {
            stamp = identity(&stamp);
        } else {
            return None;
        }
    }
}

/// What a stamp must say at least. If even that is too long, it goes without the error's type.
fn identity(stamp: &Stamp) -> Stamp {
    let is_whole = stamp.consumer.is_some() || stamp.failed_at.is_some();
    let error_type = stamp.error_type.as_deref().filter(|_| is_whole);
    Stamp {
        v: stamp.v,
        error_type: error_type.map(|name| head(name, SHORTEST_BYTES).to_owned()),
        class: stamp.class,
        original_message_id: stamp.original_message_id.clone(),
        main_queue: stamp.main_queue.clone(),
        ..Stamp::default()
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
