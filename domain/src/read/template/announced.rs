//! Whether what stands in quotation marks is the text of an error rather than data: `upstream said "connection refused"`,
//! `Transaction aborted: "duplicate key"`, but not `For input string: "timeout"`.

use alloc::string::String;

/// Words before an answer of somebody else, or before the text of an error.
#[rustfmt::skip]
const ANNOUNCERS: &[&str] = &[
    "said", "says", "saying", "answered", "answers", "replied", "reply", "returned", "returns", "responded", "response", "resulted", "reported", "reports",
    "error", "errors", "err", "exception", "message", "msg", "errmsg", "errormessage", "grpc_message", "detail", "details", "desc", "description", "reason",
    "cause", "because", "failed", "failure", "body", "output", "stderr", "some",
];

/// Words before a code, whose text is in quotation marks: `Result Code 51 "Busy"`, `StatusCode="Unavailable"`.
const CODES: [&str; 4] = ["status", "statuscode", "statusmessage", "code"];

/// Words between an announcement and the answer: `replied with`, `resulted in a`.
const BETWEEN: &[&str] = &["with", "in", "a", "an", "was", "is", "body", "content", "as", "by", "the"];
/// How many of them there may be.
const BETWEEN_MAX: usize = 2;

/// Words of a failure: a quotation after a colon at the end of such a message is its reason.
#[rustfmt::skip]
const FAILURES: &[&str] = &[
    "failed", "failure", "aborted", "closed", "lost", "exhausted", "interrupted", "gave", "broken", "not", "cannot", "can't", "couldn't", "unable", "state", "answer",
    "response", "reply", "body", "json", "retries", "connect", "calling", "call",
];
/// Words about what a program was given. What follows them is that.
#[rustfmt::skip]
const INPUTS: &[&str] = &[
    "convert", "parse", "parsing", "string", "literal", "input", "value", "format", "deserialize", "match", "enum", "decode", "name", "type", "key", "field", "found",
    "line", "file", "directory", "path",
];

/// The text before a quotation that may announce it, bytes: a short clause.
const BEFORE_BYTES_MAX: usize = 120;
/// What may follow a quotation that ends a message, bytes.
const END_BYTES_MAX: usize = 8;

/// Whether a quotation between these texts is a sentence about the error.
pub fn is_sentence(before: &str, after: &str) -> bool {
    let is_end = || after.len() <= END_BYTES_MAX && after.chars().all(is_end_mark);
    last_word(before).is_some_and(|word| ANNOUNCERS.contains(&word.as_str()))
        || is_end() && follows_failure(near(before))
}

/// Whether a quotation between these texts tells what went wrong: it is a sentence about the error, or the text of its
/// code or of its type.
pub fn is_answer(before: &str, after: &str) -> bool {
    is_sentence(before, after) || announces(before)
}

/// Whether the end of a text announces what went wrong, in words or in an object.
pub fn announces(before: &str) -> bool {
    let is_of_error = |word: String| {
        ANNOUNCERS.contains(&word.as_str())
            || CODES.contains(&word.as_str())
            || word.ends_with("error")
            || word.ends_with("exception")
    };
    // `Closed: (403) 'ACCESS_REFUSED'`
    let ends_code = || {
        let number = near(before).trim_end().strip_suffix(')').and_then(|text| text.rsplit('(').next());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    ends_code() || last_word(before).is_some_and(is_of_error)
}

/// Returns the last word of a text that may announce something, in lower case, without small words and a number after it.
fn last_word(before: &str) -> Option<String> {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '-' | '(' | ')' | '[' | ',' | '>');
    let before = near(before).trim_end_matches(is_mark);
    if before.ends_with(['"', '\'', '\\']) {
        // `at 'title': 'Rate limit exceeded'`: a name in quotation marks announces nothing.
        return None;
    }
    let mut words = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut word = words.next()?;
    for _ in 0..BETWEEN_MAX {
        if BETWEEN.contains(&word) {
            word = words.next()?;
        }
    }
    if word.bytes().all(|b| b.is_ascii_digit()) {
        word = words.next()?;
    }
    Some(word.to_lowercase())
}

fn near(before: &str) -> &str {
    &before[before.floor_char_boundary(before.len().saturating_sub(BEFORE_BYTES_MAX))..]
}

fn is_end_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '!' | ')' | ']' | '>')
}

/// Whether a text ends with a clause about a failure and a colon: `Transaction aborted:`, `Could not save order 7:`.
fn follows_failure(before: &str) -> bool {
    let Some(clauses) = before.trim_end().strip_suffix(':') else { return false };
    let clause = clauses.rsplit(": ").next().unwrap_or(clauses).to_lowercase();
    let mut words = clause.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let mut is_failure = false;
    let is_input = words.any(|word| {
        is_failure |= FAILURES.contains(&word);
        INPUTS.contains(&word)
    });
    is_failure && !is_input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_announced_by_a_word_a_code_or_a_failure() {
        for before in
            ["upstream said ", "it replied with a ", "Server error ", "Result Code 51 ", "Closed: (403) ", "E: ("]
        {
            assert_eq!(announces(before), before != "E: (", "{before}");
        }
        for (before, after, expected) in [
            ("Transaction aborted: ", "", true),
            ("Invalid state: ", ".", true),
            ("Transaction aborted: ", " for order 7", false),
            ("could not convert string to float: ", "", false),
            ("error at 'title': ", "", false),
            ("Titel: ", "", false),
            ("", "", false),
        ] {
            assert_eq!(is_answer(before, after), expected, "{before}");
        }
    }
}
