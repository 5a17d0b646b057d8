//! What a message says itself, without its data: keys, rejected values, names of files, bodies of requests.
//!
//! Words of data must not decide the class: `KeyError: 'connection refused'` looked for a key. But what stands in
//! quotation marks or braces may as well be the reason: `upstream said "connection refused"`. So it counts at once where
//! the word before announces an answer, and otherwise only if the rest of the message says nothing.

use super::objects::SIGNS;
use crate::read::template;
use crate::reading::{Class, Classification, Confidence, GUESS_PCT_MAX};
use crate::text;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The longest part in quotation marks or braces that is looked at as a unit, bytes.
const PART_BYTES_MAX: usize = 2 * 1024;

/// Words before an answer of somebody else, or before the text of an error.
#[rustfmt::skip]
const ANNOUNCERS: &[&str] = &[
    "said", "says", "saying", "answered", "answers", "replied", "reply", "returned", "returns", "responded", "response", "resulted", "reported", "reports",
    "error", "errors", "err", "exception", "message", "msg", "errmsg", "errormessage", "detail", "details", "desc", "description", "reason", "cause",
    "because", "failed", "failure", "body", "output", "stderr", "status", "statuscode", "statusmessage", "code", "some",
];

/// Words between an announcement and the answer: `replied with`, `resulted in a`.
const BETWEEN: &[&str] = &["with", "in", "a", "an", "was", "is", "body", "as", "by", "the"];
/// How many of them there may be.
const BETWEEN_MAX: usize = 2;

/// Members of an answer that tell about the error. The values of all others are data.
#[rustfmt::skip]
const MEMBERS: &[&str] = &[
    "error", "errors", "err", "exception", "message", "msg", "errmsg", "errormessage", "errortype", "errorcode", "error_message", "error_code", "error_type",
    "error_description", "detail", "details", "desc", "description", "reason", "cause", "code", "status", "statuscode", "status_code", "title", "type",
    "name", "fault", "faultstring", "kind", "__type", "issue",
];

/// The text before a quotation that may announce it, bytes: a short clause.
const BEFORE_BYTES_MAX: usize = 120;
/// The longest mark that closes a quotation, bytes.
const CLOSE_BYTES_MAX: usize = 3;

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
];

/// Marks that stand around the keys of objects.
const AROUND_KEYS: [char; 3] = ['"', '\'', '\\'];

/// Returns a message with a mask for each name, word and number of its data. `None` if it has none, or nothing else.
pub fn without_data(error_type: &str, message: &str) -> Option<String> {
    // Most messages have no mark at all.
    let is_mark = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'{' | b'/') || !b.is_ascii();
    if !message.bytes().any(is_mark) {
        return None;
    }
    let mut data = Vec::new();
    parts(message, 0, true, &mut data);
    if data.is_empty() {
        return None;
    }
    let mut said = String::with_capacity(message.len());
    let mut at = 0;
    for part in data {
        said.push_str(&message[at..part.start]);
        said.push(template::MASK);
        at = part.end;
    }
    said.push_str(&message[at..]);
    // A message that is one quotation is the reason, unless its type says that something was looked up.
    (said.contains(char::is_alphabetic) || template::names_code(error_type)).then_some(said)
}

/// Makes "transient" a guess that only data suggest: a replay of what fails for good is the worst mistake of all.
pub fn guessed(found: Classification) -> Classification {
    if found.class != Class::Transient || found.firm_class() == Class::Unknown {
        return found;
    }
    let reason = found.reason + "; but only in what may be data";
    Classification { confidence: Confidence::from_pct(GUESS_PCT_MAX), reason, ..found }
}

/// Adds where data are in a text: quotations and objects that nothing announces, and addresses. `is_outer`: whether
/// quotations may hold others.
fn parts(text: &str, offset: usize, is_outer: bool, data: &mut Vec<Range<usize>>) {
    let mut unclosed: Vec<char> = Vec::new();
    let (mut at, mut before, mut is_whole) = (0, ' ', true);
    while let Some(c) = text[at..].chars().next() {
        let begins = !before.is_alphanumeric();
        let inside_at = at + c.len_utf8();
        let end = match c {
            // Erlang's tuples and Elixir's are no objects: `{:error, :timeout}`.
            '{' if !unclosed.contains(&c) && !text[inside_at..].starts_with(':') => {
                let length = braces(&text[inside_at..]);
                if length.is_none() {
                    unclosed.push(c);
                }
                length
            }
            _ if begins && !unclosed.contains(&c) => closing(c).and_then(|close| {
                let length = quotation(&text[inside_at..], close);
                if length.is_none() {
                    unclosed.push(c);
                }
                length
            }),
            _ => None,
        };
        let Some(end) = end.map(|length| inside_at + length) else {
            let length = Some(&text[at..]).filter(|_| begins).and_then(address);
            if let Some(length) = length {
                data.push(offset + at..offset + at + length);
            }
            before = if length.is_some() { ' ' } else { c };
            is_whole &= length.is_none() && !c.is_alphanumeric();
            at += length.unwrap_or(c.len_utf8());
            continue;
        };
        let inside = &text[inside_at..end];
        let ahead = &text[text.floor_char_boundary(at.saturating_sub(BEFORE_BYTES_MAX))..at];
        let ends = || text[end..].trim_end_matches(is_end_mark).len() <= CLOSE_BYTES_MAX;
        let announced = is_announced(ahead) || c != '{' && ends() && follows_failure(ahead);
        if c == '{' || inside.starts_with('{') {
            if announced || is_whole || tells_error(inside) {
                members(inside, offset + inside_at, data);
            } else {
                data.push(offset + inside_at..offset + end);
            }
        } else if !announced {
            data.push(offset + inside_at..offset + end);
        } else if is_outer {
            parts(inside, offset + inside_at, false, data);
        }
        (before, is_whole) = (' ', false);
        at = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
}

/// Returns the mark that ends a quotation.
fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' | '\'' | '`' => open,
        '“' | '”' => '”',
        '„' => '“',
        '«' => '»',
        '»' => '«',
        '‘' => '’',
        '「' => '」',
        _ => return None,
    })
}

/// Returns the length of a quotation. The mark at its end is not inside a word.
fn quotation(rest: &str, close: char) -> Option<usize> {
    let rest = text::head(rest, PART_BYTES_MAX);
    let ends = |(at, mark): &(usize, &str)| {
        let after = rest[at + mark.len()..].chars().next();
        !rest[..*at].ends_with('\\') && after.is_none_or(|c| !c.is_alphanumeric())
    };
    rest.match_indices(close).find(ends).map(|(at, _)| at)
}

/// Returns the length of the inside of an object.
fn braces(rest: &str) -> Option<usize> {
    let mut depth = 1_usize;
    text::head(rest, PART_BYTES_MAX).bytes().position(|b| {
        match b {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Whether an object is about an error: its first member says so (`{"error":{"code":404}}`), or it has a member that only
/// errors have.
fn tells_error(object: &str) -> bool {
    const FIRST: [&str; 6] = ["error", "errors", "fault", "exception", "errormessage", "errorcode"];
    let is_first = |name: &str| FIRST.iter().any(|first| name.eq_ignore_ascii_case(first));
    tokens(object).next().is_some_and(|(_, name)| is_first(name)) || SIGNS.iter().any(|sign| object.contains(sign))
}

/// Adds the values of an answer that do not tell about its error.
fn members(object: &str, offset: usize, data: &mut Vec<Range<usize>>) {
    let (mut value_at, mut is_said) = (0, true);
    for (at, token) in tokens(object) {
        let after = &object[at + token.len()..];
        let value = after.trim_start_matches(AROUND_KEYS).trim_start();
        let ahead = object[..at].trim_end();
        let is_key = if ahead.ends_with(AROUND_KEYS) {
            after.starts_with(AROUND_KEYS)
        } else {
            ahead.is_empty() || ahead.ends_with(['{', ','])
        };
        if is_key && value.starts_with([':', '=']) && token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            if !is_said {
                data.push(offset + value_at..offset + at);
            }
            is_said = MEMBERS.contains(&token.to_lowercase().as_str());
            value_at = object.len() - value.len() + 1;
        }
    }
    if !is_said {
        data.push(offset + value_at..offset + object.len());
    }
}

/// The runs of characters that names are made of, with their positions.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '$');
    let mut at = 0;
    text.split_inclusive(move |c: char| !is_part(c)).filter_map(move |token| {
        let from = at;
        at += token.len();
        let token = token.trim_end_matches(|c: char| !is_part(c));
        (!token.is_empty()).then_some((from, token))
    })
}

fn is_end_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '!' | ')' | ']' | '>')
}

/// Whether a text is a clause about a failure with a colon at its end: `Transaction aborted:`, `Could not save order 7:`.
fn follows_failure(before: &str) -> bool {
    let Some(clause) = before.trim_end().strip_suffix(':') else { return false };
    let clause = clause.to_lowercase();
    let mut words = clause.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let mut is_failure = false;
    let is_input = words.any(|word| {
        is_failure |= FAILURES.contains(&word);
        INPUTS.contains(&word)
    });
    is_failure && !is_input
}

/// Whether what follows this text is an answer: the last word announces one, or a number in brackets is its code.
fn is_announced(before: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '-' | '(' | ')' | '[' | ',' | '>');
    let ends_code = before.trim_end().ends_with(')');
    let before = before.trim_end_matches(is_mark);
    if before.ends_with(AROUND_KEYS) {
        // `at 'title': 'Rate limit exceeded'`: a name in quotation marks announces nothing.
        return false;
    }
    let mut words = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
    let mut last = || words.find(|word| !word.is_empty()).unwrap_or_default();
    let mut word = last();
    for _ in 0..BETWEEN_MAX {
        if BETWEEN.contains(&word) {
            word = last();
        }
    }
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        if ends_code {
            return true;
        }
        word = last();
    }
    let word = word.to_lowercase();
    ANNOUNCERS.contains(&word.as_str()) || word.ends_with("error") || word.ends_with("exception")
}

/// Returns the length of an address or a path, without the marks after it.
fn address(rest: &str) -> Option<usize> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ',');
    let rest = text::head(rest, PART_BYTES_MAX);
    // Most tokens are words, whose end need not be looked for.
    let is_path = rest.starts_with(['/', '.']) && rest.trim_start_matches('.').starts_with('/');
    let scheme = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if !is_path && (scheme == 0 || !rest[scheme..].starts_with("://")) {
        return None;
    }
    let word = rest[..rest.find(is_end).unwrap_or(rest.len())].trim_end_matches([':', '.']);
    (word.len() > 2).then_some(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_masked_and_what_is_announced_is_not() {
        for (message, said) in [
            ("invalid value 'timeout' for field kind", "invalid value '*' for field kind"),
            ("Unbekannte Zahlart „Rate limit exceeded“", "Unbekannte Zahlart „*“"),
            ("open /data/deadlock.csv: no such file", "open *: no such file"),
            ("Get https://a.example/404: connection refused", "Get *: connection refused"),
            ("rejected: {\"note\":\"503 Service Unavailable\"}", "rejected: {*}"),
            ("answered {\"code\":429,\"sku\":\"retry\"}", "answered {\"code\":429,\"sku\":*}"),
            ("{\"error\":\"unknown\",\"product\":\"Deadlock\"}", "{\"error\":\"unknown\",\"product\":*}"),
            ("from the shop: {\"error\":\"gone\",\"sku\":\"7\"}", "from the shop: {\"error\":\"gone\",\"sku\":*}"),
            ("said \"product 'Timeout' does not exist\"", "said \"product '*' does not exist\""),
            ("can't parse 'retry'", "can't parse '*'"),
            ("could not convert string to float: 'timed out'", "could not convert string to float: '*'"),
            ("Titel: \"Deadlock\"", "Titel: \"*\""),
            ("error at 'title': 'rate limit'", "error at '*': '*'"),
        ] {
            assert_eq!(without_data("Error", message).as_deref(), Some(said), "{message}");
        }
        for message in [
            "upstream said \"connection refused\"",
            "it replied with a “bad gateway”",
            "Server error '503 Service Unavailable'",
            "LDAP Result Code 51 \"Busy\"",
            "Closed: (403) 'ACCESS_REFUSED'",
            "Transaction aborted: \"duplicate key value\"",
            "Invalid state: \"deadlock detected\".",
            "no match of right hand side value: {:error, :timeout}",
            "'throttled'",
            "(404, \"NOT_FOUND\")",
            "customer's order isn't there",
            "an unclosed \"quotation",
            "",
        ] {
            assert_eq!(without_data("Error", message), None, "{message}");
        }
        assert_eq!(without_data("KeyError", "'throttled'").as_deref(), Some("'*'"));
    }
}
