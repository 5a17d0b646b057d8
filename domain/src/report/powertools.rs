//! The errors of single records that Powertools for AWS Lambda packs into one.
//!
//! When every record fails, Python's batch processor raises one error whose message contains the traceback of each
//! record, in the order of the batch. TypeScript's says only that all have failed, and leaves the reasons to the log.

use super::ReportedError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How Python's message begins (aws_lambda_powertools/utilities/batch/base.py).
const PYTHON_ALL_FAILED: &str = "All records failed processing.";
/// How TypeScript's ends (packages/batch/src/errors.ts).
const TYPESCRIPT_ALL_FAILED: &str = "See individual errors below.";
/// How each traceback begins.
const TRACEBACK: &str = "Traceback (most recent call last):";
/// The lines that introduce a traceback of another error of the same record: its cause, or what it was raised in.
const CHAINED: [&str; 2] = [
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
];

/// Whether the error says only that every record failed, so that the reasons are in the log.
pub fn is_thin(error: &ReportedError) -> bool {
    error.message.as_deref().is_some_and(|message| message.trim_end().ends_with(TYPESCRIPT_ALL_FAILED))
}

/// Returns the errors of the records in the order of the batch; empty for any other message.
pub fn split(message: &str) -> Vec<ReportedError> {
    if !message.starts_with(PYTHON_ALL_FAILED) {
        return Vec::new();
    }
    let mut stacks: Vec<String> = Vec::new();
    for piece in message.split(TRACEBACK).skip(1) {
        let is_chained = stacks.last().is_some_and(|stack| CHAINED.iter().any(|line| stack.trim_end().ends_with(line)));
        match stacks.last_mut() {
            Some(stack) if is_chained => {
                stack.push_str(TRACEBACK);
                stack.push_str(piece);
            }
            _ => stacks.push(format!("{TRACEBACK}{piece}")),
        }
    }
    stacks.iter().map(|stack| of_traceback(stack.trim_end())).collect()
}

/// Reads type and message from the end of a traceback: the first line without indentation after the last frame.
pub fn of_traceback(stack: &str) -> ReportedError {
    let last = &stack[stack.rfind(TRACEBACK).unwrap_or(0)..];
    let mut at = 0;
    let mut lines = last.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        (start, line)
    });
    // The first line is the traceback's own heading.
    let raised = lines.nth(1).into_iter().chain(lines).find(|(_, line)| is_raised(line));
    let text = raised.map_or("", |(start, _)| last[start..].trim_end());
    let (error_type, message) = text.split_once(": ").map_or((text, None), |(name, message)| (name, Some(message)));
    ReportedError {
        error_type: (!error_type.is_empty()).then(|| error_type.to_string()),
        message: message.map(ToString::to_string),
        stack: Some(stack.to_string()),
    }
}

/// Whether a line of a traceback begins the error itself. Frames and their code are indented.
fn is_raised(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "All records failed processing. 3 individual errors logged separately below.\n\n\
        Traceback (most recent call last):\n  File \"/var/task/app.py\", line 7, in handle\n    price = order['price']\n\
        KeyError: 'price'\n\n\
        Traceback (most recent call last):\n  File \"/var/task/app.py\", line 8, in handle\n    int(x)\n\
        ValueError: bad: x\n\nThe above exception was the direct cause of the following exception:\n\n\
        Traceback (most recent call last):\n  File \"/var/task/app.py\", line 9, in handle\n    raise Declined() from e\n\
        app.Declined: card declined\nsecond line\n\n\
        Traceback (most recent call last):\n  File \"/var/task/app.py\", line 11, in handle\n    assert order\n\
        AssertionError\n";

    #[test]
    fn pythons_message_is_split_in_record_order() {
        let errors = split(PYTHON);
        let read: Vec<_> = errors.iter().map(|error| (error.error_type.as_deref(), error.message.as_deref())).collect();
        let wanted = [
            (Some("KeyError"), Some("'price'")),
            (Some("app.Declined"), Some("card declined\nsecond line")),
            (Some("AssertionError"), None),
        ];
        assert_eq!(read, wanted);
        let chained = errors[1].stack.as_deref().unwrap_or_default();
        assert!(chained.contains("ValueError: bad: x") && chained.contains("line 9"), "{chained}");
    }

    #[test]
    fn other_messages_are_not_split() {
        for other in ["", "KeyError: 'price'", "Traceback (most recent call last):\n  File \"a.py\"\nE: m"] {
            assert_eq!(split(other), [], "{other}");
        }
        assert_eq!(split("All records failed processing. 3 individual errors logged separately below."), []);
    }

    #[test]
    fn typescripts_message_sends_the_reader_to_the_log() {
        let error = |message: &str| ReportedError { message: Some(message.into()), ..ReportedError::default() };
        assert!(is_thin(&error("All records failed processing. See individual errors below.")));
        assert!(!is_thin(&error("card declined")));
        assert!(!is_thin(&ReportedError::default()));
    }
}
