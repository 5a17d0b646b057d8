//! The error on a logged line, in the forms of the managed runtimes' loggers and of Powertools' logger.

use domain::report::ReportedError;
use domain::report::powertools::of_traceback;
use serde_json::{Map, Value};

/// How a traceback of Python begins.
const TRACEBACK: &str = "Traceback (most recent call last):";
/// What comes before the text on lines of the managed runtimes, newest part last.
const LEVELS: [&str; 4] = ["[ERROR]", "[CRITICAL]", "\tERROR\t", "\tFATAL\t"];
/// Names of an error's type in JSON, best first.
const TYPES: [&str; 4] = ["errorType", "exception_name", "error_type", "name"];
const MESSAGES: [&str; 3] = ["errorMessage", "message", "msg"];
const STACKS: [&str; 5] = ["stack", "stackTrace", "exception", "stack_trace", "trace"];

/// Reads the error on a line. A line in no known form is the error's message.
pub fn read(line: &str) -> ReportedError {
    if let Some(object) = json_on(line) {
        return of_json(&object);
    }
    if let Some(at) = line.find(TRACEBACK) {
        return of_traceback(line[at..].trim_end());
    }
    let text = LEVELS.iter().filter_map(|level| line.split_once(level)).map(|(_, text)| text).next_back();
    let text = text.unwrap_or(line).trim();
    ReportedError { message: (!text.is_empty()).then(|| text.to_owned()), ..ReportedError::default() }
}

/// Returns the object that a line consists of, or ends with: Node's runtime writes `Invoke Error` and the error.
fn json_on(line: &str) -> Option<Map<String, Value>> {
    let text = &line[line.find('{')?..];
    match serde_json::from_str(text.trim()).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn of_json(object: &Map<String, Value>) -> ReportedError {
    // Powertools for TypeScript and Node's JSON logs put the error into a member of its own.
    let inner = ["error", "err", "errorMessage", "message"].iter().find_map(|name| object.get(*name)?.as_object());
    let find = |names: &[&str]| {
        let places = inner.into_iter().chain([object]);
        places.flat_map(|place| names.iter().filter_map(|name| place.get(*name))).find_map(text_of)
    };
    ReportedError { error_type: find(&TYPES), message: find(&MESSAGES), stack: find(&STACKS) }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).map(str::trim_end).collect();
            Some(lines.join("\n"))
        }
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: (Option<&str>, Option<&str>, Option<&str>)) {
        let read = read(line);
        assert_eq!((read.error_type.as_deref(), read.message.as_deref(), read.stack.as_deref()), wanted, "{line}");
    }

    #[test]
    fn text_lines() {
        check(
            "[ERROR]\t2026-11-22T10:00:00.000Z\tr-1\tno price",
            (None, Some("2026-11-22T10:00:00.000Z\tr-1\tno price"), None),
        );
        check("2026-11-22T10:00:00.000Z\tr-1\tERROR\tno price", (None, Some("no price"), None));
        check("Failed: no price", (None, Some("Failed: no price"), None));
        let stack = "Traceback (most recent call last):\n  File \"app.py\", line 3, in f\n    x\nKeyError: 'price'";
        check(&format!("[ERROR] order failed\n{stack}\n"), (Some("KeyError"), Some("'price'"), Some(stack)));
    }

    #[test]
    fn nodes_invoke_error() {
        let line = "2026-11-22T10:00:00.000Z\tr-1\tERROR\tInvoke Error \t{\"errorType\":\"Declined\",\
                    \"errorMessage\":\"no\",\"code\":\"E1\",\"stack\":[\"Declined: no\",\"    at f (a.js:1:2)\"]}";
        check(line, (Some("Declined"), Some("no"), Some("Declined: no\n    at f (a.js:1:2)")));
    }

    #[test]
    fn powertools_loggers() {
        let python = r#"{"level":"ERROR","message":"failed","exception":"Traceback…","exception_name":"KeyError"}"#;
        check(python, (Some("KeyError"), Some("failed"), Some("Traceback…")));
        let typescript =
            r#"{"level":"ERROR","message":"failed","error":{"name":"Declined","message":"no","stack":"s"}}"#;
        check(typescript, (Some("Declined"), Some("no"), Some("s")));
    }
}
