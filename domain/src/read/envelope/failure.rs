//! A failure as programs record it: an object in one of a dozen spellings, or a text `Type: message`.

use crate::read::json::{Index, Raw};
use crate::reading::{Class, Failure};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The maximum depth of errors that are JSON in a string. Step Functions' cause of a Lambda error that a library wrote
/// as JSON has a depth of three.
const CAUSE_DEPTH_MAX: usize = 4;

const TYPES: &[&str] = &[
    "errorType",
    "error_type",
    "type",
    "exceptionType",
    "exception",
    "errorClass",
    "error_class",
    "name",
    "errorCode",
    "error_code",
    "code",
    "Error",
    "ErrorType",
    "ExceptionType",
];
const MESSAGES: &[&str] = &[
    "errorMessage",
    "error_message",
    "message",
    "exceptionMessage",
    "errorDescription",
    "description",
    "reason",
    "Cause",
    "error",
    "ErrorMessage",
    "Message",
];
const STACKS: &[&str] = &[
    "errorStack",
    "error_stack",
    "stackTrace",
    "stack_trace",
    "stacktrace",
    "stack",
    "trace",
    "backtrace",
    "error_backtrace",
    "StackTrace",
];
const CLASSES: &[&str] = &["class", "errorClassification", "failureClass", "classification"];
const RETRYABLE: &[&str] = &["retryable", "isRetryable", "retriable", "transient"];

/// Reads the failure in an object or a text; empty if there is none.
pub fn failure_of(raw: Raw<'_>) -> Failure {
    let failure = if raw.is_object() {
        failure_in(&Index::new(raw))
    } else {
        raw.as_text().map(|text| typed(&text)).unwrap_or_default()
    };
    unwrapped(failure)
}

/// Reads the failure in the fields of an object, without unwrapping its message.
pub fn failure_in(fields: &Index<'_>) -> Failure {
    let text = |names: &[&str]| names.iter().find_map(|name| text_of(fields.get(name)?));
    let mut failure =
        Failure { error_type: text(TYPES), message: text(MESSAGES), stack: text(STACKS), stated_class: stated(fields) };
    if failure.error_type.is_none() {
        let split = failure.message.as_deref().map(typed).unwrap_or_default();
        failure.error_type = split.error_type;
        failure.message = split.message;
    }
    failure
}

/// Replaces a failure whose message is the JSON of another failure by that failure: the inner one has to be fixed.
pub fn unwrapped(mut failure: Failure) -> Failure {
    for _ in 0..CAUSE_DEPTH_MAX {
        let Some(text) = failure.message.as_deref().filter(|text| text.trim_start().starts_with('{')) else { break };
        let cause = failure_in(&Index::new(Raw::new(text)));
        // An object without a message is printed data, not an error.
        let Some(message) = cause.message else { break };
        failure.message = Some(message);
        failure.error_type = cause.error_type.or(failure.error_type);
        failure.stack = cause.stack.or(failure.stack);
        failure.stated_class = failure.stated_class.or(cause.stated_class);
    }
    failure
}

/// Returns the writer's statement about retrying.
fn stated(fields: &Index<'_>) -> Option<Class> {
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

/// Returns a scalar's text, or the joined lines of an array of texts (Lambda's form of a stack).
fn text_of(raw: Raw<'_>) -> Option<String> {
    if !raw.is_array() {
        return raw.as_scalar().filter(|text| !text.is_empty());
    }
    let lines: Vec<String> = raw.elements().filter_map(Raw::as_string).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Splits a text `Type: message` if the part before the colon is certainly a type.
pub fn typed(text: &str) -> Failure {
    let split = text.split_once(": ").filter(|(name, _)| looks_like_type(name));
    match split {
        Some((name, message)) => {
            Failure { error_type: Some(name.to_string()), message: Some(message.to_string()), ..Failure::default() }
        }
        None => {
            Failure { message: Some(text).filter(|text| !text.is_empty()).map(str::to_owned), ..Failure::default() }
        }
    }
}

/// Whether a text is the name of an error type: one word with a typical ending, or a dotted path to a class.
pub fn looks_like_type(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | ':' | '\\');
    if name.len() > 200 || !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name) {
        return false;
    }
    let last = name.rsplit(['.', ':', '\\', '$']).next().unwrap_or(name);
    let ends = ["Error", "Exception", "Fault", "Failure", "Timeout", "Interrupt", "Warning"];
    ends.iter().any(|end| last.ends_with(end)) && last.starts_with(|c: char| c.is_ascii_uppercase())
        || (name.contains('.') && last.starts_with(|c: char| c.is_ascii_uppercase()) && last.len() > 3)
}
