//! Decides whether a stretch of a message may be data, by its content and by the text around it.
//!
//! Never merged, however many variants there are: codes and numbers (the template keeps a number only if it is a
//! code), names that the template keeps in quotes, text after a word that introduces code (`column`, `method`) or a
//! cause (`because`), words that reverse a statement (`not`), and HTTP methods. Words after a colon, which introduce the
//! nested cause, are merged only if they look like data (see `weighed`).

use super::nouns::Named;
use super::tokens::{is_of_system, is_punctuation};
use crate::read::is_file_path;

/// The content of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The template has masked the data already.
    Mask,
    /// A name with data in brackets: `LOCAL(*)`.
    Call,
    /// A token in the shape of data: a numbered name, a path.
    Shaped,
    /// A host or another dotted name in lower case.
    Host,
    /// Words.
    Words,
}

/// How many different fillings prove that a position holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Fillings in the shape of data; `None` if no number is enough.
    pub shapes_min: Option<usize>,
    /// Hosts.
    pub hosts_min: Option<usize>,
    /// Fillings of any kind that do not look like causes.
    pub words_min: Option<usize>,
    /// Fillings of any kind.
    pub any_min: Option<usize>,
    /// Fillings that look like data there, by learned weights.
    pub likely_min: Option<usize>,
}

/// Three fillings in the shape of data are proof.
const SHAPED_MIN: usize = 3;
/// Five hosts: a consumer that fails to reach five dependencies with the same words has a fault of its own, or calls
/// addresses provided by customers.
const HOSTS_MIN: usize = 5;
/// Three fillings that look like data in this place.
const LIKELY_MIN: usize = 3;
/// Five words that do not look like causes, if the sentence around them is long enough and continues after them.
const WORDS_MIN: usize = 5;
/// Twelve words of any kind, also at the end of a sentence: more than the number of causes that one place in a program
/// distinguishes.
const ANY_WORDS_MIN: usize = 12;

/// Words that reverse a statement or state its outcome.
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

/// Words that introduce a cause or a piece of code.
#[rustfmt::skip]
const BEFORE_A_CAUSE: &[&str] = &[
    "because", "reason", "cause", "caused", "code", "errno", "status", "error", "exception", "due", "state", "type",
    "kind", "level", "sqlstate", "signal", "is", "was", "are", "were", "be", "been", "not", "got", "expected", "field",
    "column", "property", "attribute", "method", "function", "parameter", "argument", "table", "relation",
    "constraint", "class", "operation", "action", "permission", "event", "missing", "invalid", "unknown",
    "unsupported", "handler", "job", "step", "flag", "variable", "model", "service", "provider", "task", "feature",
    "module", "plugin", "setting", "option", "header", "queue", "topic", "template", "rule", "while", "during", "when",
    "cannot", "could", "worker", "stage", "phase", "index", "collection", "command", "ist", "sind", "war", "wurde", "est",
    "été", "sont", "es", "está", "fue", "è", "foi",
];

/// Words about a failure, whose reason follows a colon.
const OF_FAILURE: &[&str] = &[
    "could",
    "couldn't",
    "cannot",
    "can't",
    "unable",
    "failed",
    "failure",
    "error",
    "stopped",
    "aborted",
    "refused",
    "rejected",
    "denied",
    "closed",
    "lost",
    "because",
    "interrupted",
    "broken",
    "cancelled",
    "canceled",
];

/// Words about what a program does not know or have.
const OF_THE_UNKNOWN: &[&str] = &[
    "unsupported",
    "unknown",
    "invalid",
    "missing",
    "required",
    "unrecognized",
    "unrecognised",
    "illegal",
    "undefined",
    "unexpected",
    "unhandled",
];

/// Words without a meaning of their own, which are no evidence that two messages say the same.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "for", "to", "in", "on", "at", "by", "is", "are", "was", "were", "be", "been", "has",
    "have", "had", "and", "or", "not", "no", "with", "from", "as", "it", "this", "that", "error", "failed",
];

fn in_list(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns the kind of a filling; `None` if it must not be treated as data.
pub fn judge(left: &[&str], filling: &[&str], right: &[&str]) -> Option<Filling> {
    if let ["*"] = filling {
        return Some(Filling::Mask);
    }
    // A hole contains brackets whole or not at all, and does not begin or end with other punctuation.
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
    if let [_, "(", "*", ")"] = filling {
        return Some(Filling::Call);
    }
    if (left.last() == Some(&"\"") && right.first() == Some(&"\""))
        || filling.iter().any(|token| is_name_of_code(token))
    {
        return None;
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

/// A number or an error's name; the template masks all others.
fn is_code(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    let shouted = letters >= 4
        && token.starts_with('E')
        && token.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let blank_value = token.len() > 1 && token.bytes().all(|b| b == b'*');
    blank_value || token.contains('"') || (digits > 0 && letters == 0) || (shouted && !token.contains('*'))
}

/// Whether a token has a form that only names of code and of components have: `CreateOrder`, `CARD_EXPIRED`,
/// `price-import`, `Shop\Orders`, `shop::orders`. Masked parts make a token data.
fn is_name_of_code(token: &str) -> bool {
    let bytes = token.as_bytes();
    if token.contains(['*', '/', '@']) || bytes.iter().any(u8::is_ascii_digit) || is_host(token) {
        return false;
    }
    let hump = bytes.windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    let shouted =
        token.len() >= SHOUTED_MIN && bytes.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b'_' | b'-'));
    let letters = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphabetic());
    let kebab = token.contains('-') && token.split('-').all(|part| letters(part) && part.len() > 1);
    let spaced = token.contains("::") || (token.contains('\\') && token.split('\\').all(letters));
    hump || shouted || kebab || spaced
}

/// The fewest letters of a word in capitals that counts as a code. Shorter ones are as often initials of a component.
const SHOUTED_MIN: usize = 5;

/// Whether a token looks like data rather than a word: partly masked, or a file's path. Dotted names do not count:
/// they may be a host (which dependency failed), a field, or code. Addresses and routes do not count either.
fn is_shaped(token: &str) -> bool {
    if is_of_system(token) {
        return false;
    }
    // A relative path that contains a number is a file's path too: a route begins with a slash.
    let relative = !token.starts_with('/') && token.matches('/').count() >= 2 && token.contains('*');
    if !token.starts_with("//") && (is_file_path(token) || relative) {
        return true;
    }
    !token.contains(['.', '/']) && (token.contains(['\\', '@', '~', '*']) || token.bytes().any(|b| b.is_ascii_digit()))
}

/// Whether a token is a dotted name in lower case, partly masked or not.
fn is_host(token: &str) -> bool {
    let inner = token.trim_start_matches('/').trim_end_matches(['.', ':', '*']);
    inner.contains('.')
        && !inner.contains('/')
        && inner.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'*'))
}

/// Whether the text before a hole says what is there. At the beginning of a message, every noun fits. After a name and a
/// colon (`File "orders": infected`), after a colon in a sentence about a failure (`Pump stopped: no water`), and in
/// sentences about what a program does not know, most words are causes.
fn names_what(left: &[&str]) -> bool {
    let is_word = |token: &str| token.starts_with(char::is_alphabetic) && !token.contains('*');
    let says = |list: &[&str]| left.iter().any(|token| in_list(list, token));
    let ends_clause = left.last() == Some(&":");
    let mut before = left.iter().rev();
    let last = if ends_clause { before.nth(1) } else { before.find(|token| !is_punctuation(token)) };
    let Some(last) = last.filter(|token| is_word(token)) else { return false };
    if ends_clause && says(OF_FAILURE) {
        return false;
    }
    Named::by(&last.to_lowercase()) == Some(Named::Record) || !says(OF_THE_UNKNOWN)
}

/// Returns how many fillings are needed, given the words around the hole.
pub fn room(left: &[&str], right: &[&str]) -> Room {
    let telling = |tokens: &[&str]| {
        tokens
            .iter()
            .filter(|t| t.len() > 1 && t.bytes().any(|b| b.is_ascii_alphabetic()) && !t.contains('*'))
            .filter(|t| !in_list(EMPTY, t))
            .count()
    };
    let before = left.iter().rev().find(|token| !is_punctuation(token)).copied().unwrap_or_default();
    let names_cause = in_list(BEFORE_A_CAUSE, before) || Named::by(&before.to_lowercase()) == Some(Named::Part);
    let known = telling(left) + telling(right);
    // The end of a message, and the text after a colon, state the cause.
    let nested = right.iter().all(|token| is_punctuation(token)) || left.last() == Some(&":");
    let enclosed = matches!((left.last(), right.first()), (Some(&"(" | &"[" | &"{" | &"<" | &"="), Some(_)));
    let allowed = |yes: bool, min: usize| (yes && !names_cause).then_some(min);
    let long = known >= 3 && (enclosed || !nested);
    Room {
        shapes_min: allowed(known >= 2, SHAPED_MIN),
        hosts_min: allowed(known >= 1, HOSTS_MIN),
        words_min: allowed(long && left.last() != Some(&":"), WORDS_MIN),
        any_min: allowed(known >= 1 && left.last() != Some(&":"), ANY_WORDS_MIN),
        likely_min: allowed(known >= 1 && names_what(left), LIKELY_MIN),
    }
}
