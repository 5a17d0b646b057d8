//! An error in the message's own attributes, without the other signs of a known form: `ErrorMessage`, `ERROR_CODE`.
//!
//! Consumers that move a message to a dead-letter queue themselves leave the reason there, often in the words of Lambda or
//! EventBridge. An application's own event may have such attributes, too. So they count only if nothing else says why the
//! message failed, and a replay sends them back.

use super::context::is_name;
use super::failure::{typed, unwrapped};
use crate::message::{Attribute, Attributes};
use crate::reading::Failure;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const TYPES: &[&str] = &["errorType", "exceptionType", "errorClass", "exceptionClass", "errorName"];
/// Codes say less than types. Lambda and SNS write the HTTP status of the call, EventBridge a word.
const CODES: &[&str] = &["errorCode"];
const MESSAGES: &[&str] = &["errorMessage", "exceptionMessage", "failureMessage", "failureReason", "errorDescription"];
const STACKS: &[&str] = &["errorStack", "stackTrace", "errorStackTrace", "exceptionStackTrace"];

/// The status of a call that a function answered with an error of its own.
const ANSWERED: &str = "200";

/// Returns the error and the names of its attributes; `None` if no attribute says what happened.
pub fn failure(attributes: &Attributes) -> Option<(Failure, String)> {
    let mut names: Vec<&str> = Vec::new();
    let mut text = |wanted: &[&str]| {
        let named = |name: &str| attributes.iter().find(|(key, _)| is_name(key, name));
        let (name, attribute) = wanted.iter().find_map(|name| named(name))?;
        let text = Attribute::as_text(attribute).filter(|text| !text.trim().is_empty())?;
        names.push(name);
        Some(text.to_owned())
    };
    let (error_type, message, stack) = (text(TYPES), text(MESSAGES), text(STACKS));
    if message.is_none() && stack.is_none() {
        return None;
    }
    let code = text(CODES).filter(|code| code != ANSWERED);
    let mut failure = message.as_deref().map(typed).unwrap_or_default();
    if error_type.is_some() {
        failure = Failure { error_type, message, ..failure };
    }
    failure = unwrapped(Failure { stack, ..failure });
    failure.error_type = failure.error_type.or(code);
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Some((failure, names.join(", ")))
}

/// Returns the remark on an error that stands in these attributes.
pub fn remark(names: &str) -> String {
    format!("The error is from the message's attributes: {names}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_or_a_stack_is_an_error_and_a_code_alone_is_none() {
        let read = |pairs: &[(&str, &str)]| {
            let attributes: Attributes =
                pairs.iter().map(|(name, value)| (name.to_string(), Attribute::text(*value))).collect();
            failure(&attributes).map(|(failure, names)| (failure.error_type, failure.message, failure.stack, names))
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
        ] {
            let found = read(pairs).map(|(error_type, message, ..)| (error_type, message));
            assert_eq!(found, Some((error_type, message)), "{pairs:?}");
        }
        for pairs in [&[("ErrorCode", "500")][..], &[("errorType", "KeyError")], &[("ErrorMessage", " ")], &[]] {
            assert!(read(pairs).is_none(), "{pairs:?}");
        }
    }
}
