//! An error in the message's own attributes, without the other signs of a known form: `ErrorMessage`, `ERROR_CODE`.
//!
//! Consumers that move a message to a dead-letter queue themselves leave the reason there, often in the words of Lambda or
//! EventBridge. An application's own event may have such attributes, too. So they count only if nothing else says why the
//! message failed, and a replay sends them back. SQS adds no attributes to a message that it moves. So these count only on
//! a message that it did not move:
//!
//! - a code or a type alone, if it is the name of an error or a status of HTTP;
//! - a name that applications use for their data (`reason`), if its value has the form of an error.

use super::context::is_name;
use super::failure::{unwrapped, with_type};
use super::thrown::{self, TRACEBACKS};
use crate::message::Attributes;
use crate::read::classify::objects::names_error;
use crate::read::type_name::looks_like_type;
use crate::reading::Failure;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const TYPES: &[&str] = &["errorType", "exceptionType", "errorClass", "exceptionClass", "errorName"];
/// Codes say less than types. Lambda and SNS write the HTTP status of the call, EventBridge a word.
const CODES: &[&str] = &["errorCode"];
const MESSAGES: &[&str] = &["errorMessage", "exceptionMessage", "failureMessage", "failureReason", "errorDescription"];
const STACKS: &[&str] = &["errorStack", "stackTrace", "errorStackTrace", "exceptionStackTrace"];

/// Names that only an error has. Values such as `false` do not count.
#[rustfmt::skip]
const ERRORS: &[&str] = &[
    "error", "exception", "lastError", "lastException", "lastErrorMessage", "errorMsg", "errMsg", "errMessage", "errorText", "failReason", "failedReason",
    "errorReason", "errorDetails", "errorDetail", "errorInfo",
    "dlqReason", "dlqError", "dlqErrorMessage", "deadLetterReason", "deadLetterError", "deadLetterErrorMessage",
];
/// Names that business data have, too: the reason of a return.
const VAGUE: &[&str] = &["reason", "cause", "failure", "err", "errorCause", "rootCause"];
/// What some teams write before the name of a header.
const PREFIX: &str = "x-";

/// Codes that name no error. 200 is the status of a call that a function answered with an error of its own.
const NO_ERRORS: [&str; 6] = ["200", "0", "ok", "none", "success", "unknown"];

/// The attributes of a message, and which of them were read.
struct Found<'a> {
    attributes: &'a Attributes,
    names: Vec<&'a str>,
}

impl<'a> Found<'a> {
    /// Returns the first text, by the order of the names, that is accepted.
    fn text(&mut self, wanted: &[&str], accepts: impl Fn(&str) -> bool) -> Option<String> {
        let named = |name: &str| {
            self.attributes.iter().find_map(|(key, attribute)| {
                let text = attribute.as_text().filter(|text| is_named(key, name) && !text.trim().is_empty())?;
                accepts(text).then_some((key.as_str(), text))
            })
        };
        let (key, text) = wanted.iter().find_map(|name| named(name))?;
        if !self.names.contains(&key) {
            self.names.push(key);
        }
        Some(text.to_owned())
    }
}

/// Whether a key is this name, in any spelling, with or without a prefix.
fn is_named(key: &str, name: &str) -> bool {
    let rest = key.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX)).map(|_| &key[PREFIX.len()..]);
    is_name(key, name) || rest.is_some_and(|rest| is_name(rest, name))
}

/// Whether the message of an error states its type, too, with or without the namespace.
fn repeats(thrown: &Failure, error_type: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let named = thrown.error_type.as_deref();
    named.is_some_and(|name| last(name) == last(error_type))
}

/// Whether a text is the name of an error, and nothing else.
fn is_type(text: &str) -> bool {
    looks_like_type(text.trim())
}

/// Returns the error and the names of its attributes; `None` if no attribute says what happened. `is_redriven` says
/// whether a redrive policy moved the message.
pub fn failure(attributes: &Attributes, is_redriven: bool) -> Option<(Failure, String)> {
    let mut found = Found { attributes, names: Vec::new() };
    let error_type = found.text(TYPES, |_| true).or_else(|| found.text(ERRORS, is_type));
    let message = found
        .text(MESSAGES, |_| true)
        .or_else(|| found.text(ERRORS, |text| thrown::says_error(text) && !is_type(text)))
        .or_else(|| if is_redriven { None } else { found.text(VAGUE, thrown::is_error) });
    let stack = found.text(STACKS, |_| true).or_else(|| found.text(TRACEBACKS, thrown::is_stack));
    let is_error = |code: &String| !NO_ERRORS.contains(&code.trim().to_ascii_lowercase().as_str());
    let code = found.text(CODES, |_| true).filter(is_error);
    let names = found.names.join(", ");
    if message.is_none() && stack.is_none() {
        let named = [error_type, code].into_iter().flatten().find(|name| is_error(name) && names_error(name));
        let failure = Failure { error_type: Some(named.filter(|_| !is_redriven)?), ..Failure::default() };
        return Some((failure, names));
    }
    let stated = with_type(Failure { message: message.clone(), stack, ..Failure::default() });
    let mut failure = match (error_type, message) {
        (None, _) => stated,
        (Some(error_type), Some(message)) if !repeats(&stated, &error_type) => {
            Failure { error_type: Some(error_type), message: Some(message), ..stated }
        }
        (error_type, _) => Failure { error_type, ..stated },
    };
    failure = unwrapped(failure);
    failure.error_type = failure.error_type.or(code);
    thrown::complete(&mut failure);
    Some((failure, names))
}

/// Returns the remark on an error that stands in these attributes.
pub fn remark(names: &str) -> String {
    format!("The error is from the message's attributes: {names}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Attribute;
    use alloc::string::ToString;

    #[test]
    fn a_message_or_a_stack_is_an_error_and_a_code_alone_if_it_names_one() {
        let read = |pairs: &[(&str, &str)]| {
            let attributes: Attributes =
                pairs.iter().map(|(name, value)| (name.to_string(), Attribute::text(*value))).collect();
            failure(&attributes, false)
                .map(|(failure, names)| (failure.error_type, failure.message, failure.stack, names))
        };
        let some = |text: &str| Some(text.to_owned());
        for (pairs, error_type, message) in [
            (&[("ErrorMessage", "KeyError: 'sku'"), ("ErrorCode", "200")][..], some("KeyError"), some("'sku'")),
            (&[("ErrorMessage", "Rate exceeded"), ("ErrorCode", "429")], some("429"), some("Rate exceeded")),
            (
                &[("ERROR_MESSAGE", "Rate exceeded"), ("ERROR_CODE", "THROTTLING")],
                some("THROTTLING"),
                some("Rate exceeded"),
            ),
            (&[("error_type", "KeyError"), ("error-message", "sku: none")], some("KeyError"), some("sku: none")),
            (&[("stackTrace", "Error: boom"), ("errorType", "Error")], some("Error"), None),
            (&[("ErrorMessage", "boom"), ("ErrorCode", "OK")], None, some("boom")),
            (&[("ErrorCode", "500")], some("500"), None),
            (&[("errorType", "KeyError")], some("KeyError"), None),
            (&[("errorType", "order"), ("ErrorCode", "ECONNRESET")], some("ECONNRESET"), None),
        ] {
            let found = read(pairs).map(|(error_type, message, ..)| (error_type, message));
            assert_eq!(found, Some((error_type, message)), "{pairs:?}");
        }
        for pairs in [&[("ErrorCode", "0")][..], &[("errorType", "order")], &[("ErrorMessage", " ")], &[]] {
            assert!(read(pairs).is_none(), "{pairs:?}");
        }
    }
}
