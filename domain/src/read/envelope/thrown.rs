//! An error as a program prints it: a stack trace, `Type: message`, or Python's `Type('message')`.

use crate::read::classify::objects::names_error;
use crate::read::frames;
use crate::read::json::Raw;
use crate::read::type_name::looks_like_type;
use crate::reading::Failure;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Names of a stack that other things have, too. Only what looks like a stack counts: `exc_info` may be `True`, and a
/// `stack` the name of an environment.
#[rustfmt::skip]
pub const TRACEBACKS: &[&str] = &[
    "traceback", "excInfo", "errorTraceback", "exceptionTraceback", "backtrace", "errorTrace", "dlqTraceback", "lastTraceback", "stack", "trace", "tb",
];

const TRACEBACK: &str = "Traceback (most recent call last)";

/// Values of a field about an error that say that there was none, in lower case.
const NOTHING: [&str; 14] =
    ["", "-", "false", "true", "no", "none", "null", "nil", "n/a", "ok", "success", "undefined", "{}", "[]"];

/// Parts of the messages of drivers and runtimes, in lower case. No order and no customer gives such a reason.
const WORDING: [&str; 16] = [
    "connection refused",
    "connection reset",
    "connection timed out",
    "connect timeout",
    "read timed out",
    "broken pipe",
    "no such host",
    "host unreachable",
    "no route to host",
    "deadlock",
    "null pointer",
    "out of memory",
    "unhandled exception",
    "max retries exceeded",
    "unexpected end of json",
    "duplicate key value",
];

/// Whether a field about an error says that there is one. A number is a count or a measure, unless it is a status of HTTP.
pub fn says_error(text: &str) -> bool {
    let text = text.trim();
    !NOTHING.contains(&text.to_ascii_lowercase().as_str()) && (text.parse::<f64>().is_err() || names_error(text))
}

/// Whether a text is an error, whatever its field is called: a stack, the name of an error with what it says, or the
/// words of a driver.
pub fn is_error(text: &str) -> bool {
    let lower = || text.to_ascii_lowercase();
    let named = || split(text).or_else(|| printed(text)).and_then(|failure| failure.error_type);
    of_stack(text).is_some()
        || named().is_some_and(|name| is_error_type(&name))
        || WORDING.iter().any(|words| lower().contains(words))
}

/// Whether a name can only be that of an error. The reason of a return may be a `Warning` or a `Failure`.
pub fn is_error_type(name: &str) -> bool {
    looks_like_type(name) && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether a text is a stack, complete or cut off.
pub fn is_stack(text: &str) -> bool {
    text.contains(TRACEBACK) || !frames::parse(text).frames.is_empty()
}

/// Returns the text of a stack: a string, or a list of lines.
pub fn stack_of(raw: Raw<'_>) -> Option<String> {
    let text = match raw.is_array() {
        // The lines of `traceback.format_exception` end with their own breaks.
        true => raw
            .elements()
            .filter_map(Raw::as_string)
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n"),
        false => raw.as_string()?,
    };
    is_stack(&text).then_some(text)
}

/// Reads the error that a text prints; without a type, the whole text is the message.
pub fn read(text: &str) -> Failure {
    let whole =
        || Failure { message: Some(text).filter(|text| !text.is_empty()).map(str::to_owned), ..Failure::default() };
    of_stack(text).or_else(|| split(text)).or_else(|| printed(text)).unwrap_or_else(whole)
}

/// Takes the type and the message from the stack where nothing else states them.
pub fn complete(failure: &mut Failure) {
    if failure.error_type.is_some() && failure.message.is_some() {
        return;
    }
    let Some(thrown) = failure.stack.as_deref().and_then(of_stack) else { return };
    failure.error_type = failure.error_type.take().or(thrown.error_type);
    failure.message = failure.message.take().or(thrown.message);
}

/// Splits a text `Type: message` if the part before the colon is certainly a type.
fn split(text: &str) -> Option<Failure> {
    let (name, message) = text.split_once(": ").filter(|(name, _)| looks_like_type(name))?;
    Some(failure(name, message))
}

fn failure(name: &str, message: &str) -> Failure {
    let message = Some(message).filter(|message| !message.is_empty()).map(str::to_owned);
    Failure { error_type: Some(name.to_string()), message, ..Failure::default() }
}

/// Reads `KeyError('sku')`. Python prints the key of a `KeyError` with its quotation marks, and other messages without.
fn printed(text: &str) -> Option<Failure> {
    let (name, rest) = text.trim().split_once('(')?;
    let said = rest.strip_suffix(')').filter(|said| is_class(name) && is_closed(said))?;
    let said = said.strip_suffix(',').unwrap_or(said);
    let unquoted = ['\'', '"'].iter().find_map(|mark| {
        let inner = said.strip_prefix(*mark)?.strip_suffix(*mark)?;
        (!inner.contains(*mark) && !inner.contains('\\')).then_some(inner)
    });
    let is_key = name.ends_with("KeyError");
    Some(failure(name, unquoted.filter(|_| !is_key).unwrap_or(said)))
}

/// Whether a name is that of an exception. Python prints it without its module.
fn is_class(name: &str) -> bool {
    looks_like_type(name) && !name.contains(['.', ':', '\\', '$'])
}

/// Whether no bracket of a text closes one before it.
fn is_closed(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().all(|byte| match byte {
        b'(' => {
            depth += 1;
            true
        }
        b')' => depth.checked_sub(1).is_some_and(|less| {
            depth = less;
            true
        }),
        _ => true,
    })
}

/// Reads a text that is a whole stack with its error.
fn of_stack(text: &str) -> Option<Failure> {
    let is_python = text.contains(TRACEBACK);
    if !is_python && !text.trim().contains('\n') {
        return None;
    }
    let python = if is_python { after_traceback(text) } else { None };
    let mut found = match python {
        Some(found) => found,
        None => {
            let stack = frames::parse(text.trim_start());
            let head = stack.head.filter(|_| !stack.frames.is_empty())?;
            failure(&head.error_type, &head.message)
        }
    };
    found.stack = Some(text.to_owned());
    Some(found)
}

/// Reads the error after the last traceback of a text: the first line that is not indented, and what follows it.
fn after_traceback(text: &str) -> Option<Failure> {
    let (_, last) = text.rsplit_once(TRACEBACK)?;
    let (_, frames) = last.split_once('\n')?;
    let mut rest = frames;
    while rest.starts_with([' ', '\t', '\r', '\n']) {
        (_, rest) = rest.split_once('\n')?;
    }
    let rest = rest.trim_end();
    let (name, message) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    (!name.is_empty() && name.len() <= 200 && name.chars().all(is_name)).then(|| failure(name, message))
}

#[cfg(test)]
#[path = "thrown_tests.rs"]
mod tests;
