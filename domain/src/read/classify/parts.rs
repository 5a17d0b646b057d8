//! What a word about a moment is said of.
//!
//! A server that is unavailable comes back. A part of a program, an item of a shop or what somebody has to provide does
//! not: `a secret resolver is unavailable`, `the service is not available in this context`. The subject of the sentence
//! tells which. And such a word may not be said at all: it is part of a setting's name (`ScheduleToStartTimeoutSeconds`), or
//! it names what has not happened (`to prevent deadlocks`).

use super::{CLAIM_PCT, conditions, finding, names};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Parts of programs, items, and what somebody has to provide.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "feature", "function", "operation", "action", "command", "option", "setting", "parameter", "argument", "field", "column", "property", "attribute",
    "type", "class", "method", "interface", "implementation", "constructor", "module", "library", "package", "plugin", "extension", "driver", "adapter",
    "codec", "encoder", "decoder", "serializer", "converter", "parser", "mapper", "resolver", "generator", "algorithm", "digest", "cipher", "encoding",
    "charset", "format", "locale", "language", "currency", "unit", "template", "definition", "schema", "secret", "key", "certificate", "credential",
    "token", "password", "licence", "license", "permission", "support", "lookup", "polyfill", "hook", "callback", "decision", "name", "number",
    "item", "product", "article", "variant", "sku", "size", "stock", "offer", "coupon", "voucher", "discount", "promotion", "quantity",
];

/// Where something is available by design, or is not.
#[rustfmt::skip]
const SCOPES: &[&str] = &[
    "context", "mode", "environment", "version", "edition", "plan", "hook", "scope", "build", "release", "configuration", "runtime", "platform",
    "system", "architecture", "browser", "tier", "script",
];

/// Words that mean a passing state, whatever they describe.
#[rustfmt::skip]
const OF_MOMENTS: &[&str] = &[
    "currently", "temporar", "moment", "yet", "at this time", "right now", "try again", "retry", "later", "timed out", "timeout", "connect", "still",
];

/// What is between a subject and its state.
#[rustfmt::skip]
const AUXILIARIES: &[&str] =
    &["is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "marked", "as", "now", "became", "becomes", "also", "both"];

/// What ends the noun of a subject.
const PREPOSITIONS: &[&str] = &["for", "with", "of", "in", "at", "on", "from", "by", "to", "named", "called", "which"];

/// What begins a new clause.
const CONJUNCTIONS: &[&str] = &["because", "since", "but", "and", "when", "while", "that", "if"];

/// The part of a sentence before its verb that is looked at, bytes.
const SUBJECT_BYTES_MAX: usize = 160;

/// How many words before `available` a `no` may be.
const NONE_WITHIN: usize = 5;

/// Returns the finding for a part or an item that is not available.
pub fn missing(lower: &str) -> Option<Classification> {
    const STATES: [&str; 3] = ["not available", "n't available", "unavailable"];
    if !lower.contains("available") || OF_MOMENTS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let Some((at, state)) = STATES.iter().find_map(|state| Some((lower.find(state)?, *state))) else {
        return none_of(lower);
    };
    let before = clause(&lower[..at]);
    // `number: 7 is not available` is about a number.
    let named = || lower[..at].strip_suffix(before)?.trim_end().strip_suffix(':').and_then(|left| head(clause(left)));
    let subject = head(before).or_else(|| named().filter(|_| !before.is_empty()));
    let part =
        subject.filter(|word| PARTS.contains(word) || word.strip_suffix('s').is_some_and(|one| PARTS.contains(&one)));
    let place = || scope(&lower[at + state.len()..]);
    let said = part.map(|part| format!("{part} … {state}")).or_else(|| Some(format!("{state} … {}", place()?)))?;
    Some(finding(Class::Permanent, Category::Configuration, CLAIM_PCT, format!("wording: \"{said}\"")))
}

/// `no time setting command available`: a part that nobody provided.
fn none_of(lower: &str) -> Option<Classification> {
    let words = conditions::words(lower);
    let at = words.iter().position(|word| *word == "available").filter(|at| *at > 0)?;
    let from = at.saturating_sub(NONE_WITHIN);
    let part = words[at - 1];
    let is_part = PARTS.contains(&part) || part.strip_suffix('s').is_some_and(|one| PARTS.contains(&one));
    let said = format!("no … {part} available");
    (is_part && words[from..at].contains(&"no"))
        .then(|| finding(Class::Permanent, Category::Configuration, CLAIM_PCT, format!("wording: \"{said}\"")))
}

/// Returns the end of a text from the beginning of its last clause.
fn clause(text: &str) -> &str {
    let text = &text[text.floor_char_boundary(text.len().saturating_sub(SUBJECT_BYTES_MAX))..];
    let end = |pair: &[u8]| matches!(pair[0], b'.' | b':' | b';' | b'!' | b'?' | b',') && pair[1].is_ascii_whitespace();
    let at = text.as_bytes().windows(2).rposition(end).map_or(0, |at| at + 2);
    &text[at.max(text.rfind('\n').map_or(0, |at| at + 1))..]
}

/// Returns the noun that a clause is about: `the type for key "Pool" is` is about a type.
fn head(clause: &str) -> Option<&str> {
    let mut words: Vec<&str> = clause.split_whitespace().collect();
    while words.last().is_some_and(|word| AUXILIARIES.contains(word)) {
        words.pop();
    }
    let from = words.iter().rposition(|word| CONJUNCTIONS.contains(word)).map_or(0, |at| at + 1);
    let words = &words[from..];
    let to = words.iter().position(|word| PREPOSITIONS.contains(word)).unwrap_or(words.len());
    // What follows the noun is its name: `service 'orders'`, `number: 7`.
    let noun = words[..to].iter().rfind(|word| word.trim_end_matches(':').bytes().all(|b| b.is_ascii_alphabetic()))?;
    Some(noun.trim_end_matches(':'))
}

/// Returns the scope that something is not available in: `in the current context`, `on this system`.
fn scope(after: &str) -> Option<&str> {
    let words = conditions::words(after);
    match words.first().copied()? {
        "unless" => Some("unless"),
        "without" => Some("without"),
        "when" if words.get(1) == Some(&"using") => Some("when using"),
        "in" | "on" | "under" | "within" | "inside" | "outside" => {
            words.into_iter().skip(1).take(3).find(|word| SCOPES.contains(word))
        }
        _ => None,
    }
}

/// Words about a moment that programs have settings for.
#[rustfmt::skip]
const IN_NAMES: &[&str] = &[
    "timeout", "unavailable", "unreachable", "retry", "retries", "lock", "connection", "connections", "deadlock", "throttle", "throttling", "pool",
    "reconnect", "heartbeat", "lease", "failover", "backpressure", "rebalance", "shutdown",
];

/// What the name of a setting ends with.
#[rustfmt::skip]
const OF_SETTINGS: &[&str] = &[
    "ms", "millis", "milliseconds", "seconds", "secs", "sec", "minutes", "interval", "policy", "strategy", "behavior", "behaviour", "option", "options",
    "config", "configuration", "settings", "setting", "count", "size", "max", "min", "delay", "factor", "duration", "value", "mode", "level", "enabled",
    "threshold", "cycle", "field", "handler", "listener", "factory", "builder",
];

/// What people call a setting.
#[rustfmt::skip]
const CALLED: &[&str] = &[
    "option", "options", "setting", "settings", "parameter", "parameters", "param", "params", "property", "properties", "field", "fields", "config",
    "configuration", "key", "flag", "argument", "arguments", "variable", "attribute", "header",
];

/// What says that the time of a setting is over: its name then says why.
const OVER: &[&str] =
    &["exceeded", "exceeds", "reached", "elapsed", "expired", "hit", "passed", "after", "within", "waiting", "waited"];

/// A rule for the length of a timeout: `electionTimeout is too low`, `timeout must be positive`.
pub fn states_timeout(lower: &str) -> Option<Classification> {
    const RULES: [&str; 10] = [
        "must ",
        "should ",
        "cannot be",
        "can't be",
        "is too ",
        "too ",
        "is not a",
        "is invalid",
        "may not",
        "has to be",
    ];
    const NOUNS: [&str; 9] =
        ["option", "unit", "param", "setting", "value", "argument", "property", "config", "format"];
    const BEFORE: [&str; 6] = ["invalid ", "unsupported ", "negative ", "specify a ", "provide a ", "set a "];
    let at = lower.find("timeout")?;
    let after = lower[at + "timeout".len()..].trim_start_matches([' ', '\'', '"', '`', ')']);
    // `exceeded the timeout value` is about a moment again.
    let is_over = ["exceed", "reached", "elapsed", "expired", " after ", "before the", "attempts"]
        .iter()
        .any(|word| lower.contains(word));
    let nouns: &[&str] = if is_over { &[] } else { &NOUNS };
    let rule = RULES.iter().chain(nouns).find(|rule| after.starts_with(**rule));
    let before =
        || BEFORE.iter().find(|before| lower[..at].ends_with(**before)).map(|before| format!("{before}timeout"));
    let said = rule.map(|rule| format!("timeout {}", rule.trim_end())).or_else(before)?;
    Some(finding(Class::Permanent, Category::Configuration, 65, format!("wording: \"{said}\"")))
}

/// Returns a finding, or what is found in the rest of the message if it is about a moment and parts of the message do not
/// say what their words mean.
pub fn said(
    found: Classification,
    message: &str,
    again: impl FnOnce(&str) -> Option<Classification>,
) -> Option<Classification> {
    match (found.class == Class::Transient).then(|| without_unsaid(message)).flatten() {
        Some(rest) => again(&rest),
        None => Some(found),
    }
}

/// Returns a message without the words about a moment that it does not say: those in names of settings, and those of what
/// is to be prevented. `None` if it has none.
pub fn without_unsaid(message: &str) -> Option<String> {
    // Most messages have no name at all.
    let is_joint = |two: &[u8]| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase();
    let has_name = || {
        message.contains(['_', '\'', '"', '`']) || message.contains("--") || message.as_bytes().windows(2).any(is_joint)
    };
    if !has_name() && !message.contains("prevent") && !message.contains("avoid") {
        return None;
    }
    let tokens: Vec<&str> = message.split_inclusive(char::is_whitespace).collect();
    let plain = |at: usize| tokens.get(at).map_or("", |token| token.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut kept = String::new();
    let (mut is_changed, mut is_listed, mut is_prevented) = (false, false, false);
    for (at, token) in tokens.iter().enumerate() {
        is_prevented |= match plain(at) {
            "prevent" | "avoid" => at > 0 && plain(at - 1) == "to",
            word => matches!(word, "preventing" | "avoiding"),
        };
        let is_named = is_setting(token, &plain, at, is_listed);
        is_listed |= is_named;
        is_changed |= is_named || is_prevented;
        if !is_named && !is_prevented {
            kept.push_str(token);
        } else if token.trim_end().ends_with(['.', ';', ':', ',']) {
            kept.push_str(". ");
            is_prevented = false;
        }
    }
    is_changed.then_some(kept)
}

/// Whether a word of a message is the name of a setting. `is_listed`: whether another one came before.
fn is_setting<'a>(token: &str, plain: &impl Fn(usize) -> &'a str, at: usize, is_listed: bool) -> bool {
    const MARKS: [char; 3] = ['\'', '"', '`'];
    let word = plain(at);
    let is_quoted =
        token.starts_with(MARKS) && token.trim_end().trim_end_matches(['.', ',', ')', ':']).ends_with(MARKS);
    // An option of a command line: `--read-timeout`.
    let is_option = token.trim_start_matches(MARKS).strip_prefix("--").is_some_and(|name| name.contains('-'));
    let is_joined = is_option || word.contains('_') || word.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    if !is_quoted && !is_joined {
        return false;
    }
    let words = names::words(word);
    let last = words.last().map_or("", String::as_str);
    if !words.iter().any(|word| IN_NAMES.contains(&word.as_str())) {
        return false;
    }
    let before = |back: usize| at.checked_sub(back).map_or("", plain);
    let (one, next) = (before(1), plain(at + 1));
    if OVER.contains(&one) || OVER.contains(&next) {
        return false;
    }
    // `time_to_live`, but not `UNABLE_TO_LOCK_ROW`.
    let fails = words.first().is_some_and(|first| matches!(first.as_str(), "unable" | "failed" | "failure"));
    let joins = |word: &String| word == "to";
    let is_compound = OF_SETTINGS.contains(&last) || (!fails && words.iter().rev().skip(1).any(joins));
    let named = |word: &str| CALLED.contains(&word);
    let is_announced = if matches!(one, "for" | "named" | "called" | "the") { named(before(2)) } else { named(one) };
    let is_ruled = word.contains('_') && matches!(next, "too" | "should" | "must")
        || matches!(one, "unsupported" | "invalid" | "unknown" | "missing" | "negative")
            && word.starts_with(char::is_lowercase);
    is_option
        || is_joined && is_compound
        || is_announced
        || (!fails && named(next))
        || is_ruled
        || is_listed && word.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_is_comes_back_and_what_a_part_is_does_not() {
        for lower in [
            "a required secret binding resolver is unavailable.",
            "the sku has been marked as unavailable",
            "the type for key `pool` is not available",
            "cannot render: the service 'prices' is not available in the current context.",
            "inbound number: 7c9e is not available",
        ] {
            assert!(missing(lower).is_some_and(|found| found.class == Class::Permanent), "{lower}");
        }
        for lower in [
            "service 'posts.find' is not available on 'node-100' node.",
            "the key vault is unavailable",
            "the product is temporarily unavailable",
            "all nodes are unavailable",
            "unavailable",
            "",
        ] {
            assert_eq!(missing(lower), None, "{lower}");
        }
    }

    #[test]
    fn names_of_settings_and_what_is_prevented_are_not_said() {
        let rest = |message| without_unsaid(message).map(|rest| rest.split_whitespace().collect::<Vec<_>>().join(" "));
        for (message, kept) in [
            ("negative ScheduleToStartTimeoutSeconds", "negative"),
            ("bad option RequestTimeout: 10", "bad option . 10"),
            ("parse fetch_timeout setting", "parse setting"),
            ("must not block to prevent deadlocks. Connection lost", "must not block to . Connection lost"),
        ] {
            assert_eq!(rest(message).as_deref(), Some(kept), "{message}");
        }
        for message in
            ["ConnectTimeoutError: 10.0.3.7", "timeoutSeconds exceeded", "read timeout", "{\"code\":\"rate_limit\"}"]
        {
            assert_eq!(rest(message), None, "{message}");
        }
    }
}
