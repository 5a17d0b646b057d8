//! How a sentence is made: what a library says of a rule, and what it says of a moment.
//!
//! A rule is said in the present tense and with a modal verb (`must be`, `cannot be used with`, `only supports`), with
//! an adjective of something wrong (`unknown`, `malformed`), or as advice (`did you forget`). A moment is said with
//! words of time (`still`, `again`, `in progress`) or of a state that ends (`busy`, `draining`). These words are few,
//! and every library has them, whatever it is about. It is the weakest evidence of all: it is asked last, with
//! [`GRAMMAR_PCT`].

mod states;
mod words;

use super::conditions::{self, Words};
use super::{finding, quoted, unfinished};
use crate::reading::{Category, Class, Classification};
use words::*;

/// The confidence in the form of a sentence, percent: less than that of any word that a table knows.
pub const GRAMMAR_PCT: u8 = 50;

/// The confidence in a step that failed for no stated reason, percent.
const STEP_PCT: u8 = 40;

/// Returns what the form of a message says. `lower` is the message in lower case.
pub fn find(lower: &str) -> Option<Classification> {
    let words = conditions::words(lower);
    let words = words.as_slice();
    let again = is_about_again(words);
    let rule = || rule(words).filter(|_| !again);
    let moments = || moment_words(words).or_else(|| states::of_moment(words));
    let denied = || said(Class::Permanent, Category::ConsumerBug, &["not", "in", "progress"]);
    if unfinished::denies_progress(lower) && !again {
        return denied();
    }
    let wrongs = || wrong(words).or_else(|| states::of_data(words)).filter(|_| !again);
    moments().or_else(rule).or_else(|| moment(words)).or_else(wrongs).or_else(|| remote_step(words))
}

/// Returns the rule that a message surely states, unless it is one about a moment.
pub fn ruled(lower: &str) -> Option<Classification> {
    let words = conditions::words(lower);
    let modal = || {
        let mut pairs = words.windows(2);
        pairs.find(|two| match two[0] {
            "must" => !matches!(two[1], "wait" | "reconnect"),
            "need" => two[1] == "to",
            _ => false,
        })
    };
    // `call open() before flush()`: how a part of the program is used.
    let called = || words.windows(4).find(|four| four[0] == "call" && four[1..].contains(&"before"));
    let called = called().map(|four| &four[..2]);
    let unknown = || words.get(..2).filter(|two| UNKNOWN.contains(&two[0]) && conditions::is_written(two[1]));
    let said_words = modal().or_else(unknown).or(called).filter(|_| !is_about_again(&words))?;
    said(Class::Permanent, Category::Configuration, said_words)
}

/// Whether a sentence speaks of another try: "must be retried" is a rule about a moment.
fn is_about_again(words: Words<'_>) -> bool {
    words.iter().enumerate().any(|(at, word)| AGAIN.contains(word) && !words[..at].ends_with(&["number", "of"]))
}

fn holds(words: Words<'_>, some: &[&str]) -> bool {
    words.iter().any(|word| some.contains(word))
}

fn said(class: Class, category: Category, words: &[&str]) -> Option<Classification> {
    Some(finding(class, category, GRAMMAR_PCT, quoted::sentence(words)))
}

/// Returns what a message says of somebody else who works on the same thing.
pub fn somebody_else(lower: &str) -> Option<Classification> {
    others(&conditions::words(lower))
}

/// `another process is using it`, `it is already running by another process`.
fn others(words: Words<'_>) -> Option<Classification> {
    const AT_WORK: &[&str] =
        &["running", "processed", "locked", "held", "modified", "updated", "changed", "claimed", "executed", "handled"];
    let by = words
        .windows(4)
        .find(|four| AT_WORK.contains(&four[0]) && four[1..3] == ["by", "another"] && OTHERS.contains(&four[3]));
    if let Some(four) = by {
        return said(Class::Transient, Category::Conflict, four);
    }
    // Transactions and writers conflict for a moment; bookings and options do not.
    const COMPETING: &[&str] = &["transaction", "writer", "write", "update", "commit"];
    let conflicting = words.windows(2).position(|two| two[0].starts_with("conflict") && two[1] == "with");
    if let Some(at) = conflicting {
        let with = &words[at + 2..words.len().min(at + 5)];
        if let Some(competing) = with.iter().position(|word| COMPETING.contains(word)) {
            return said(Class::Transient, Category::Conflict, &words[at..at + 3 + competing]);
        }
    }
    let at = words.iter().position(|word| *word == "another").filter(|at| {
        let near = words.get(at + 1..).unwrap_or_default();
        near.first().is_some_and(|who| OTHERS.contains(who)) && near.iter().take(5).any(|word| USING.contains(word))
    })?;
    said(Class::Transient, Category::Conflict, &words[at..at + 2])
}

/// Words that are about a moment even in a sentence with a modal verb.
fn moment_words(words: Words<'_>) -> Option<Classification> {
    let say = |category, said_words: &[&str]| said(Class::Transient, category, said_words);
    let denied = |at: usize| at.checked_sub(1).is_some_and(|at| matches!(words[at], "non" | "not" | "isn't"));
    let surely = words.iter().enumerate().find(|(at, word)| SURELY_PASSING.contains(word) && !denied(*at));
    if let Some((_, word)) = surely {
        return say(Category::DependencyUnavailable, &[word]);
    }
    let (is_version, is_rule) = (holds(words, OF_VERSIONS), holds(words, OF_RULES));
    let passing = |two: &&[&str]| PASSING_PAIRS.contains(&[two[0], two[1]]) && !(is_rule && OF_NOW.contains(&two[1]));
    if let Some(two) = words.windows(2).find(passing).filter(|_| !is_version) {
        return say(Category::DependencyUnavailable, two);
    }
    if let Some(found) = others(words) {
        return Some(found);
    }
    // A server that is no longer available comes back; an item of a shop does not.
    let lost = words.windows(2).position(|two| two == ["no", "longer"]).filter(|at| {
        let after = &words[at + 2..words.len().min(at + 5)];
        let up = || holds(after, conditions::UP) && words[..*at].iter().any(|word| conditions::is_thing(word));
        holds(after, LEADING) || up()
    })?;
    say(Category::DependencyUnavailable, &words[lost..lost + 2])
}

/// A rule: modal verbs, what is not done by design, and advice.
fn rule(words: Words<'_>) -> Option<Classification> {
    let next = |at: usize| words.get(at + 1).copied().unwrap_or_default();
    let passing = holds(words, PASSING);
    for (at, word) in words.iter().copied().enumerate() {
        let rest = words.get(at + 1..).unwrap_or_default();
        let (one, two) = (next(at), next(at + 1));
        let category = match word {
            "must" | "should" | "shall" | "ought" | "needs" | "need" | "requires" | "mandatory" => {
                Some(Category::SchemaViolation)
            }
            "require" if !passing => Some(Category::SchemaViolation),
            "has" | "have" if one == "to" && two == "be" => Some(Category::SchemaViolation),
            // `cannot be read as a number`
            "cannot" | "can't" if one == "be" && rest.iter().take(3).any(|word| *word == "as") => {
                Some(Category::MalformedPayload)
            }
            "cannot" | "can't" if !is_event(one, two) && !passing => Some(Category::ConsumerBug),
            "can" | "may" if one == "not" && !is_event(two, next(at + 2)) && !passing => Some(Category::ConsumerBug),
            "can" if one == "only" => Some(Category::ConsumerBug),
            "does" | "do" | "did" if one == "not" && LACKING.contains(&two) && !(passing && two == "accept") => {
                Some(Category::SchemaViolation)
            }
            "doesn't" | "don't" | "didn't" if LACKING.contains(&one) => Some(Category::SchemaViolation),
            "not" | "isn't" | "aren't" | "wasn't" if is_stated(one, two) => Some(Category::SchemaViolation),
            "only" if rest.iter().any(|word| ALLOWED.contains(word)) => Some(Category::Configuration),
            "mutually" | "deprecated" | "renamed" | "reserved" | "immutable" | "forgot" => Some(Category::ConsumerBug),
            "no" if one == "longer" => Some(Category::Configuration),
            "moved" if one == "to" && !passing => Some(Category::Configuration),
            "never" if !passing => Some(Category::ConsumerBug),
            "instead" if !passing => Some(Category::ConsumerBug),
            "did" if one == "you" => Some(Category::ConsumerBug),
            "make" if one == "sure" => Some(Category::Configuration),
            // `refusing to use the PIN`: who refuses has a reason; a connection is refused for a moment.
            "refusing" if one == "to" && !matches!(two, "connect" | "accept") => Some(Category::BusinessRule),
            "please" if ADVISED.contains(&one) => Some(Category::Configuration),
            "already" if !holds(words, conditions::AWAITED) && !passing && !DOING.contains(&one) => {
                Some(Category::ConsumerBug)
            }
            "twice" | "either" | "neither" if !passing => Some(Category::ConsumerBug),
            "too" if SIZES.contains(&one) => Some(Category::SchemaViolation),
            "not" if one == "possible" && !passing => Some(Category::ConsumerBug),
            "expected" if one == "to" => Some(Category::SchemaViolation),
            "expected" | "expects" | "expecting" if !passing => Some(Category::SchemaViolation),
            _ if RIGHTS.contains(&word) && [one, two].iter().any(|word| ENDED.contains(word)) => Some(Category::Auth),
            _ => None,
        };
        if let Some(category) = category {
            let shown: &[&str] = if one.is_empty() { &[word] } else { &[word, one] };
            return said(Class::Permanent, category, shown);
        }
    }
    None
}

/// Whether what "cannot" be done is something that is tried: `send`, `be sent`.
fn is_event(one: &str, two: &str) -> bool {
    let stem = |word: &str| EVENTS.iter().any(|event| word == *event || word.strip_suffix("ed") == Some(event));
    let verb = if one == "be" { two } else { one };
    verb.is_empty() || stem(verb) || verb.strip_suffix('d').is_some_and(stem) || PARTICIPLES.contains(&verb)
}

/// `not a pointer`, `not numeric`, `not convertible`, `not specified`: what something is, and not where it is now.
fn is_stated(one: &str, two: &str) -> bool {
    let able = one.ends_with("able") || one.ends_with("ible");
    (able && !conditions::UP.contains(&one) && one != "possible")
        || matches!(one, "a" | "an" | "one")
        || matches!((one, two), ("of" | "in", _) if !two.is_empty() && two != "sync")
        || STATED.contains(if one == "been" { &two } else { &one })
}

/// A state that ends by itself.
fn moment(words: Words<'_>) -> Option<Classification> {
    let dependency = |words: &[&str]| said(Class::Transient, Category::DependencyUnavailable, words);
    for (at, word) in words.iter().copied().enumerate() {
        let one = words.get(at + 1).copied().unwrap_or_default();
        let two = words.get(at + 2).copied().unwrap_or_default();
        let found = match word {
            "no" if matches!(one, "response" | "reply" | "answer" | "capacity" | "heartbeat" | "quorum") => true,
            "not" if one == "yet" => !holds(words, OF_VERSIONS),
            "not" if matches!(one, "responding" | "ready") || UNFINISHED.contains(&one) => true,
            "already" if one == "locked" => !holds(words, LOCKED_FOR_GOOD),
            "in" if one == "progress" => true,
            "did" if one == "not" && matches!(two, "finish" | "complete" | "respond" | "reply" | "arrive") => true,
            "didn't" => matches!(one, "finish" | "complete" | "respond" | "reply" | "arrive"),
            "waiting" | "awaiting" | "until" => true,
            "insufficient" | "low" => matches!(one, "storage" | "resources" | "memory" | "capacity" | "space"),
            "too" => one == "many" && LIMITED.contains(&two),
            "up" => one == "to" && words.get(at + 3) == Some(&"limit"),
            // A lost link is found again; lost data is not.
            "lost" => !OWNED.contains(&one),
            // `requires version 5.0 or later`
            "later" if words[..at].last() == Some(&"or") || one == "than" => false,
            // `when starting the workflow` is an action, `the node is starting` a state.
            _ if word.ends_with("ing") && words[..at].last().is_some_and(|word| OF_ACTIONS.contains(word)) => false,
            // `the row is being updated`; what is being used by others is used for good.
            "being" if BEING.contains(&one) => true,
            // `exited abruptly`: what ended did not end by itself.
            "abruptly" | "unexpectedly" => words[..at].last().is_some_and(|word| ENDING.contains(word)),
            _ => PASSING_STATES.contains(&word),
        };
        if found {
            return if one.is_empty() { dependency(&[word]) } else { dependency(&[word, one]) };
        }
    }
    None
}

/// Whether a word says that somebody did not do something: `is unnamed`. What is not finished may be later.
fn is_undone(before: Words<'_>, word: &str) -> bool {
    let is = before.last().is_some_and(|word| matches!(*word, "is" | "are" | "was" | "were" | "context"));
    is && word.len() > 6 && word.starts_with("un") && word.ends_with("ed") && !UNDONE_YET.contains(&word)
}

/// Whether "not" after a form of "be" denies a state that nobody is about to change: no verb of something that is tried,
/// and nothing that is under way.
fn is_settled(before: Words<'_>, after: Words<'_>) -> bool {
    let Some(what) = after.first() else { return false };
    let is = before.last().is_some_and(|word| matches!(*word, "is" | "are" | "was" | "were"));
    is && !what.ends_with("ing")
        && !conditions::UP.contains(what)
        && !UNFINISHED.contains(what)
        && !is_event("be", what)
        && !matches!(
            *what,
            "yet" | "currently" | "in" | "able" | "possible" | "ready" | "enough" | "be" | "been" | "have"
        )
}

/// `failed to publish the event`: a step between two programs, and no word about why. The weakest sign of all.
fn remote_step(words: Words<'_>) -> Option<Classification> {
    let tried =
        |word: &&str| matches!(*word, "failed" | "unable" | "couldn't" | "could" | "error" | "failure" | "while");
    let at = words.iter().position(tried)?;
    let between = words[at + 1..].iter().take_while(|word| matches!(**word, "to" | "not" | "be" | "while" | "when"));
    let at_verb = at + 1 + between.count();
    let verb = words.get(at_verb).filter(|word| REMOTE.contains(word))?;
    // `unable to invoke setter`: a part of the same program.
    if holds(&words[at_verb..], LOCAL) {
        return None;
    }
    let reason = quoted::sentence(&[words[at], verb]);
    Some(finding(Class::Transient, Category::DependencyUnavailable, STEP_PCT, reason))
}

/// `unknown error`, `something went wrong`: nothing is said but that it failed.
fn says_nothing(words: Words<'_>, at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| EMPTY.contains(next))
        || at.checked_sub(1).is_some_and(|at| words[at] == "went")
}

/// Something that is wrong, without a word about a moment.
fn wrong(words: Words<'_>) -> Option<Classification> {
    if holds(words, PASSING) {
        return None;
    }
    for (at, word) in words.iter().copied().enumerate() {
        let rest = &words[at + 1..];
        let near = &rest[..rest.len().min(3)];
        let category = match word {
            _ if WRONG.contains(&word) && !says_nothing(words, at) => Some(Category::SchemaViolation),
            "failed" | "unable" | "couldn't" | "failure" | "error" | "while" | "not"
                if near.iter().any(|word| DETERMINED.contains(word)) =>
            {
                Some(Category::MalformedPayload)
            }
            "no" if rest.iter().take(6).any(|word| GIVEN.contains(word)) => Some(Category::Configuration),
            "no" if !near.iter().take(2).any(|word| conditions::is_thing(word) || ABSENT_FOR_NOW.contains(word)) => {
                Some(Category::SchemaViolation)
            }
            "not" if near.first() == Some(&"enough") && !near.iter().any(|word| ABSENT_FOR_NOW.contains(word)) => {
                Some(Category::SchemaViolation)
            }
            "but" if words[..at].iter().any(|word| COMPARED.contains(word)) => Some(Category::SchemaViolation),
            "too" if near.first().is_some_and(|word| MEASURES.contains(word)) => Some(Category::SchemaViolation),
            "greater" | "less" | "larger" | "smaller" | "longer" | "shorter" | "more" | "fewer"
                if near.first() == Some(&"than") =>
            {
                Some(Category::SchemaViolation)
            }
            // `the layout was not performed properly`, `the state is not final`: what is, unless it is being tried.
            "not" if is_settled(&words[..at], near) => Some(Category::SchemaViolation),
            "none" if near.first() == Some(&"of") && !rest.iter().take(5).any(|word| conditions::is_thing(word)) => {
                Some(Category::SchemaViolation)
            }
            "state" | "status" if words[..at].iter().rev().take(3).any(|word| *word == "in") && !holds(words, SHUT) => {
                Some(Category::Conflict)
            }
            "resolve" | "resolving" if !holds(words, HOSTS) => Some(Category::Configuration),
            "without" | "outside" if !near.is_empty() => Some(Category::ConsumerBug),
            "prior" if near.first() == Some(&"to") && near.get(1).is_some_and(|word| STEPS.contains(word)) => {
                Some(Category::ConsumerBug)
            }
            // `the savepoint is unnamed`: what nobody did.
            _ if is_undone(&words[..at], word) => Some(Category::SchemaViolation),
            "after" | "before" if near.first().is_some_and(|word| STEPS.contains(word)) => Some(Category::ConsumerBug),
            "at" if matches!(near.first(), Some(&"least" | &"most")) => Some(Category::SchemaViolation),
            _ => None,
        };
        if let Some(category) = category {
            // A quotation begins with a word of a rule.
            let shown: &[&str] = match near.first() {
                _ if is_undone(&words[..at], word) => &words[at - 1..=at],
                Some(next) => &[word, next],
                None => &[word],
            };
            return said(Class::Permanent, category, shown);
        }
    }
    None
}

#[cfg(test)]
#[path = "grammar/grammar_tests.rs"]
mod tests;
