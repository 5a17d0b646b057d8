//! Which stretch of a message may be data at all, judged by what fills it and by what stands around it.
//!
//! Never merged, however many there are: codes and numbers (the template keeps a number only where it is a code),
//! names that the template kept in quotes, what follows a word that names code (`column`, `method`) or a cause
//! (`because`), words that turn a sentence round (`not`), methods of HTTP, and words after a colon, where the nested
//! cause stands.

use super::tokens::is_punctuation;
use crate::read::is_file_path;

/// What fills a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The template had seen by itself that data stands there.
    Mask,
    /// A name with its data in brackets: `LOCAL(*)`.
    Call,
    /// It has the shape of data: a numbered name, a path.
    Shaped,
    /// A host or another dotted name in small letters.
    Host,
    /// Words.
    Words,
}

/// How much must be seen at a place before it is taken for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// How many fillings in the shape of data; nothing where no number would do.
    pub shapes_min: Option<usize>,
    /// How many hosts.
    pub hosts_min: Option<usize>,
    /// How many fillings of any kind.
    pub words_min: Option<usize>,
}

/// Three fillings in the shape of data prove a place.
const SHAPED_MIN: usize = 3;
/// Five hosts: who fails to reach five dependencies in the same words has no fault of any one of them, or calls
/// addresses that its customers gave.
const HOSTS_MIN: usize = 5;
/// Five words, where the sentence around them is long enough and goes on after them.
const WORDS_MIN: usize = 5;
/// Twelve words where the sentence ends with them, or hardly says anything by itself: more than the causes that one
/// place in a program tells apart.
const LAST_WORDS_MIN: usize = 12;

/// Words that turn a sentence round, and those that say how it went.
#[rustfmt::skip]
const NEVER: &[&str] = &[
    "not", "no", "never", "without", "none", "nil", "null", "neither", "nor", "cannot", "can't", "isn't", "wasn't",
    "doesn't", "didn't", "don't", "won't", "unable", "failed", "failure", "succeeded", "success", "ok", "error",
    "true", "false", "yes", "enabled", "disabled", "up", "down", "start", "stop", "started", "stopped", "begin",
    "end", "open", "closed", "close", "before", "after", "more", "less", "too", "than", "at", "least", "most", "get",
    "post", "put", "delete", "patch", "head", "options", "connect", "read", "write", "in", "out", "on", "off", "to",
    "from", "is", "are", "was", "were", "be", "been", "has", "have", "had", "must", "should", "may", "can", "will",
    "and", "or", "but", "if", "because", "while", "when", "by", "of", "for", "with", "as",
];

/// After these words stands what went wrong, or a piece of code.
#[rustfmt::skip]
const BEFORE_A_CAUSE: &[&str] = &[
    "because", "reason", "cause", "caused", "code", "errno", "status", "error", "exception", "due", "state", "type",
    "kind", "level", "sqlstate", "signal", "is", "was", "are", "were", "be", "been", "not", "got", "expected", "field",
    "column", "property", "attribute", "method", "function", "parameter", "argument", "table", "relation",
    "constraint", "class", "operation", "action", "permission", "event", "missing", "invalid", "unknown",
    "unsupported",
];

/// Words that carry no meaning of their own and so are no evidence that two messages say the same.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "for", "to", "in", "on", "at", "by", "is", "are", "was", "were", "be", "been", "has",
    "have", "had", "and", "or", "not", "no", "with", "from", "as", "it", "this", "that", "error", "failed",
];

fn in_list(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// What a filling is, or nothing where it may not be one.
pub fn judge(left: &[&str], filling: &[&str], right: &[&str]) -> Option<Filling> {
    if let ["*"] = filling {
        return Some(Filling::Mask);
    }
    // A hole takes brackets whole or not at all, and neither begins nor ends with another mark.
    let (first, last) = (filling.first()?, filling.last()?);
    let depth = filling.iter().try_fold(0_i32, |depth, token| match *token {
        "(" | "[" | "{" | "<" => Some(depth + 1),
        ")" | "]" | "}" | ">" => (depth > 0).then_some(depth - 1),
        _ => Some(depth),
    });
    if depth != Some(0) || is_punctuation(first) || (is_punctuation(last) && !matches!(*last, ")" | "]" | "}" | ">")) {
        return None;
    }
    if filling.iter().any(|token| is_code(token) || in_list(NEVER, token)) {
        return None;
    }
    if left.last() == Some(&"\"") && right.first() == Some(&"\"") {
        return None;
    }
    if let [_, "(", "*", ")"] = filling {
        return Some(Filling::Call);
    }
    if let [host] = filling
        && is_host(host)
    {
        return Some(Filling::Host);
    }
    let (mut shaped, mut words) = (0, 0);
    for token in filling.iter().filter(|token| !is_punctuation(token)) {
        if is_shaped(token) { shaped += 1 } else { words += 1 }
    }
    Some(if shaped > 0 && words == 0 { Filling::Shaped } else { Filling::Words })
}

/// A number or an error's name: the template masks all others.
fn is_code(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    let shouted = letters >= 4
        && token.starts_with('E')
        && token.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let blank_value = token.len() > 1 && token.bytes().all(|b| b == b'*');
    blank_value || token.contains('"') || (digits > 0 && letters == 0) || (shouted && !token.contains('*'))
}

/// Whether a token looks like data rather than a word: masked in part, or the path of a file. A dotted name does not:
/// it is a host, which is which dependency failed, or a field, or a piece of code; nor does an address or a route.
fn is_shaped(token: &str) -> bool {
    // A path from no root, with a number in it, is one of files too: a route begins with a slash.
    let relative = !token.starts_with('/') && token.matches('/').count() >= 2 && token.contains('*');
    if !token.starts_with("//") && (is_file_path(token) || relative) {
        return true;
    }
    !token.contains(['.', '/']) && (token.contains(['\\', '@', '~', '*']) || token.bytes().any(|b| b.is_ascii_digit()))
}

/// Whether a token is a dotted name in small letters, masked in part or not.
fn is_host(token: &str) -> bool {
    let inner = token.trim_start_matches('/').trim_end_matches(['.', ':', '*']);
    inner.contains('.')
        && !inner.contains('/')
        && inner.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'*'))
}

/// What the words around a hole allow.
pub fn room(left: &[&str], right: &[&str]) -> Room {
    let telling = |tokens: &[&str]| {
        tokens
            .iter()
            .filter(|t| t.len() > 1 && t.bytes().any(|b| b.is_ascii_alphabetic()) && !t.contains('*'))
            .filter(|t| !in_list(EMPTY, t))
            .count()
    };
    let before = left.iter().rev().find(|token| !is_punctuation(token)).copied().unwrap_or_default();
    let names_cause = in_list(BEFORE_A_CAUSE, before);
    let known = telling(left) + telling(right);
    // The end of a message, and what follows a colon, tells the cause.
    let nested = right.iter().all(|token| is_punctuation(token)) || left.last() == Some(&":");
    let enclosed = matches!((left.last(), right.first()), (Some(&"(" | &"[" | &"{" | &"<" | &"="), Some(_)));
    let allowed = |yes: bool, min: usize| (yes && !names_cause).then_some(min);
    let long = known >= 3 && (enclosed || !nested);
    let words_min = if long { WORDS_MIN } else { LAST_WORDS_MIN };
    Room {
        shapes_min: allowed(known >= 2, SHAPED_MIN),
        hosts_min: allowed(known >= 1, HOSTS_MIN),
        words_min: allowed(known >= 1 && left.last() != Some(&":"), words_min),
    }
}
