//! The fingerprint: the stable identity of a cause.
//!
//! A hash over the version, the main queue, the error types of the chain, and then the most telling part that
//! there is: the in-app frames; without one, all frames; without a stack, the message template; without any
//! error, the message type and what is wrong with the body. Two functions that never met agree on it.

use super::frames::{Frame, Stack};
use super::{Case, template};
use crate::id::{GroupId, hash_hex};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The version of the fingerprint. Any change that gives one letter another fingerprint raises it.
pub const FINGERPRINT_VERSION: &str = "1";

/// The most frames that count.
const FRAMES_MAX: usize = 32;

/// The longest title, bytes: a line on the screen.
const TITLE_BYTES_MAX: usize = 240;

/// The identity of a cause, and how to call it.
pub struct Fingerprint {
    pub group: GroupId,
    pub title: String,
    pub culprit: Option<String>,
}

pub fn of(case: Case<'_>) -> Fingerprint {
    let stack = case.stack;
    // A stack alone names its error on its first line.
    let head = stack.head.clone().unwrap_or_default();
    let error_type = case.failure.error_type.as_deref().unwrap_or(&head.error_type).trim();
    let message = case.failure.message.as_deref().unwrap_or(&head.message);
    let Stack { frames, causes, .. } = stack;
    let template = template::of(message, error_type);
    let queue = case.main_queue.map(|arn| arn.as_str()).unwrap_or_default();

    let in_app = frames.iter().any(|frame| frame.in_app);
    let counted = frames.iter().filter(|frame| frame.in_app || !in_app).take(FRAMES_MAX);
    let frame_lines: Vec<String> = counted.clone().map(|f| format!("{} {}", f.module, f.function)).collect();
    let mut parts = Vec::from([FINGERPRINT_VERSION, queue, error_type]);
    if case.failure.is_empty() {
        let problem = case.payload_problem.unwrap_or("none");
        parts.extend(["body", case.message_type.unwrap_or_default(), problem]);
    } else if frame_lines.is_empty() {
        parts.extend(["message", &template]);
    } else {
        parts.push("frames");
        parts.extend(frame_lines.iter().map(String::as_str));
        // One function may raise many errors of a type that says nothing by itself, and lines do not count.
        if says_nothing(error_type) {
            parts.extend(["message", &template]);
        }
    }
    parts.push("causes");
    parts.extend(causes.iter().map(|cause| cause.error_type.as_str()));
    let culprit = if stack.innermost_last { counted.last() } else { counted.clone().next() }.map(culprit);
    Fingerprint { group: GroupId::new(hash_hex(&parts)), title: title(case, error_type, &template), culprit }
}

/// Whether a type is one of those that a language gives for errors of every kind.
fn says_nothing(error_type: &str) -> bool {
    #[rustfmt::skip]
    const GENERAL: &[&str] = &[
        "", "Error", "Exception", "RuntimeException", "IllegalStateException", "IllegalArgumentException",
        "UncheckedIOException", "IOException", "SQLException", "InvalidOperationException", "ArgumentException",
        "ApplicationException", "RuntimeError", "ValueError", "TypeError", "KeyError", "LookupError", "OSError",
        "StandardError", "ArgumentError", "AssertionError", "errorString", "wrapError", "joinError", "fundamental",
        "withStack", "withMessage", "panic", "LogicException", "ErrorException", "DomainException", "error",
    ];
    let name = error_type.rsplit(['.', ':', '\\', '$', '*']).next().unwrap_or(error_type);
    GENERAL.contains(&name)
}

/// The function and where it is.
fn culprit(frame: &Frame) -> String {
    match (frame.function.is_empty(), frame.module.is_empty()) {
        (true, _) => frame.module.clone(),
        (false, true) => frame.function.clone(),
        (false, false) => format!("{} ({})", frame.function, frame.module),
    }
}

fn title(case: Case<'_>, error_type: &str, template: &str) -> String {
    if case.failure.is_empty() {
        let what = case.payload_problem.unwrap_or("No error recorded");
        return case.message_type.map_or_else(|| what.to_string(), |kind| format!("{what}: {kind}"));
    }
    let short_type = error_type.rsplit(['.', '\\']).next().unwrap_or(error_type);
    let title = match (short_type.is_empty(), template.is_empty()) {
        (true, _) => template.to_string(),
        (false, true) => short_type.to_string(),
        (false, false) => format!("{short_type}: {template}"),
    };
    if title.len() > TITLE_BYTES_MAX { format!("{}…", super::stamp::head(&title, TITLE_BYTES_MAX)) } else { title }
}
