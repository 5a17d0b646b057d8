//! Advice on trying again, and what passes when somebody else is done.
//!
//! Whoever wrote "try again in a few minutes" knew that nothing needs to change. "Enter a valid number and try again" asks
//! for another request.

use super::conditions;
use super::network::{NETWORK, holds, states_rule};
use super::{CLAIM_PCT, WORD_PCT, finding, quoted, unfinished};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::vec::Vec;

/// What is done again.
const AGAIN: &[&str] = &["try", "retry", "repeat", "resubmit", "resend"];

/// How many words after a word of [`AGAIN`] say when: `try the same request again in a few minutes`.
const WHEN_WITHIN: usize = 7;

/// How many words are between `wait` and what is done again: `wait a few minutes before you try again`.
const WAIT_WITHIN: usize = 8;

/// Times that are named by one word.
const SOON: &[&str] = &["later", "soon", "shortly", "momentarily"];

/// Units of time, and the words before them: `in about 30 seconds`, `after some time`.
const UNITS: &[&str] = &["second", "seconds", "minute", "minutes", "mins", "hour", "hours", "moment", "moments"];
const SHORT_UNITS: &[&str] = &["s", "sec", "secs", "ms", "min"];
const AMOUNTS: &[&str] = &["a", "an", "some", "few", "several", "about", "short", "couple", "of", "little"];

/// Words shortly before advice that deny it, or that say who will do it: a program that tries again by itself says nothing
/// of the cause.
#[rustfmt::skip]
const DENYING: &[&str] = &[
    "not", "no", "don't", "never", "cannot", "can't", "shouldn't", "won't", "without", "will", "we", "we'll", "i'll", "going", "next", "one", "to",
];
const DENIED_WITHIN: usize = 3;

/// What has to be done first.
#[rustfmt::skip]
const FIRST: &[&str] = &[
    "check", "double-check", "enter", "re-enter", "choose", "select", "fix", "correct", "update", "upgrade", "change", "provide", "specify", "sign", "login",
    "verify", "remove", "delete", "add", "review", "edit", "complete", "confirm", "adjust", "install", "replace", "shorten", "pick", "rename", "free", "contact",
    "ask", "ensure", "make", "use", "upload", "reconnect", "create", "apply", "insert", "register", "amend", "rebuild", "enable", "reduce", "disable",
];

/// What is between an instruction and `try` if it is none: `update was rolled back because the node is busy, try again`.
const STATED: &[&str] = &["is", "was", "are", "were", "failed", "could", "cannot", "being", "back"];

/// What a repair or a change is about if it passes by itself.
#[rustfmt::skip]
const PASSING: &[&str] = &[
    "network", "internet", "connection", "connectivity", "unavailable", "request rate", "rate limit", "send rate", "sending rate", "frequency", "concurren",
];

/// Returns the advice of a text to correct something and then to try again.
pub fn corrects(lower: &str) -> Option<Classification> {
    let of_network = NETWORK.iter().any(|words| !words.starts_with("try again") && lower.contains(words));
    if of_network || holds(lower, PASSING) {
        return None;
    }
    let advice = sentences(lower).find_map(corrected)?;
    Some(finding(Class::Permanent, Category::Configuration, CLAIM_PCT, quoted::sentence_with_gaps(&advice)))
}

fn sentences(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(['.', '!', '?', ';', ':', '\n'])
}

/// `please enter a valid number, and try again`, `try again with another card`.
fn corrected(sentence: &str) -> Option<[&str; 2]> {
    let words = conditions::words(sentence);
    let again = words.iter().position(|word| AGAIN.contains(word))?;
    let clauses = sentence.split(',').flat_map(|part| part.split(" - ")).map(conditions::words);
    let instructs = |clause: Vec<&'_ str>| {
        let polite =
            clause.iter().take_while(|word| matches!(**word, "please" | "kindly" | "then" | "you" | "must" | "should"));
        let (first, rest) = clause[polite.count()..].split_first()?;
        let rest = &rest[..rest.iter().position(|word| AGAIN.contains(word)).unwrap_or(rest.len())];
        let is_stated = rest.iter().any(|word| STATED.contains(word));
        FIRST.iter().find(|known| *known == first).filter(|_| !is_stated)
    };
    let mut before = clauses.take_while(|clause| clause.first() != Some(&words[again]));
    let first = before.find_map(instructs).map(|first| [*first, words[again]]);
    let after = &words[again..];
    let with = after.iter().position(|word| matches!(*word, "with" | "using"));
    let other = with.and_then(|at| {
        let near = after[at + 1..].iter().take(2);
        near.copied().find(|word| matches!(*word, "different" | "another" | "valid" | "smaller" | "other" | "correct"))
    });
    first.or_else(|| other.map(|other| [words[again], other]))
}

/// Returns the words that advise to try the same again at another time.
fn again_when(lower: &str) -> Option<[&str; 2]> {
    if lower.contains("not retry") || lower.contains("retriable") {
        return None;
    }
    sentences(lower).find_map(|sentence| {
        let words = conditions::words(sentence);
        let at = words.iter().position(|word| AGAIN.contains(word))?;
        let (before, after) = (&words[at.saturating_sub(DENIED_WITHIN)..at], &words[at + 1..]);
        let wait = words[..at].iter().rposition(|word| *word == "wait").filter(|wait| at - wait <= WAIT_WITHIN);
        if let Some(wait) = wait {
            let between = &words[wait + 1..at];
            let joined = between.iter().any(|word| matches!(*word, "before" | "and" | "then" | "until"));
            return (joined && wait < 3).then(|| [words[wait], words[at]]);
        }
        if before.iter().any(|word| DENYING.contains(word)) || after.windows(2).any(|two| two == ["later", "than"]) {
            return None;
        }
        let after = &after[..after.len().min(WHEN_WITHIN)];
        let soon = after.iter().copied().find(|word| SOON.contains(word));
        let is_count = after.first().is_some_and(|word| {
            word.starts_with(|c: char| c.is_ascii_digit())
                || matches!(*word, "attempt" | "scheduled" | "number" | "count")
        });
        Some([words[at], soon.or_else(|| time_in(after)).filter(|_| !is_count)?])
    })
}

/// Returns the unit of a time: `in about 30 seconds`, `after some time`, `in 30s`.
fn time_in<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.iter().position(|word| matches!(*word, "in" | "after"))?;
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let rest = &words[at + 1..];
    let amount = rest.iter().take_while(|word| AMOUNTS.contains(*word) || is_number(word)).count();
    let last = rest[..amount].last()?;
    let glued = last.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_glued = is_number(last) && (UNITS.contains(&glued) || SHORT_UNITS.contains(&glued));
    let unit = rest.get(amount).copied().filter(|unit| {
        UNITS.contains(unit)
            || is_number(last) && SHORT_UNITS.contains(unit)
            || matches!((*last, *unit), ("some" | "short", "time") | ("a", "while"))
    });
    unit.or(is_glued.then_some(*last))
}

/// What runs at the same time as other things: their number falls when one of them ends.
fn at_once(lower: &str) -> Option<Classification> {
    #[rustfmt::skip]
    const RULES: &[&str] = &[
        "value", "must", "should", "between", "supported", "parameter", "setting", "option", "configured", "argument", "field", "cannot", "allowed", "contains",
        "batch", "reserved", "total", "clause", "invalid",
    ];
    #[rustfmt::skip]
    const THINGS: &[&str] = &[
        "connections", "connection", "requests", "request", "sessions", "session", "queries", "query", "calls", "jobs", "transfers", "binds", "executions", "uploads", "downloads",
        "streams", "operations", "builds", "logins", "messages", "users", "user", "clients", "invocations", "runs", "transactions", "statements", "workflows",
    ];
    if !holds(lower, &["simultaneous", "concurren", "parallel"]) || states_rule(lower) {
        return None;
    }
    let words = conditions::words(lower);
    let is_at_once =
        |word: &str| word.starts_with("simultaneous") || word == "parallel" || word.starts_with("concurrent");
    let at = words.iter().position(|word| is_at_once(word))?;
    let thing = words[at + 1..].iter().take(2).find(|word| THINGS.contains(*word))?;
    let met = words.iter().find(|word| matches!(**word, "exceeds" | "exceeded" | "exceeding" | "reached" | "many"))?;
    let is_rule = words.iter().any(|word| RULES.contains(word) || *word == "0") || lower.contains("not a number");
    (!is_rule).then(|| {
        finding(Class::Transient, Category::Throttled, CLAIM_PCT, quoted::sentence_with_gaps(&[words[at], thing, met]))
    })
}

/// What somebody else holds: `record is locked`, `File locked`. What is closed for good may be called locked, too.
fn held(lower: &str) -> Option<Classification> {
    #[rustfmt::skip]
    const THINGS: &[&str] = &[
        "record", "file", "row", "table", "resource", "document", "object", "entity", "item", "page", "index", "dataset", "workbook", "sheet", "partition", "queue", "spreadsheet",
    ];
    #[rustfmt::skip]
    const FOR_GOOD: &[&str] = &[
        "account", "user", "password", "closed", "posted", "approved", "archived", "frozen", "legal", "retention", "immutable", "period", "not", "readonly", "read-only",
        "permanently", "cannot", "after", "admin", "administrator", "unlock", "must", "because", "if", "isn't", "protected", "down",
    ];
    if !lower.contains("locked") {
        return None;
    }
    let words = conditions::words(lower);
    let at = words.iter().position(|word| *word == "locked")?;
    let thing = words[at.saturating_sub(3)..at].iter().find(|word| THINGS.contains(*word))?;
    let is_for_good = words.iter().any(|word| FOR_GOOD.contains(word));
    (!is_for_good).then(|| {
        finding(Class::Transient, Category::Conflict, CLAIM_PCT, quoted::sentence_with_gaps(&[thing, words[at]]))
    })
}

/// Believes advice to try the same again at another time more than what else suggests a mistake: whoever wrote it knew
/// that nothing needs to change. Without a time it may mean "correct it and try again", and words about a right or an
/// input say so.
pub fn advised(found: Option<Classification>, lower: &str) -> Option<Classification> {
    #[rustfmt::skip]
    const ADVICE: &[&str] = &[
        "try again later", "try again in ", "try again after ", "try again soon", "try again shortly", "try again when", "try again once",
        "try later", "try operation later", "retry later", "retry again later", "retry after ", "you can retry", "retry in a ", "try again at a later",
        " to complete", " to finish",
    ];
    // Others may be denied, or ask for another request.
    #[rustfmt::skip]
    const REQUESTS: &[&str] = &[
        "retry the request", "retry your request", "retrying may solve", "retrying may succeed", "retrying may help", "has to be retried",
        "should be retried", "must be retried", "retry to avoid",
    ];
    #[rustfmt::skip]
    const DENIED: &[&str] = &[
        "not retry", "n't retry", "never retry", "not be retried", "retried with", "another", "different", "manual", "correct", "duplicate", "closed", "deleted", "after ",
    ];
    #[rustfmt::skip]
    const CORRECTED: &[&str] = &[
        "check your", "double check", "invalid", "permission", "denied", "not authorized", "correct ", "token", "update your", "missing", "not found",
        "unsupported", "must ", "expired", "upgrade", "quota", "billing",
    ];
    if found.as_ref().is_some_and(|found| found.class == Class::Transient || found.category == Category::Auth) {
        return found;
    }
    let is_advice =
        |advice: &&&str| lower.contains(**advice) && (!advice.starts_with(' ') || lower.contains("wait for "));
    // A word that refuses something for now: `not allowed at this time`.
    let word = || found.as_ref().is_some_and(|found| found.confidence.as_pct() <= WORD_PCT);
    if let Some(unfinished) = unfinished::for_now_in(lower).filter(|_| word()) {
        return Some(unfinished);
    }
    // Most messages advise nothing.
    const SIGNS: [&str; 6] = ["try", "retr", "wait", "repeat", "resubmit", "resend"];
    let advice = || {
        let request = || REQUESTS.iter().find(|advice| lower.contains(**advice)).filter(|_| !holds(lower, DENIED));
        let known = ADVICE.iter().find(is_advice).or_else(request);
        let known = known.map(|advice| format!("the advice \"{}\"", advice.trim()));
        let is_weak = || found.is_none() || word();
        let when = || again_when(lower).filter(|_| is_weak()).map(|two| quoted::sentence_with_gaps(&two));
        // Where sources disagree on a code, advice decides, even without a time.
        let is_open = found.as_ref().is_some_and(|found| found.class == Class::Unknown) && lower.contains("try again");
        let bare = || is_open.then(|| quoted::sentence(&["try", "again"]));
        known.or_else(when).or_else(bare).filter(|_| !holds(lower, CORRECTED) && corrects(lower).is_none())
    };
    match holds(lower, &SIGNS).then(advice).flatten() {
        Some(reason) => Some(finding(Class::Transient, Category::DependencyUnavailable, 75, reason)),
        None => at_once(lower).or_else(|| held(lower)).filter(|_| found.is_none() || word()).or(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_to_wait_says_when() {
        for (lower, expected) in [
            ("try operation later", Some(["try", "later"])),
            ("please try your request again in a few minutes", Some(["try", "minutes"])),
            ("retry this call in 30s", Some(["retry", "30s"])),
            ("please wait a few minutes before you try again", Some(["wait", "try"])),
            ("the job will retry in 30 seconds", None),
            ("do not retry later", None),
            ("do not attempt to resend in the next 30 minutes", None),
            ("delivery failed: 410 gone. retry 2 in 60 seconds", None),
            ("json parse error at position 12; retry scheduled in 5 minutes", None),
            ("retry: \"delay\" in seconds cannot be parsed", None),
            ("unknown schema 12. register it first, wait for replication and retry", None),
            ("repeat: true, end_date later than start", None),
            ("failed to parse entry in line 7", None),
            ("", None),
        ] {
            assert_eq!(again_when(lower), expected, "{lower}");
        }
    }

    #[test]
    fn advice_to_correct_something_is_no_advice_to_wait() {
        for lower in [
            "enter a valid card number and try again",
            "the folder is not empty. please remove its contents and try again.",
            "please try again with a different payment method",
            "the name is taken, please rename it and try again",
            "re-enter the code and try again",
            "the domain could not be migrated. remove the contents of the folder and try again",
        ] {
            assert!(corrects(lower).is_some_and(|found| found.class == Class::Permanent), "{lower}");
        }
        for lower in [
            "check your internet connection and try again",
            "try again later",
            "an error occurred",
            "",
            "reduce your request rate and try again",
            "update was rolled back because the node is busy, please try again",
            "please try again, another user is reserving these seats",
            "auto-update of the index failed, try again",
        ] {
            assert_eq!(corrects(lower), None, "{lower}");
        }
    }

    #[test]
    fn what_runs_at_once_ends_unless_a_rule_speaks_of_it() {
        assert!(at_once("the number of simultaneous connections exceeds your allocation").is_some());
        assert!(at_once("too many parallel queries for user etl").is_some());
        assert_eq!(at_once("max_concurrent_requests must not exceed 100"), None);
        assert_eq!(at_once("number of parallel jobs exceeds the total number of tasks"), None);
        assert_eq!(at_once("the value of concurrent requests exceeds the limit"), None);
    }

    #[test]
    fn what_somebody_else_holds_is_given_back_unless_it_is_closed() {
        assert!(held("isam error: record is locked.").is_some());
        assert!(held("cisam 113: file locked.").is_some());
        for lower in
            ["the account is locked", "the document is locked because it was posted", "file not locked", "unlocked"]
        {
            assert_eq!(held(lower), None, "{lower}");
        }
    }
}
