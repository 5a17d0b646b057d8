//! The fingerprint: the stable identity of a cause.
//!
//! A hash over the version, the main queue, the error types of the chain with the symptoms that its messages name, and
//! the most specific evidence available: the in-app frames; else all frames; without a stack, the message template;
//! without an error, the message type and the body's own problem. Two functions compute the same fingerprint without any
//! coordination.

mod symptoms;

use super::frames::{Cause, Frame, Stack};
use super::template::Template;
use super::{Case, template, title};
use crate::id::{GroupId, hash_hex};
use crate::text::head;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The version of the fingerprint. Any change that gives some letter another fingerprint increments it.
pub const FINGERPRINT_VERSION: &str = "9";

/// The first part of a family. It stays if the version of the fingerprint changes: then a new fingerprint of a known cause
/// has the family and, if its template is the same, the skeleton of the old one, and joins its group. It changes only
/// with the parts of a family.
const FAMILY_VERSION: &str = "3";

/// The maximum number of frames that count.
const FRAMES_MAX: usize = 32;

/// The part of the message of a cause that is read, bytes.
const CAUSE_BYTES_MAX: usize = 512;

/// What merging compares of a fingerprint. Stored when the fingerprint is first seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skeleton {
    /// A hash of everything in the fingerprint but its message: queue, error types, frames, symptoms of causes. Only variants of one
    /// family are merged.
    pub family: String,
    /// The message's template.
    pub template: String,
}

/// The identity of a cause, with its title and location.
pub struct Fingerprint {
    pub group: GroupId,
    pub title: String,
    pub culprit: Option<String>,
}

pub fn compute(case: Case<'_>) -> Fingerprint {
    let evidence = Evidence::new(case);
    let mut parts = evidence.family(FINGERPRINT_VERSION, case);
    if evidence.by_message {
        parts.push(&evidence.template.normal);
    } else if !evidence.symptoms.is_empty() {
        parts.extend(["symptoms", &evidence.symptoms]);
    }
    let title =
        title::title(case, evidence.error_type, &evidence.template, evidence.causes.last().map(|(root, _)| root));
    Fingerprint { group: GroupId::new(hash_hex(&parts)), title, culprit: evidence.culprit() }
}

/// Returns what merging compares of the fingerprint; `None` if the frames or the body decide the fingerprint alone.
pub fn skeleton(case: Case<'_>) -> Option<Skeleton> {
    let evidence = Evidence::new(case);
    let family = hash_hex(&evidence.family(FAMILY_VERSION, case));
    evidence.by_message.then_some(Skeleton { family, template: evidence.template.normal })
}

/// The evidence that identifies a cause.
struct Evidence<'a> {
    error_type: &'a str,
    template: Template,
    /// Whether the whole message counts. Otherwise its symptoms do.
    by_message: bool,
    symptoms: String,
    /// For each error that led to this one: its message's template, and the symptoms in it.
    causes: Vec<(Template, String)>,
    /// A line for each frame that counts.
    frame_lines: String,
    counted: Vec<&'a Frame<'a>>,
    stack: &'a Stack<'a>,
}

impl<'a> Evidence<'a> {
    fn new(case: Case<'a>) -> Self {
        let (stack, failure) = (case.stack, case.failure);
        // A bare stack names its error on its first line.
        let head = stack.head.as_ref();
        let error_type = failure.error_type.as_deref().or(head.map(|h| h.error_type.as_str())).unwrap_or_default();
        let message = failure.message.as_deref().or(head.map(|h| h.message.as_str())).unwrap_or_default();
        let in_app = stack.frames.iter().any(|frame| frame.in_app);
        let counted: Vec<&Frame<'_>> =
            stack.frames.iter().filter(|frame| frame.in_app || !in_app).take(FRAMES_MAX).collect();
        let error_type = error_type.trim();
        let template = template::from_message(message, error_type);
        // A single function may raise many errors of a general type, and line numbers do not count.
        let is_whole = counted.is_empty() || is_general(error_type);
        let symptoms = if is_whole { String::new() } else { symptoms::symptoms(&template) };
        let by_message = !failure.is_empty() && (is_whole || symptoms.is_empty() && symptoms::is_sentence(&template));
        Self {
            error_type,
            symptoms,
            causes: stack.causes.iter().map(of_cause).collect(),
            template,
            by_message,
            frame_lines: lines(&counted),
            counted,
            stack,
        }
    }

    /// Everything but the message.
    fn family<'b>(&'b self, version: &'static str, case: Case<'b>) -> Vec<&'b str> {
        let queue = case.main_queue.map(|arn| arn.as_str()).unwrap_or_default();
        let mut parts = Vec::from([version, queue, self.error_type]);
        if case.failure.is_empty() {
            let problem = case.payload_problem.unwrap_or("none");
            parts.extend(["body", case.message_type.unwrap_or_default(), problem]);
        } else if !self.frame_lines.is_empty() {
            parts.push("frames");
            parts.extend(self.frame_lines.split_terminator('\n'));
        }
        parts.push("causes");
        let mut before = None;
        let causes = self.stack.causes.iter().zip(&self.causes);
        for cause in causes.map(|(cause, (_, symptoms))| (cause.error_type.as_str(), symptoms.as_str())) {
            // Two addresses that refuse a connection are one cause.
            if before == Some(cause) {
                continue;
            }
            before = Some(cause);
            let (error_type, symptoms) = cause;
            parts.push(error_type);
            if !symptoms.is_empty() {
                parts.extend(["symptoms", symptoms]);
            }
        }
        if self.by_message {
            parts.push("message");
        }
        parts
    }

    fn culprit(&self) -> Option<String> {
        let thrown = if self.stack.innermost_last { self.counted.last() } else { self.counted.first() };
        thrown.map(|frame| culprit(frame))
    }
}

/// Returns a line for each frame. Each was read from one line of a stack, so its names have no line break.
fn lines(frames: &[&Frame<'_>]) -> String {
    let bytes = frames.iter().map(|frame| frame.module.len() + frame.function.len() + 2).sum();
    let mut lines = String::with_capacity(bytes);
    for frame in frames {
        for part in [&frame.module, " ", &frame.function, "\n"] {
            lines.push_str(part);
        }
    }
    lines
}

/// Returns the template of a cause's message, and the symptoms in it.
fn of_cause(cause: &Cause) -> (Template, String) {
    let message = head(&cause.message, CAUSE_BYTES_MAX);
    if message.is_empty() {
        return Default::default();
    }
    let template = template::from_message(message, &cause.error_type);
    // Without a type, the message is all that tells one cause from another.
    let symptoms = if cause.error_type.is_empty() {
        String::from(head(&template.normal, template.normal_end))
    } else {
        symptoms::symptoms(&template)
    };
    (template, symptoms)
}

/// Whether the type is one that its language or its validator uses for errors of every kind.
fn is_general(error_type: &str) -> bool {
    #[rustfmt::skip]
    const GENERAL: &[&str] = &[
        "", "Error", "Exception", "RuntimeException", "IllegalStateException", "IllegalArgumentException",
        "UncheckedIOException", "IOException", "SQLException", "InvalidOperationException", "ArgumentException",
        "ApplicationException", "RuntimeError", "ValueError", "TypeError", "KeyError", "LookupError", "OSError",
        "StandardError", "ArgumentError", "AssertionError", "errorString", "wrapError", "joinError", "fundamental",
        "withStack", "withMessage", "panic", "LogicException", "ErrorException", "DomainException", "error",
        // One for every field of a document.
        "RecordInvalid", "ValidationError", "ValidationErrors", "ValidationException", "ValidationFailure", "ValidatorError",
        "ConstraintViolationException", "MethodArgumentNotValidException", "ZodError",
    ];
    let name = error_type.rsplit(['.', ':', '\\', '$', '*']).next().unwrap_or(error_type);
    GENERAL.contains(&name)
}

/// The function and its location.
fn culprit(frame: &Frame<'_>) -> String {
    match (frame.function.is_empty(), frame.module.is_empty()) {
        (true, _) => frame.module.clone().into_owned(),
        (false, true) => frame.function.clone().into_owned(),
        (false, false) => [&frame.function, " (", &frame.module, ")"].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::skeleton;
    use crate::reading::Failure;
    use alloc::string::ToString;

    /// What version 3 of the fingerprint stored for this failure.
    #[test]
    fn a_family_does_not_change_with_the_version_of_the_fingerprint() {
        let failure = Failure {
            error_type: Some("E".to_string()),
            message: Some("order 7 is closed".to_string()),
            ..Failure::default()
        };
        let stored = Skeleton {
            family: "a1ddabd7db4eb492b341c91f8896afb6".to_string(),
            template: "order * is closed".to_string(),
        };
        assert_eq!(skeleton(&failure, None), Some(stored));
    }
}
