//! An error in the message's own attributes, without the other signs of a known form: `ErrorMessage`, `ERROR_CODE`.
//!
//! Consumers that move a message to a dead-letter queue themselves leave the reason there, often in the words of Lambda or
//! EventBridge. An application's own event may have such attributes, too. So they count only if nothing else says why the
//! message failed, and a replay sends them back. A code alone counts for even less: only if it is the name of an error or
//! a status of HTTP, and only on a message that SQS did not move, because SQS adds no attributes.

use super::context::is_name;
use super::failure::{typed, unwrapped};
use crate::message::{Attribute, Attributes};
use crate::read::classify::objects::names_error;
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

/// Codes that name no error. 200 is the status of a call that a function answered with an error of its own.
const NO_ERRORS: [&str; 6] = ["200", "0", "ok", "none", "success", "unknown"];

/// Returns the error and the names of its attributes; `None` if no attribute says what happened. `is_redriven` says
/// whether a redrive policy moved the message.
pub fn failure(attributes: &Attributes, is_redriven: bool) -> Option<(Failure, String)> {
    let mut names: Vec<&str> = Vec::new();
    let mut text = |wanted: &[&str]| {
        let named = |name: &str| attributes.iter().find(|(key, _)| is_name(key, name));
        let (name, attribute) = wanted.iter().find_map(|name| named(name))?;
        let text = Attribute::as_text(attribute).filter(|text| !text.trim().is_empty())?;
        names.push(name);
        Some(text.to_owned())
    };
    let (error_type, message, stack) = (text(TYPES), text(MESSAGES), text(STACKS));
    let is_error = |code: &String| !NO_ERRORS.contains(&code.trim().to_ascii_lowercase().as_str());
    let code = text(CODES).filter(is_error);
    let listed = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if message.is_none() && stack.is_none() {
        let named = [error_type, code].into_iter().flatten().find(|name| is_error(name) && names_error(name));
        let failure = Failure { error_type: Some(named.filter(|_| !is_redriven)?), ..Failure::default() };
        return Some((failure, listed(&names)));
    }
    let mut failure = message.as_deref().map(typed).unwrap_or_default();
    if error_type.is_some() {
        failure = Failure { error_type, message, ..failure };
    }
    failure = unwrapped(Failure { stack, ..failure });
    failure.error_type = failure.error_type.or(code);
    Some((failure, listed(&names)))
}

/// Returns the remark on an error that stands in these attributes.
pub fn remark(names: &str) -> String {
    format!("The error is from the message's attributes: {names}.")
}

#[cfg(test)]
mod tests {
    use super::*;

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
