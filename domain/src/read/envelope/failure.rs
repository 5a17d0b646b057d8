//! A failure as programs record it: an object, or a text `Type: message`.

use super::thrown;
use crate::read::classify::objects::{self, ErrorObject};
use crate::read::json::{Index, Raw};
use crate::reading::{Class, Failure};

/// The maximum depth of errors that are JSON in a string. Step Functions' cause of a Lambda error that a library wrote
/// as JSON has a depth of three.
const CAUSE_DEPTH_MAX: usize = 4;

const CLASSES: &[&str] = &["class", "errorClassification", "failureClass", "classification"];
const RETRYABLE: &[&str] = &["retryable", "isRetryable", "retriable", "transient"];

/// Reads the failure in an object or a text; empty if there is none.
pub fn failure_of(raw: Raw<'_>) -> Failure {
    let failure = if raw.is_object() {
        failure_in(&Index::new(raw))
    } else {
        raw.as_text().map(|text| thrown::read(&text)).unwrap_or_default()
    };
    unwrapped(failure)
}

/// Reads the failure in the fields of an object, without unwrapping its message.
fn failure_in(fields: &Index<'_>) -> Failure {
    let ErrorObject { error_type, message, stack } = objects::read(fields);
    let failure = Failure { error_type, message, stack, stated_class: stated(fields) };
    if failure.error_type.is_none() { with_type(failure) } else { failure }
}

/// Takes the type of a failure from its message, and the stack, if the message is a whole one.
pub fn with_type(failure: Failure) -> Failure {
    let Some(message) = failure.message.as_deref() else { return failure };
    let thrown = thrown::read(message);
    Failure { stack: failure.stack.or(thrown.stack), stated_class: failure.stated_class, ..thrown }
}

/// Replaces a failure whose message is the JSON of another failure by that failure: the inner one has to be fixed.
pub fn unwrapped(mut failure: Failure) -> Failure {
    for _ in 0..CAUSE_DEPTH_MAX {
        let Some(text) = failure.message.as_deref().filter(|text| text.trim_start().starts_with(['{', '['])) else {
            break;
        };
        let raw = Raw::new(text);
        // Salesforce answers with a list of errors.
        let first = if raw.is_array() { raw.elements().next() } else { Some(raw) };
        let Some(fields) = first.map(Index::new) else { break };
        let cause = failure_in(&fields);
        // An object without a message is printed data, not an error, and so is an order with a message.
        let Some(message) = cause.message.filter(|_| !objects::is_data(&fields)) else { break };
        failure.message = Some(message);
        failure.error_type = cause.error_type.or(failure.error_type);
        failure.stack = cause.stack.or(failure.stack);
        failure.stated_class = failure.stated_class.or(cause.stated_class);
    }
    failure
}

/// Returns the writer's statement about retrying.
pub fn stated(fields: &Index<'_>) -> Option<Class> {
    let class = CLASSES.iter().find_map(|name| fields.get(name)?.as_text()).map(|t| t.to_ascii_lowercase());
    match class.as_deref() {
        Some("transient" | "retryable" | "retriable" | "temporary") => return Some(Class::Transient),
        Some("permanent" | "non_retryable" | "non-retryable" | "fatal") => return Some(Class::Permanent),
        _ => {}
    }
    match fields.first(RETRYABLE)?.text().trim() {
        "true" => Some(Class::Transient),
        "false" => Some(Class::Permanent),
        _ => None,
    }
}
