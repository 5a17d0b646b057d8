//! Mistakes: what somebody wrote wrong, which no retry makes right.

use super::things::*;
use super::{NEAR, found, holds, pair, pair_of};
use crate::reading::{Category, Class, Classification};

/// How many words may be between what was expected and what came.
const FAR: usize = 16;

/// Returns the mistake that the words of a message speak of.
pub fn find(words: &[&str]) -> Option<Classification> {
    of_values(words).or_else(|| of_names(words)).or_else(|| of_rules(words))
}

/// A value that does not fit its place.
fn of_values(words: &[&str]) -> Option<Classification> {
    let say = |category, pair: [&str; 2]| found(Class::Permanent, category, &pair);
    let passing = holds(words, PASSING);
    let refused = || words.windows(2).any(|two| two == ["can", "not"]) || holds(words, &["cannot", "can't"]);
    let using = || {
        let pair = refused().then(|| pair(words, &["cannot", "can't", "not"], USING, 2)).flatten();
        pair.map(|pair| say(Category::ConsumerBug, pair))
    };
    let convert = || {
        let verb = pair(words, FAILED, CONVERTING, 3)
            .or_else(|| pair(words, &["not"], CONVERTING, 3))
            .or_else(|| pair(words, &["failed", "cannot", "can't", "unable"], &["value"], 3))
            .or_else(|| pair(words, CONVERTING, &["failed", "error", "failure"], 2));
        verb.map(|pair| say(Category::MalformedPayload, pair))
    };
    let compared = || {
        let pair = (!passing).then(|| pair(words, COMPARED, BOUNDS, NEAR)).flatten();
        pair.map(|pair| say(Category::SchemaViolation, pair))
    };
    let expected = || {
        const CAME: &[&str] = &["got", "but", "received", "instead", "found", "given", "actual", "actually"];
        let pair = pair(words, &["expected", "expects", "expecting"], CAME, FAR)
            .or_else(|| pair(words, &["should"], &["but", "instead", "got"], NEAR))
            .or_else(|| pair(words, &["got", "received", "given"], &["instead", "expected"], NEAR));
        // A response of another type is a mistake; a response that did not come is not.
        let typed = holds(words, &["type", "types", "class", "schema", "format"]);
        pair.filter(|_| !passing || typed).map(|pair| say(Category::SchemaViolation, pair))
    };
    using().or_else(convert).or_else(compared).or_else(expected).or_else(|| too_much(words))
}

/// `maximum depth exceeded`, `exceeded total size limit`: what is too deep or too long stays so. What waits or is kept
/// for a while gets shorter.
fn too_much(words: &[&str]) -> Option<Classification> {
    #[rustfmt::skip]
    const MEASURES: &[&str] = &["depth", "length", "size", "nesting", "recursion", "precision", "complexity", "redirects", "width"];
    const KEPT: &[&str] = &[
        "queue",
        "pool",
        "backlog",
        "cache",
        "log",
        "disk",
        "storage",
        "heap",
        "memory",
        "wal",
        "window",
        "concurrent",
    ];
    const PASSED: &[&str] = &["exceeded", "exceeds", "reached", "hit", "exceed"];
    let pair = pair(words, MEASURES, PASSED, 3).or_else(|| pair(words, PASSED, MEASURES, 3))?;
    // `end of file before the length was reached` is about a transfer.
    (!holds(words, KEPT) && !holds(words, &["before"]))
        .then(|| found(Class::Permanent, Category::SchemaViolation, &pair))
}

/// A name that nobody knows, or a caller without the right.
fn of_names(words: &[&str]) -> Option<Classification> {
    let say = |category, pair: [&str; 2]| found(Class::Permanent, category, &pair);
    let passing = holds(words, PASSING);
    let access = || {
        const ACCESS: &[&str] =
            &["authenticate", "authorize", "authorise", "login", "decrypt", "authentication", "password", "permission"];
        let pair = pair(words, FAILED, &ACCESS[..5], 3)
            .or_else(|| pair(words, &["not"], &ACCESS[..4], 2))
            .or_else(|| pair(words, &["requires", "require", "required"], &ACCESS[5..], NEAR));
        pair.map(|pair| say(Category::Auth, pair))
    };
    let written = || {
        const WRONG: &[&str] =
            &["unknown", "unexpected", "bad", "wrong", "missing", "duplicate", "incorrect", "illegal", "conflicting"];
        let any = words.iter().find(|word| ALWAYS_WRONG.contains(word));
        let missing = || words.iter().find(|word| **word == "missing").filter(|_| !passing && !holds(words, AWAITED));
        let pair = any
            .map(|word| [*word, ""])
            .or_else(|| pair(words, WRONG, WRITTEN, 3))
            .or_else(|| missing().map(|word| [*word, ""]));
        pair.map(|[wrong, what]| {
            let both = [wrong, what];
            found(Class::Permanent, Category::SchemaViolation, if what.is_empty() { &both[..1] } else { &both })
        })
    };
    let loaded = || {
        let pair = pair(words, FAILED, LOADED, NEAR)
            .or_else(|| pair(words, &["no", "not"], LOADED, 3))
            .filter(|_| holds(words, &["load", "loading", "instantiate", "find", "locate", "resolve", "no", "create"]));
        pair.filter(|_| !passing).map(|pair| say(Category::Configuration, pair))
    };
    // A connection that is not encrypted was made so.
    let open = || {
        const SECURED: &[&str] = &["encrypted", "secure", "secured", "tls", "ssl", "authenticated"];
        let denied = words.windows(2).any(|two| LINKS.contains(&two[0]) && matches!(two[1], "is" | "was" | "not"));
        let unsecured = pair(words, NOT, SECURED, 2).filter(|_| denied);
        pair(words, &["unencrypted", "unsecured", "plaintext"], LINKS, 1).or(unsecured)
    };
    let open = || open().map(|pair| say(Category::Configuration, pair));
    access().or_else(open).or_else(written).or_else(loaded)
}

/// A rule that was not kept.
fn of_rules(words: &[&str]) -> Option<Classification> {
    let say = |category, pair: [&str; 2]| found(Class::Permanent, category, &pair);
    let passing = holds(words, PASSING);
    let once = || {
        let pair = pair(words, &["already"], ONCE, 2).or_else(|| pair(words, &["only"], &["once"], NEAR));
        let longer = || pair_of(words, "no", "longer").filter(|_| holds(words, &["accepts", "supported", "supports"]));
        pair.or_else(longer).map(|pair| say(Category::ConsumerBug, pair))
    };
    // What has to be so is a rule; what has to be done again is not.
    let rule = || {
        let pair = pair_of(words, "must", "be")
            .or_else(|| pair(words, &["must"], &["not", "have", "specify", "provide", "define"], 2))
            .or_else(|| pair(words, &["without"], &["least"], 2))
            .or_else(|| pair(words, &["is", "are", "be"], &["required"], 2))
            .or_else(|| pair(words, &["conditions", "argument", "option"], &["required"], 2));
        let again = holds(words, &["retried", "retry", "restarted", "again", "later"]);
        pair.filter(|_| !passing && !again).map(|pair| say(Category::SchemaViolation, pair))
    };
    let overflow = || {
        let pair =
            pair(words, &["integer", "numeric", "arithmetic", "decimal", "float", "int", "value"], &["overflow"], 2);
        pair.map(|pair| say(Category::SchemaViolation, pair))
    };
    once().or_else(rule).or_else(overflow)
}
