//! Errors that services, frameworks and SDKs print as JSON, and data that is printed beside an error.
//!
//! Each writer has members of its own. Google has `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, boto3
//! `{"Error":{"Code":…},"ResponseMetadata":{…}}`, the AWS SDK for JavaScript `{"name":…,"$metadata":{…}}`, Node
//! `{"errno":-104,"code":"ECONNRESET","syscall":"read"}`, RFC 9457 `{"type","title","status","detail"}`, and Spring
//! `{"timestamp","status","error","path"}`. An order has a name, a code and a status, too, and they say nothing about
//! what failed.

mod data;

use super::tables::{self, catalogue, status};
use super::{bare, names};
use crate::read::json::{Index, Raw};
use crate::reading::Class;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use data::is_error_name;
pub use data::{is_data, without_data};

/// How deep an object is looked into: the errors of GraphQL and Apigee have their code on the third level.
const DEPTH_MAX: usize = 3;

/// Names of the error's type, best first.
const NAMES: &[&str] = &[
    "errorType",
    "error_type",
    "type",
    "exceptionType",
    "exception",
    "errorClass",
    "error_class",
    "name",
    "ErrorType",
    "ExceptionType",
];
/// Names of its code.
const CODES: &[&str] = &["errorCode", "error_code", "code", "Error", "Code", "ErrorCode", "__type", "errorcode"];
/// Names that may hold a code: a status of gRPC or a reason (Google), and an error next to its description (RFC 6749).
/// Mostly they hold something else, so only what a table has counts.
const HINTS: &[&str] = &["status", "reason", "error"];
/// Names of a status of HTTP. The first is also that of an order's state.
const STATUSES: &[&str] =
    &["status", "statusCode", "status_code", "httpStatus", "httpStatusCode", "http_status", "HTTPStatusCode"];
const MESSAGES: &[&str] = &[
    "errorMessage",
    "error_message",
    "message",
    "exceptionMessage",
    "errorDescription",
    "error_description",
    "description",
    "detail",
    "reason",
    "Cause",
    "title",
    "error",
    "ErrorMessage",
    "Message",
    "faultstring",
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
/// Members that hold the error itself: an object, or a list of them.
const ERRORS: &[&str] = &["error", "Error", "err", "fault", "exception", "errors"];
/// Members that hold its code or its status.
const AROUND: &[&str] = &["$metadata", "ResponseMetadata", "response", "output", "extensions", "detail"];

/// Names that every error of a library has. Axios calls any 4xx `ERR_BAD_REQUEST`, and any 5xx `ERR_BAD_RESPONSE`.
const OF_EVERY_KIND: [&str; 12] = [
    "error",
    "exception",
    "fail",
    "failed",
    "failure",
    "axioserror",
    "errbadrequest",
    "errbadresponse",
    "httperror",
    "apierror",
    "requests",
    "aboutblank",
];

/// What an object says of an error.
#[derive(Debug, Default)]
pub struct ErrorObject {
    /// The name, the code or the status that tells most.
    pub error_type: Option<String>,
    /// The message.
    pub message: Option<String>,
    /// The stack.
    pub stack: Option<String>,
}

/// Reads the members of an object in a place that says that it is an error.
pub fn read(fields: &Index<'_>) -> ErrorObject {
    let said = Said::new(fields, DEPTH_MAX);
    let error_type = said.telling();
    ErrorObject { error_type, message: said.message, stack: said.stack }
}

/// Everything that an object and those inside it say, the innermost error first.
#[derive(Default)]
struct Said {
    names: Vec<String>,
    codes: Vec<String>,
    hints: Vec<String>,
    statuses: Vec<u16>,
    message: Option<String>,
    stack: Option<String>,
}

impl Said {
    fn new(fields: &Index<'_>, depth: usize) -> Self {
        let mut said = Self::default();
        if let Some(depth) = depth.checked_sub(1) {
            ERRORS.iter().filter_map(|name| first_object(fields.get(name)?)).for_each(|inner| {
                said.add(Self::new(&Index::new(inner), depth));
            });
        }
        let all = |names: &[&str]| -> Vec<String> {
            names.iter().filter_map(|name| text_of(fields.get(name)?)).filter(|text| !text.is_empty()).collect()
        };
        let is_word = |text: &String| !text.contains(char::is_whitespace);
        said.add(Self {
            names: all(NAMES),
            codes: all(CODES).into_iter().filter(is_word).collect(),
            hints: all(HINTS).into_iter().filter(is_word).collect(),
            statuses: all(STATUSES).iter().filter_map(|text| failed_status(text)).collect(),
            message: all(MESSAGES).into_iter().next(),
            stack: all(STACKS).into_iter().next(),
        });
        if let Some(depth) = depth.checked_sub(1) {
            AROUND.iter().filter_map(|name| fields.get(name).filter(|raw| raw.is_object())).for_each(|around| {
                let inner = Self::new(&Index::new(around), depth);
                said.codes.extend(inner.codes);
                said.statuses.extend(inner.statuses);
            });
        }
        said
    }

    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.codes.extend(other.codes);
        self.hints.extend(other.hints);
        self.statuses.extend(other.statuses);
        self.message = self.message.take().or(other.message);
        self.stack = self.stack.take().or(other.stack);
    }

    /// Returns what tells most: a code or a name that a table has, then a name whose words say something or a status,
    /// then any name.
    fn telling(&self) -> Option<String> {
        let is_own = |name: &&String| !is_of_every_kind(name);
        let mut any = self.codes.iter().chain(&self.names).chain(&self.hints).filter(is_own);
        if let Some(known) = any.find(|name| is_known(name)) {
            return Some(known.clone());
        }
        let numbers = self.codes.iter().filter_map(|code| failed_status(code));
        let status = self.statuses.iter().copied().chain(numbers).next();
        let worded = self.names.iter().chain(&self.codes).filter(is_own);
        let worded = worded.filter_map(|name| Some((name, names::find(name)?.class))).next();
        match (worded, status) {
            (Some((_, class)), Some(number)) if is_specific(number) && class_of(number) != Some(class) => {
                Some(number.to_string())
            }
            (Some((name, _)), _) => Some(name.clone()),
            (None, Some(number)) => Some(number.to_string()),
            (None, None) => {
                let all = || self.names.iter().chain(&self.codes);
                let named = all().find(|name| is_own(name));
                named.or_else(|| all().find(|name| !is_address(name))).cloned()
            }
        }
    }
}

fn class_of(number: u16) -> Option<Class> {
    status::http(number).map(|(class, _)| class)
}

/// Whether servers use a status for one kind of error.
fn is_specific(number: u16) -> bool {
    !matches!(number, 400 | 409 | 422 | 500)
}

/// Returns a status of HTTP that says that a request failed.
fn failed_status(text: &str) -> Option<u16> {
    text.trim().parse().ok().filter(|number| (400..600).contains(number) && text.trim().len() == 3)
}

fn is_address(name: &str) -> bool {
    name == "about:blank" || name.contains("://")
}

fn is_of_every_kind(name: &str) -> bool {
    let is_number = name.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_number || is_address(name) || OF_EVERY_KIND.contains(&catalogue::key(name).as_str())
}

/// Whether a table has a name or a code.
fn is_known(name: &str) -> bool {
    tables::by_type(name).is_some_and(|meaning| meaning.settled && !tables::is_wrapper(name))
        || catalogue::by_type(name).is_some()
}

/// Returns an object, or the first one of a list.
fn first_object(raw: Raw<'_>) -> Option<Raw<'_>> {
    let found = if raw.is_array() { raw.elements().next()? } else { raw };
    found.is_object().then_some(found)
}

/// Returns a scalar's text, or the joined lines of an array of texts (Lambda's form of a stack).
fn text_of(raw: Raw<'_>) -> Option<String> {
    if !raw.is_array() {
        return raw.as_scalar().filter(|text| !text.is_empty());
    }
    let lines: Vec<String> = raw.elements().filter_map(Raw::as_string).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether a text is the name of an error, or a status of HTTP that says that a request failed.
pub fn names_error(text: &str) -> bool {
    is_error_name(text.trim()) || bare::status(text).is_some()
}

/// Returns the name, the code or the status that tells most about an error, from the members of its object.
///
/// ```
/// use domain::read::{error_type, json::Raw};
///
/// let error = r#"{"name":"AxiosError","code":"ERR_BAD_RESPONSE","status":503}"#;
/// assert_eq!(error_type(Raw::new(error)).as_deref(), Some("503"));
/// ```
pub fn error_type(object: Raw<'_>) -> Option<String> {
    read(&Index::new(object)).error_type
}

/// Returns the name, the code or the status of the first error that a message prints.
pub fn error_type_in(message: &str) -> Option<String> {
    let fields = Index::new(Raw::new(&message[message.find("{\"")?..]));
    if is_data(&fields) { None } else { read(&fields).error_type }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(text: &str) -> Index<'_> {
        Index::new(Raw::new(text))
    }

    #[test]
    fn what_tells_most_is_the_type() {
        for (object, error_type, message) in [
            (r#"{"name":"Error","code":"ECONNRESET","message":"aborted"}"#, "ECONNRESET", "aborted"),
            (r#"{"name":"PaymentError","status":503,"message":"m"}"#, "503", "m"),
            (r#"{"name":"InvalidSkuError","status":500,"message":"m"}"#, "InvalidSkuError", "m"),
            (r#"{"name":"TimeoutError","status":404,"detail":"m"}"#, "TimeoutError", "m"),
            (r#"{"type":"PaymentDeclined","code":17,"status":"failed","message":"m"}"#, "PaymentDeclined", "m"),
            (r#"{"code":17,"message":"m"}"#, "17", "m"),
            (r#"{"type":"about:blank","title":"m","status":404}"#, "404", "m"),
            (r#"{"error":"invalid_grant","error_description":"m"}"#, "invalid_grant", "m"),
            (r#"{"error":{"error":{"code":"ThrottlingException","message":"m"}}}"#, "ThrottlingException", "m"),
        ] {
            let found = read(&index(object));
            let found = (found.error_type.as_deref(), found.message.as_deref());
            assert_eq!(found, (Some(error_type), Some(message)), "{object}");
        }
    }
}
