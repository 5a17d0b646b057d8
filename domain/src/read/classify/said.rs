//! What a message says itself, without its data: keys, rejected values, names of files, bodies of requests.
//!
//! Words of data must not decide the class: `KeyError: 'connection refused'` looked for a key. But what stands in
//! quotation marks or braces may as well be the reason: `upstream said "connection refused"`. So it counts at once where
//! the word before announces an answer, and otherwise only if the rest of the message says nothing.

use super::objects;
use crate::read::json::{Index, Raw};
use crate::read::template;
use crate::reading::{Class, Classification, Confidence, GUESS_PCT_MAX};
use crate::text;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The longest part in quotation marks or braces that is looked at as a unit, bytes.
const PART_BYTES_MAX: usize = 2 * 1024;

/// Members of an answer that tell about the error. The values of all others are data.
#[rustfmt::skip]
const MEMBERS: &[&str] = &[
    "error", "errors", "err", "exception", "message", "msg", "errmsg", "errormessage", "errortype", "errorcode", "error_message", "error_code", "error_type",
    "error_description", "detail", "details", "desc", "description", "reason", "cause", "code", "status", "statuscode", "status_code", "title", "type",
    "name", "fault", "faultstring", "kind", "__type", "issue",
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
        // Erlang's tuples and Elixir's are no objects: `{:error, :timeout}`.
        let opens = if c == '{' { !text[inside_at..].starts_with(':') } else { begins && template::opens_quote(c) };
        let end = if opens && !unclosed.contains(&c) { length(c, &text[inside_at..]) } else { None };
        if opens && end.is_none() && !unclosed.contains(&c) {
            unclosed.push(c);
        }
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
        let next = end + text[end..].chars().next().map_or(0, char::len_utf8);
        let announced =
            if c == '{' { template::announces(&text[..at]) } else { template::is_answer(&text[..at], &text[next..]) };
        let object = if c == '{' { &text[at..next] } else { inside };
        if object.starts_with('{') {
            if announced || is_whole || tells_error(object) {
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
        at = next;
    }
}

/// Returns the length of a quotation or an object that a mark begins, without its marks.
fn length(open: char, rest: &str) -> Option<usize> {
    let rest = text::head(rest, PART_BYTES_MAX);
    if open == '{' { template::brace_length(rest) } else { template::quote_length(rest, open) }
}

/// Whether an object tells about an error. JSON is looked at whole; of what else languages print, the first member says so.
fn tells_error(object: &str) -> bool {
    const FIRST: [&str; 6] = ["error", "errors", "fault", "exception", "errormessage", "errorcode"];
    let is_first = |name: &str| FIRST.iter().any(|first| name.eq_ignore_ascii_case(first));
    let is_json = object.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with('"'));
    if is_json {
        return !objects::is_data(&Index::new(Raw::new(object)));
    }
    tokens(object).next().is_some_and(|(_, name)| is_first(name))
}

/// Adds the words in the values of an answer that do not tell about its error. Marks and numbers stay, so that JSON stays
/// JSON.
fn members(object: &str, offset: usize, data: &mut Vec<Range<usize>>) {
    let mut is_said = true;
    for (at, token) in tokens(object) {
        let after = &object[at + token.len()..];
        let ahead = object[..at].trim_end();
        let is_marked = if ahead.ends_with(AROUND_KEYS) {
            after.starts_with(AROUND_KEYS)
        } else {
            ahead.is_empty() || ahead.ends_with(['{', ','])
        };
        let is_word = token.contains(char::is_alphabetic);
        if is_marked && is_word && after.trim_start_matches(AROUND_KEYS).trim_start().starts_with([':', '=']) {
            is_said = MEMBERS.contains(&token.to_lowercase().as_str());
        } else if is_word && !is_said && !["true", "false", "null"].contains(&token) {
            data.push(offset + at..offset + at + token.len());
        }
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
            ("answered {\"code\":429,\"sku\":\"retry\"}", "answered {\"code\":429,\"sku\":\"*\"}"),
            ("{\"error\":\"unknown\",\"product\":\"Deadlock\"}", "{\"error\":\"unknown\",\"product\":\"*\"}"),
            ("from the shop: {\"error\":\"gone\",\"sku\":\"a\"}", "from the shop: {\"error\":\"gone\",\"sku\":\"*\"}"),
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
