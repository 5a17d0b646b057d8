//! Data that a message prints: an order, an event.

use super::{ERRORS, STATUSES, failed_status, first_object, is_known, text_of};
use crate::read::classify::tables::catalogue;
use crate::read::json::{Index, Raw};
use crate::read::type_name::looks_like_type;
use alloc::string::String;
use alloc::vec::Vec;

/// Members that only the object of an error has.
const SIGNS: [&str; 6] = ["$fault", "$metadata", "__type", "ResponseMetadata", "isAxiosError", "syscall"];

/// Members that describe an error, by their [`catalogue::key`].
const DESCRIPTIONS: &[&str] = &[
    "message",
    "msg",
    "errormessage",
    "detail",
    "details",
    "title",
    "error",
    "errors",
    "err",
    "reason",
    "description",
    "errordescription",
    "faultstring",
    "errno",
    "stack",
    "stacktrace",
    "trace",
    "cause",
    "fault",
    "exception",
];
/// Members beside them, of the answer that brought the error.
const OF_ANSWERS: &[&str] = &[
    "code",
    "errorcode",
    "errcode",
    "status",
    "statuscode",
    "statustext",
    "httpstatus",
    "httpstatuscode",
    "httpcode",
    "responsecode",
    "type",
    "errortype",
    "name",
    "errorname",
    "instance",
    "timestamp",
    "time",
    "date",
    "path",
    "method",
    "url",
    "uri",
    "config",
    "traceid",
    "requestid",
    "correlationid",
    "spanid",
    "hostname",
    "address",
    "port",
    "host",
    "param",
    "docurl",
    "moreinfo",
    "domain",
    "location",
    "erroruri",
    "success",
    "ok",
    "retryable",
    "retryafter",
    "data",
    "response",
    "request",
    "headers",
    "body",
    "metadata",
    "extensions",
    "meta",
    "help",
    "hint",
    "info",
    "severity",
    "level",
    "service",
    "server",
    "version",
    "attempts",
    "attempt",
    "elapsed",
    "duration",
    "command",
    "number",
    "endpoint",
    "region",
    "operation",
];

/// Whether an object that is printed in a message is data: it has the name or the type of a thing, or members that no
/// answer has and nothing that describes an error.
pub fn is_data(fields: &Index<'_>) -> bool {
    if is_error(fields) {
        return false;
    }
    let text = |names: &[&str]| names.iter().find_map(|name| fields.text(name));
    let is_thing = text(&["name"]).is_some_and(|name| !is_error_name(&name));
    let is_event = text(&["type", "eventType", "event_type", "detail-type"]).is_some_and(|kind| is_event_name(&kind));
    let keys: Vec<String> = fields.members().iter().map(|(key, _)| catalogue::key(key)).collect();
    let is_described = keys.iter().any(|key| DESCRIPTIONS.contains(&key.as_str()));
    let is_foreign = |key: &&String| !DESCRIPTIONS.contains(&key.as_str()) && !OF_ANSWERS.contains(&key.as_str());
    is_thing || is_event || !is_described && keys.iter().any(|key| is_foreign(&key))
}

/// Whether the members of an object are those of an error, whatever else it has.
fn is_error(fields: &Index<'_>) -> bool {
    let holds = |name: &str| {
        let inner = first_object(fields.get(name)?).map(Index::new)?;
        inner.first(&["message", "Message", "code", "Code", "type", "status", "faultstring", "errorMessage"])
    };
    let answers = || STATUSES.iter().skip(1).filter_map(|name| text_of(fields.get(name)?));
    let is_refused =
        || ["success", "ok"].iter().any(|name| fields.get(name).is_some_and(|raw| raw.text().trim_end() == "false"));
    let names = ["name", "type", "errorType", "error_type", "code", "errorCode", "error_code"];
    SIGNS.iter().any(|sign| fields.get(sign).is_some())
        || ERRORS.iter().any(|name| holds(name).is_some())
        || answers().any(|text| failed_status(&text).is_some())
        || is_refused()
        || names.iter().any(|name| fields.text(name).is_some_and(|text| is_error_name(&text)))
}

pub fn is_error_name(name: &str) -> bool {
    let is_word = !name.contains(char::is_whitespace);
    is_word
        && (is_known(name)
            || looks_like_type(name)
            || ["Error", "Exception", "error"].iter().any(|end| name.ends_with(end)))
}

/// `order.placed`: words in lower case with dots.
fn is_event_name(kind: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'));
    kind.contains('.') && kind.split('.').all(is_part) && !is_known(kind)
}

/// The objects of a message that are looked at.
const OBJECTS_MAX: usize = 16;

/// Returns a message without the data that is printed in it; `None` if there is none. An object without its end stays.
pub fn without_data(message: &str) -> Option<String> {
    let mut kept = String::new();
    let mut rest = message;
    for _ in 0..OBJECTS_MAX {
        let Some(at) = rest.find('{') else { break };
        let object = Raw::new(&rest[at..]);
        let Some(length) = object.whole_length() else { break };
        let fields = Index::new(object);
        let is_data = !fields.is_empty() && is_data(&fields);
        // An object in braces that is no JSON may hold one: `{code: {"a":1}}`.
        let end = at + if fields.is_empty() { 1 } else { length };
        kept += if is_data { &rest[..at] } else { &rest[..end] };
        if is_data {
            kept += "{}";
        }
        rest = &rest[end..];
    }
    (kept.len() + rest.len() != message.len()).then(|| kept + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_and_events_are_data() {
        for object in [
            r#"{"name":"Bolt M6","code":503}"#,
            r#"{"id":7,"status":503}"#,
            r#"{"type":"order.placed","status":500,"message":"Happy birthday"}"#,
            r#"{"order":{"code":"503"}}"#,
        ] {
            assert!(is_data(&Index::new(Raw::new(object))), "{object}");
        }
        for object in [
            r#"{"code":503,"message":"m"}"#,
            r#"{"status":503,"service":"prices"}"#,
            r#"{"orderId":7,"statusCode":503}"#,
            r#"{"order":7,"success":false,"status":503}"#,
            r#"{"order":7,"errorCode":"ThrottlingException"}"#,
            r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
            r#"{"orderId":7,"error":"no price"}"#,
            "{}",
        ] {
            assert!(!is_data(&Index::new(Raw::new(object))), "{object}");
        }
    }

    #[test]
    fn data_is_left_out_of_a_message() {
        for (message, rest) in [
            (r#"order {"id":7,"status":503} refused: {"status":503}"#, Some(r#"order {} refused: {"status":503}"#)),
            (r#"{sku} of {"id":7}"#, Some("{sku} of {}")),
            (r#"{a {"id":7,"b":{}}}"#, Some("{a {}}")),
            (r#"cut off {"id":7,"status":"#, None),
            (r#"{"status":503}"#, None),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(without_data(message).as_deref(), rest, "{message}");
        }
    }
}
