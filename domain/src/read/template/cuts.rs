//! Where the cause ends in a message, and where the error beneath begins: for titles.

use crate::text::head;

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
