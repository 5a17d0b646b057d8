//! What somebody is doing, and what was refused only for now.
//!
//! `there is already a binding in progress`, `cannot stop the app while it is deploying`, `not allowed at this time`: what
//! is under way ends by itself. Authors give such errors the type of a wrong call (`InvalidState`, `NotFound`), so the
//! sentence goes before a type. A sentence that denies it (`no handshake in progress`) is about a wrong order of calls.

use super::conditions::{self, Words};
use super::{CLAIM_PCT, finding, quoted};
use crate::reading::{Category, Class, Classification};
use alloc::string::String;

/// What denies that something is under way.
const DENYING: &[&str] = &["no", "not", "isn't", "wasn't", "without", "never", "none", "if"];

/// How many words before `in progress` may deny it.
const DENIED_WITHIN: usize = 5;

/// What a program does itself with its own connection: a second one is a wrong order of calls.
const OWN: &[&str] = &["transaction", "callback", "handshake", "iteration", "auth", "authentication"];

/// How many words before `in progress` say what is.
const OWN_WITHIN: usize = 3;

/// How many words are between `while` and what is being done: `while a library scan is running`.
const CLAUSE: usize = 7;

/// What may follow `in progress` if it ends a statement.
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "for", "on", "by", "at", "with", "since", "please", "try", "wait", "retry", "and", "cannot", "can't", "unable", "binding", "see",
];

/// Words that end with `ing` and are no work.
#[rustfmt::skip]
const NO_WORK: &[&str] = &[
    "missing", "string", "nothing", "something", "anything", "everything", "existing", "referencing", "pointing", "containing", "expecting", "lacking", "using", "having", "being",
    "according", "during", "including", "following", "warning", "setting", "mapping", "binding", "encoding", "remaining", "pending",
];

/// How work ends.
const ENDED: &[&str] = &["finished", "completed", "complete", "done", "ready", "over", "restarted", "released"];

/// What is refused for now, if a time follows.
const REFUSED: &[&str] =
    &["allowed", "permitted", "possible", "accepted", "accepting", "allow", "accept", "process", "performed"];

/// What is said of what a program can do at all.
const BY_DESIGN: &[&str] = &["supported", "support", "supports", "implemented", "implement"];

/// Returns what a message says of work that is under way. `lower` is the message in lower case.
pub fn find(lower: &str) -> Option<Classification> {
    // Most messages have none of these.
    const SIGNS: [&str; 8] = ["progress", "while ", "until ", "still ", "temporarily", " time", "moment", "already ha"];
    if !SIGNS.iter().any(|sign| lower.contains(sign)) {
        return None;
    }
    let words = conditions::words(lower);
    let words = words.as_slice();
    in_progress(words)
        .or_else(|| clause(words))
        .or_else(|| still(words))
        .or_else(|| has_running(words))
        .or_else(|| for_now(words))
}

/// Returns what a message says of what is refused only for now.
pub fn for_now_in(lower: &str) -> Option<Classification> {
    let is_possible = ["temporarily", " time", "moment", "right now"].iter().any(|sign| lower.contains(sign));
    is_possible.then(|| for_now(&conditions::words(lower)))?
}

fn said(reason: String) -> Classification {
    finding(Class::Transient, Category::Conflict, CLAIM_PCT, reason)
}

/// Whether a word is something that is being done.
fn is_work(word: &str) -> bool {
    word.len() > 5 && word.ends_with("ing") && !NO_WORK.contains(&word)
}

fn holds(words: Words<'_>, some: &[&str]) -> bool {
    words.iter().any(|word| some.contains(word))
}

/// Whether something at `in progress` is denied, or is only named: `no handshake in progress`.
pub fn denies_progress(lower: &str) -> bool {
    let words = conditions::words(lower);
    words.windows(2).position(|two| two == ["in", "progress"]).is_some_and(|at| is_denied(&words[..at]))
}

fn is_denied(before: Words<'_>) -> bool {
    holds(&before[before.len().saturating_sub(DENIED_WITHIN)..], DENYING)
}

/// `another upgrade is in progress`.
fn in_progress(words: Words<'_>) -> Option<Classification> {
    let at = words.windows(2).position(|two| two == ["in", "progress"])?;
    let next = words.get(at + 2).copied().unwrap_or_default();
    let near = &words[at.saturating_sub(OWN_WITHIN)..at];
    let stated = at > 0
        && !holds(near, OWN)
        && words[at - 1] != "be"
        && (next.is_empty() || AFTER.contains(&next))
        && !is_denied(&words[..at]);
    stated.then(|| said(quoted::sentence(&words[at..at + 2])))
}

/// `while it is deploying`, `until the run is finished`.
fn clause(words: Words<'_>) -> Option<Classification> {
    let at = words.iter().position(|word| matches!(*word, "while" | "until" | "as"))?;
    let rest = &words[at + 1..];
    let be = rest.iter().take(CLAUSE).position(|word| matches!(*word, "is" | "are" | "has" | "have"))?;
    let state = rest[be + 1..].iter().find(|word| !matches!(**word, "been" | "still" | "being" | "currently"))?;
    let is_under_way = match words[at] {
        "while" => is_work(state) || *state == "progress",
        "until" => ENDED.contains(state),
        _ => false,
    };
    is_under_way.then(|| said(quoted::sentence_with_gaps(&[words[at], state])))
}

/// `it is still running`.
fn still(words: Words<'_>) -> Option<Classification> {
    let two = words.windows(2).find(|two| two[0] == "still" && is_work(two[1]))?;
    Some(said(quoted::sentence(two)))
}

/// `the project already has running operations`.
fn has_running(words: Words<'_>) -> Option<Classification> {
    let at = words.windows(2).position(|two| matches!(two, ["already", "has" | "have"]))?;
    let rest = &words[at + 2..];
    let skipped = usize::from(rest.first().is_some_and(|word| matches!(*word, "a" | "an" | "another")));
    let state = rest.get(skipped).filter(|word| matches!(**word, "running" | "ongoing" | "unfinished"))?;
    Some(said(quoted::sentence_with_gaps(&["already", state])))
}

/// `not allowed at this time`, `temporarily locked`.
fn for_now(words: Words<'_>) -> Option<Classification> {
    if holds(words, BY_DESIGN) {
        return None;
    }
    let adverb = words.windows(2).position(|two| two[0] == "temporarily" && !matches!(two[1], "for" | "or"));
    if let Some(at) = adverb {
        let is_denied = at > 0 && DENYING.contains(&words[at - 1]);
        return (!is_denied).then(|| said(quoted::sentence(&words[at..at + 2])));
    }
    let now = |three: &&[&str]| matches!(three, [_, "this", "time"] | ["at", "the", "moment"] | [_, "right", "now"]);
    let three = words.windows(3).find(now)?;
    let at = words.iter().position(|word| REFUSED.contains(word))?;
    let is_refused = at > 0 && matches!(words[at - 1], "not" | "cannot" | "can't" | "isn't" | "be" | "temporarily");
    is_refused.then(|| said(quoted::sentence_with_gaps(&[words[at], three[1], three[2]])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_ends() {
        for lower in [
            "there is already a binding in progress for this app (guid: 7f3a)",
            "cannot stop the app while it is deploying, please cancel the deployment",
            "cannot start until preparation or run is finished",
            "workflow is still running. status=running",
            "operation not allowed at this time",
            "account is temporarily locked.",
        ] {
            assert!(find(lower).is_some_and(|found| found.class == Class::Transient), "{lower}");
        }
    }

    #[test]
    fn what_is_denied_or_so_by_design_does_not() {
        for lower in [
            "no handshake in progress",
            "callback not in progress",
            "no oauth authentication is in progress",
            "cannot start a transaction when a transaction is already in progress",
            "the order must be in progress",
            "the request is in progress but a value is set for granted",
            "not supported at the moment",
            "exactly 1 value needs to be specified at this time.",
            "the order is still missing a customer",
            "",
        ] {
            assert_eq!(find(lower), None, "{lower}");
        }
        assert!(denies_progress("no oauth authentication is in progress"));
    }
}
