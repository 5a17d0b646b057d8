//! Where the cause ends in a message, and where the error beneath begins: for titles.

use crate::text::head;
use alloc::borrow::Cow;
use alloc::string::String;

/// The part of a message that a title comes from, bytes.
const LOOKED_AT_BYTES_MAX: usize = 2 * 1024;

/// What follows the cause: details, statements, parameters, ids of requests, help.
#[rustfmt::skip]
const MARKS: &[&str] = &[
    "[SQL:", "(SQL:", "(Connection:", "[parameters:", "(Background on this error", "For further information", "For more information",
    "See http", "see http", "Read more at", "Request ID:", "RequestId:", "Learn more at", "Visit http", "DETAIL:", "HINT:", "More info:",
    ", failedMessage=",
];

/// Returns the position after the cause.
pub fn end_of_cause(text: &str) -> usize {
    let looked_at = head(text, LOOKED_AT_BYTES_MAX);
    let mut end = text.len();
    for (at, byte) in looked_at.bytes().enumerate() {
        let is_mark = match byte {
            b'[' | b'(' | b',' | b'F' | b'S' | b's' | b'R' | b'L' | b'V' | b'D' | b'H' | b'M' => {
                MARKS.iter().any(|mark| looked_at[at..].starts_with(mark))
            }
            b'\n' => labels_detail(&looked_at[at + 1..]) || looked_at[at + 1..].starts_with("params:"),
            _ => false,
        };
        // A message that begins with a detail has nothing else.
        if is_mark && at > 0 {
            end = at;
            break;
        }
    }
    text[..end].trim_end_matches([' ', '\n', '(', '[', ',', ';', '\t', '\r']).len()
}

/// Returns a message without the ids that Azure's brokers write at its end.
pub fn without_tracking(text: &str) -> &str {
    const MARKS: [&str; 2] = ["TrackingId:", "Reference:"];
    // It is far cheaper to look for one letter.
    let is_tracked = text.match_indices('T').any(|(at, _)| text[at..].starts_with(MARKS[0]));
    if !is_tracked || !(text.contains("SystemTracker:") || text.contains("Timestamp:")) {
        return text;
    }
    let at = MARKS.iter().filter_map(|mark| text.find(mark)).min().filter(|at| *at > 0);
    at.map_or(text, |at| text[..at].trim_end_matches([' ', ',', '.', '(', '\n']))
}

/// Returns a message with marks in the place of the values that Laravel writes into its statements without quotation marks:
/// `(Connection: mysql, SQL: insert into `users` (`name`) values (Anna Schmidt, 12))`.
pub fn without_bindings(text: &str) -> Cow<'_, str> {
    const VALUES: &str = " values (";
    // The names of columns have quotation marks, so what follows a value is known.
    const ENDS: [&str; 10] =
        [", `", ", \"", " where ", " and ", " or ", " order by ", " group by ", " limit ", " for update", ")"];
    let begin = text.find("(Connection: ").and_then(|at| Some(at + text[at..].find("SQL: ")?));
    let Some(begin) = begin else { return Cow::Borrowed(text) };
    let (before, statement) = text.split_at(begin);
    let mut out = String::from(before);
    let mut rest = statement;
    while let Some(at) = rest.find(" = ") {
        let value = &rest[at + " = ".len()..];
        let end = ENDS.iter().filter_map(|end| value.find(end)).min().unwrap_or(value.len());
        out.push_str(&rest[..at + " = ".len()]);
        out.push('?');
        rest = &value[end..];
    }
    match rest.find(VALUES) {
        Some(at) => {
            out.push_str(&rest[..at + VALUES.len()]);
            out.push_str("?))");
        }
        None => out.push_str(rest),
    }
    Cow::Owned(out)
}

/// Whether a line is a field of PostgreSQL's errors, in any language: a word and a colon, after blanks.
fn labels_detail(line: &str) -> bool {
    let indented = line.trim_start_matches(' ');
    let label = indented.find(|c: char| !c.is_alphabetic()).unwrap_or(indented.len());
    indented.len() < line.len() && indented.starts_with(char::is_uppercase) && indented[label..].starts_with(": ")
}

/// Returns where the outer error ends and where the one beneath begins, if a message names both.
pub fn beneath(text: &str) -> Option<(usize, usize)> {
    const MARKS: [&str; 2] = ["(Caused by ", "nested exception is "];
    let text = head(text, LOOKED_AT_BYTES_MAX);
    // Few messages have one of the signs, and asking for it is cheaper than searching for the words.
    if !text.bytes().any(|byte| matches!(byte, b'(' | b'x')) {
        return None;
    }
    let (at, mark) = MARKS.iter().find_map(|mark| text.rfind(mark).map(|at| (at, mark)))?;
    Some((text[..at].trim_end_matches([' ', ';', ':']).len(), at + mark.len()))
}
