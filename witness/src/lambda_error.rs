//! The error that a runtime posts to `/error`, in the spellings of the managed runtimes.

use domain::report::{ReportedError, json};
use serde::Deserialize;
use serde_json::Value;

/// The body of `/error`. Python, Ruby, Java and .NET call the stack `stackTrace`, Node calls it `trace`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Posted {
    error_type: Option<String>,
    error_message: Option<Value>,
    stack_trace: Option<Value>,
    trace: Option<Value>,
    cause: Option<Box<Posted>>,
}

/// The most causes of an error that are read.
const CAUSES_MAX: usize = 10;

/// Reads the body of `/error` and the header `Lambda-Runtime-Function-Error-Type`.
pub fn read(body: &[u8], header: Option<&str>) -> ReportedError {
    let posted: Posted = json::parse(body).unwrap_or_default();
    // Custom runtimes may post any text.
    let raw = || Some(String::from_utf8_lossy(body).trim().to_owned()).filter(|text| !text.is_empty());
    let is_empty = posted.error_type.is_none() && posted.error_message.is_none();
    let message = if is_empty { raw() } else { posted.error_message.as_ref().map(text_of) };
    let error_type = posted.error_type.clone().or_else(|| header.map(str::to_owned));
    ReportedError {
        error_type: error_type.filter(|text| !text.is_empty()),
        message: message.filter(|text| !text.is_empty()),
        stack: stack_of(&posted),
    }
}

/// Returns the stack in the form in which the language prints it.
fn stack_of(posted: &Posted) -> Option<String> {
    if let Some(trace) = &posted.trace {
        return Some(lines_of(trace).join("\n")).filter(|text| !text.is_empty());
    }
    let lines = lines_of(posted.stack_trace.as_ref()?);
    let heading = heading_of(posted);
    if lines.iter().any(|line| line.trim_start().starts_with("File \"")) {
        let frames: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
        return Some(format!("Traceback (most recent call last):\n{frames}{heading}"));
    }
    if lines.is_empty() {
        return None;
    }
    let mut stack = printed(&heading, &lines);
    let mut cause = posted.cause.as_deref();
    for _ in 0..CAUSES_MAX {
        let Some(inner) = cause else { break };
        let lines = inner.stack_trace.as_ref().map(lines_of).unwrap_or_default();
        stack.push_str("\nCaused by: ");
        stack.push_str(&printed(&heading_of(inner), &lines));
        cause = inner.cause.as_deref();
    }
    Some(stack)
}

/// Returns frames under their error as Java and .NET print them. Java's runtime posts frames without their `at`.
fn printed(heading: &str, frames: &[String]) -> String {
    let frames = frames
        .iter()
        .map(|frame| frame.trim())
        .map(|frame| if frame.starts_with("at ") { format!("\n   {frame}") } else { format!("\n\tat {frame}") });
    format!("{heading}{}", frames.collect::<String>())
}

fn heading_of(posted: &Posted) -> String {
    let error_type = posted.error_type.as_deref().unwrap_or("Error");
    match posted.error_message.as_ref().map(text_of).filter(|text| !text.is_empty()) {
        Some(message) => format!("{error_type}: {message}"),
        None => error_type.to_owned(),
    }
}

fn lines_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(lines) => lines.iter().map(text_of).collect(),
        Value::String(text) => text.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, wanted: (Option<&str>, Option<&str>, Option<&str>)) {
        let read = read(body.as_bytes(), Some("Header.Type"));
        let read = (read.error_type.as_deref(), read.message.as_deref(), read.stack.as_deref());
        assert_eq!(read, wanted, "{body}");
    }

    #[test]
    fn python() {
        let body = r#"{"errorMessage": "'amount'", "errorType": "KeyError", "requestId": "r",
            "stackTrace": ["  File \"/var/task/app.py\", line 18, in handler\n    charge(order)\n"]}"#;
        let stack = "Traceback (most recent call last):\n  File \"/var/task/app.py\", line 18, in handler\n    \
                     charge(order)\nKeyError: 'amount'";
        check(body, (Some("KeyError"), Some("'amount'"), Some(stack)));
    }

    #[test]
    fn node() {
        let body = r#"{"errorType":"PaymentDeclined","errorMessage":"card declined",
            "trace":["PaymentDeclined: card declined","    at charge (/var/task/index.js:2:51)"]}"#;
        let stack = "PaymentDeclined: card declined\n    at charge (/var/task/index.js:2:51)";
        check(body, (Some("PaymentDeclined"), Some("card declined"), Some(stack)));
    }

    #[test]
    fn java_with_its_cause() {
        let body = r#"{"errorMessage":"no price","errorType":"shop.Refused","stackTrace":["shop.App.handle(App.java:12)"],
            "cause":{"errorMessage":"null","errorType":"java.lang.NullPointerException",
            "stackTrace":["shop.Price.of(Price.java:3)"]}}"#;
        let stack = "shop.Refused: no price\n\tat shop.App.handle(App.java:12)\nCaused by: \
                     java.lang.NullPointerException: null\n\tat shop.Price.of(Price.java:3)";
        check(body, (Some("shop.Refused"), Some("no price"), Some(stack)));
    }

    #[test]
    fn dotnet() {
        let body = r#"{"errorType":"KeyNotFoundException","errorMessage":"price",
            "stackTrace":["at Shop.Handler.Handle(SQSEvent e) in /src/Handler.cs:line 9"]}"#;
        let stack = "KeyNotFoundException: price\n   at Shop.Handler.Handle(SQSEvent e) in /src/Handler.cs:line 9";
        check(body, (Some("KeyNotFoundException"), Some("price"), Some(stack)));
    }

    #[test]
    fn whatever_else_a_runtime_posts() {
        check("", (Some("Header.Type"), None, None));
        let half =
            r#"{"errorType":"Declined","errorMessage":"order \ud83d","trace":["Declined: order \ud83d","  at f"]}"#;
        check(half, (Some("Declined"), Some("order \u{fffd}"), Some("Declined: order \u{fffd}\n  at f")));
        check("out of paper", (Some("Header.Type"), Some("out of paper"), None));
        check("{\"errorMessage\": 7}", (Some("Header.Type"), Some("7"), None));
        check("{\"errorType\": \"E\", \"stackTrace\": []}", (Some("E"), None, None));
        check("{\"errorType\": \"E\", \"stackTrace\": 7}", (Some("E"), None, None));
        assert_eq!(read(b"{\"errorType\": \"\"}", None), ReportedError::default());
    }
}
