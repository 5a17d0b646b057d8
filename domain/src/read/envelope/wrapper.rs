//! A message with an error next to it, in one body: `{"payload":…,"exception":…,"traceback":…}`.
//!
//! `team` knows the names that only an error envelope has (`originalMessage`). Here, the names are those that an
//! application's own message has, too. So the error counts only if nothing else says why the message failed, if no redrive
//! policy moved it, and if it has the form of an error. The body stays as it is.

use super::DEPTH_MAX;
use super::context::{self, Named};
use super::failure::{failure_of, with_type};
use super::layer::Layer;
use super::team::{self, ATTRIBUTES, FLAT_MESSAGES, FLAT_STACKS, FLAT_TYPES};
use super::thrown::{self, TRACEBACKS};
use crate::read::json::{Index, Raw};
use crate::read::type_name::looks_like_type;
use crate::reading::Failure;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Names of the message in any form.
const ORIGINALS: &[&str] = &[
    "originalMessage",
    "originalPayload",
    "originalBody",
    "originalEvent",
    "original",
    "payload",
    "body",
    "messageBody",
    "rawMessage",
];
/// Names of the message that other things have, too: it must be JSON.
const VAGUE_ORIGINALS: &[&str] = &["message", "event", "record", "input", "data", "job", "task"];
const ERRORS: &[&str] = &["error", "exception", "lastError", "lastException", "errorMsg", "errorDetails", "errorInfo"];
const VAGUE_ERRORS: &[&str] = &["reason", "cause", "failure", "err", "failureReason"];
/// What the records of a log have next to a message and an exception.
const OF_LOGS: &[&str] = &["level", "levelname", "loglevel", "logger", "loggerName", "severity", "@timestamp"];
/// Names of an event's type. What has one is an event of the application, such as `payment.failed`.
const KINDS: &[&str] = &["type", "eventType", "detailType", "event"];
/// Members that make a wrapper, besides the facts of `context`.
const PARTS: &[&[&str]] = &[
    ORIGINALS,
    &["message"],
    ERRORS,
    VAGUE_ERRORS,
    FLAT_TYPES,
    FLAT_MESSAGES,
    FLAT_STACKS,
    TRACEBACKS,
    ATTRIBUTES,
    &["attributes", "headers"],
];

/// The remark on the error of a wrapper.
pub const REMARK: &str = team::DOUBTFUL;

/// Returns the error that stands next to a message; `None` if the body has no message, or nothing with the form of an
/// error.
pub fn failure(body: &Index<'_>) -> Option<Failure> {
    // A wrapper has few members, and a look at each name is not free.
    if body.members().len() < 2 {
        return None;
    }
    let wrapper = Named::from_index(body);
    if wrapper.all(OF_LOGS).next().is_some() {
        return None;
    }
    if wrapper.all(KINDS).any(|raw| raw.as_text().is_some_and(|kind| !looks_like_type(&kind))) {
        return None;
    }
    let has_message = wrapper.all(ORIGINALS).any(is_message) || wrapper.all(VAGUE_ORIGINALS).any(is_json);
    if !has_message {
        return None;
    }
    let object = wrapper.all(ERRORS).chain(wrapper.all(VAGUE_ERRORS)).filter(|raw| raw.is_object()).find_map(of_object);
    let stack = [FLAT_STACKS, TRACEBACKS].into_iter().flat_map(|names| wrapper.all(names)).find_map(thrown::stack_of);
    let error_type = texts(&wrapper, &[FLAT_TYPES, ERRORS]).find(|text| looks_like_type(text));
    let is_error = object.is_some() || stack.is_some() || error_type.is_some();
    let mut failure = object.unwrap_or_default();
    if failure.message.is_none() {
        let said = with_type(Failure { message: message(&wrapper, is_error), ..Failure::default() });
        failure.error_type = failure.error_type.or(said.error_type);
        (failure.message, failure.stack) = (said.message, failure.stack.or(said.stack));
    }
    failure.stack = failure.stack.or(stack);
    failure.error_type = failure.error_type.or(error_type);
    thrown::complete(&mut failure);
    (!failure.is_empty()).then_some(failure)
}

/// Returns what the error says: any text if something else is an error already.
fn message(wrapper: &Named<'_>, is_error: bool) -> Option<String> {
    let says = |text: &String| thrown::says_error(text) && !looks_like_type(text);
    let is_whole = context::consists_of(wrapper, PARTS);
    let mut clear = texts(wrapper, &[FLAT_MESSAGES, ERRORS]).filter(says);
    let mut vague = texts(wrapper, &[VAGUE_ERRORS]).filter(says);
    let found = clear.find(|text| is_error || is_whole || thrown::is_error(text));
    found.or_else(|| vague.find(|text| is_error || thrown::is_error(text)))
}

/// Returns the texts of the members with these names.
fn texts<'a>(wrapper: &Named<'a>, names: &[&'static [&'static str]]) -> impl Iterator<Item = String> {
    let all = names.iter().flat_map(|names| wrapper.all(names)).filter_map(Raw::as_string);
    all.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().into_iter()
}

/// Reads an object that is certainly an error: it has the type of one, or a stack.
fn of_object(raw: Raw<'_>) -> Option<Failure> {
    let mut failure = failure_of(raw);
    let stack = Named::new(raw).all(TRACEBACKS).find_map(thrown::stack_of);
    failure.stack = failure.stack.or(stack);
    thrown::complete(&mut failure);
    let is_typed = failure.error_type.as_deref().is_some_and(looks_like_type);
    (is_typed || failure.stack.as_deref().is_some_and(thrown::is_stack)).then_some(failure)
}

/// Returns where the original is in a body that may be a wrapper, as a jq path; `None` if the layer is not the body
/// itself, or has no original. A wrapper that was sent back as it was and failed again is wrapped twice, by the same
/// consumer under the same name.
pub fn original_at(layer: &Layer<'_>) -> Option<String> {
    if !layer.outermost {
        return None;
    }
    let (member, text) = original_in(&layer.body)?;
    let (mut path, mut text) = (member.clone(), text.into_owned());
    for _ in 1..DEPTH_MAX {
        let inner = Index::new(Raw::new(&text));
        let again = failure(&inner).and_then(|_| original_in(&inner)).filter(|(other, _)| *other == member);
        let Some((_, found)) = again else { break };
        path = format!("{path} | {AS_JSON} | {member}");
        text = found.into_owned();
    }
    Some(path)
}

/// Reads a text as JSON, and leaves any other value.
const AS_JSON: &str = r#"if type == "string" then fromjson else . end"#;

/// Returns the jq path of the original in a wrapper, and its text.
fn original_in<'a>(body: &Index<'a>) -> Option<(String, Cow<'a, str>)> {
    let wrapper = Named::from_index(body);
    let mut clear = wrapper.spelled(ORIGINALS).filter(|(_, raw)| is_message(*raw));
    let (key, raw) = clear.next().or_else(|| wrapper.spelled(VAGUE_ORIGINALS).find(|(_, raw)| is_json(*raw)))?;
    // A key has nothing but letters of the names above and separators.
    let is_plain = key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let path = if is_plain { format!(".{key}") } else { format!(".\"{key}\"") };
    Some((path, raw.as_text().unwrap_or(Cow::Borrowed(raw.text()))))
}

fn is_message(raw: Raw<'_>) -> bool {
    raw.is_object() || raw.is_array() || raw.says_something()
}

/// Whether a value is an object or a list, or the text of one.
fn is_json(raw: Raw<'_>) -> bool {
    raw.is_object() || raw.is_array() || raw.as_text().is_some_and(|text| text.trim_start().starts_with(['{', '[']))
}
