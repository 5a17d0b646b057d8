//! Conditions: a thing and what is the matter with it, in words that no table lists together.
//!
//! Libraries say the same in ever new sentences: `no broker available`, `the coordinator is not ready`, `none of the
//! nodes is reachable`. A list of sentences never ends; the things and their conditions are few. This is the weakest
//! evidence of a message's words: it is asked only if no table knows the message, and its confidence is that of an
//! error type's ending.

mod mistakes;
mod things;

use super::{CLAIM_PCT, finding};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::vec::Vec;
use things::*;
pub use things::{AWAITED, UP};

/// The words of a message.
pub type Words<'a> = &'a [&'a str];

/// The words of a message that are looked at: a condition that follows later is a detail.
const WORDS_MAX: usize = 64;
/// How many words a thing and its condition may be apart: `the coordinator for the group is not available`.
const NEAR: usize = 5;

/// Returns what the words of a message say together. `lower` is the message in lower case.
pub fn find(lower: &str) -> Option<Classification> {
    let words = words(lower);
    let words = words.as_slice();
    mistakes::find(words).or_else(|| transient(words))
}

/// Whether a word names what somebody writes: an option, a value.
pub fn is_written(word: &str) -> bool {
    WRITTEN.contains(&word)
}

/// `the sentinels are offline`: servers that are away, and nothing else.
pub fn down(lower: &str) -> Option<Classification> {
    const AWAY: &[&str] = &["down", "offline", "unreachable", "unresponsive", "overloaded"];
    let pair = pair(&words(lower), SERVERS, AWAY, 3)?;
    Some(found(Class::Transient, Category::DependencyUnavailable, &pair))
}

/// `invalid connection`, `bad socket`: an adjective that elsewhere is about a value, here about what connects.
pub fn broken_link(lower: &str) -> Option<Classification> {
    const BROKEN: &[&str] = &["invalid", "bad", "broken", "dead", "stale"];
    let words = words(lower);
    // `invalid channel state: Closed` is about a moment, `no connections found` too.
    let state = pair(&words, LINKS, &["state"], 1).and_then(|[link, _]| {
        let lost = words.iter().find(|word| LINK_LOST.contains(*word))?;
        Some([link, *lost])
    });
    let none = || {
        // `no producer found for request type`: nobody registered one.
        let missing = |at: usize| SLOTS.contains(&words[at + 1]) && words.get(at + 3) == Some(&"for");
        let found = |three: &[&str]| three[0] == "no" && is_thing(three[1]) && three[2] == "found";
        let at = words.windows(3).position(found).filter(|at| !missing(*at))?;
        Some([words[at], words[at + 1]])
    };
    if let Some(pair) = state.or_else(none) {
        return Some(found(Class::Transient, Category::DependencyUnavailable, &pair));
    }
    let at = words.windows(2).position(|pair| BROKEN.contains(&pair[0]) && LINKS[..2].contains(&pair[1]))?;
    // `invalid connection string` is about a value again.
    let last = words.get(at + 2).is_none_or(|next| matches!(*next, "is" | "was" | "error" | "to" | "from" | "for"));
    last.then(|| found(Class::Transient, Category::DependencyUnavailable, &[words[at], words[at + 1]]))
}

/// Returns the first words of a message.
pub fn words(lower: &str) -> Vec<&str> {
    all_words(lower).take(WORDS_MAX).collect()
}

/// Returns every word of a text.
pub fn all_words(lower: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_');
    lower.split(move |c: char| !part(c)).map(|word| word.trim_matches(['\'', '-'])).filter(|word| !word.is_empty())
}

fn found(class: Class, category: Category, words: &[&str]) -> Classification {
    finding(class, category, CLAIM_PCT, format!("wording: \"{}\"", words.join(" … ")))
}

/// Returns the first word of `first` that a word of `second` follows within a number of words.
fn pair<'a>(words: &[&'a str], first: &[&str], second: &[&str], within: usize) -> Option<[&'a str; 2]> {
    words.iter().enumerate().filter(|(_, word)| first.contains(*word)).find_map(|(at, word)| {
        let other = words[at + 1..].iter().take(within).find(|word| second.contains(*word))?;
        Some([*word, *other])
    })
}

fn holds(words: &[&str], some: &[&str]) -> bool {
    words.iter().any(|word| some.contains(word))
}

/// Whether a word is a link, a server or a slot.
pub fn is_thing(word: &str) -> bool {
    [LINKS, SERVERS, SLOTS].iter().any(|list| list.contains(&word))
}

fn pair_of<'a>(words: &[&'a str], first: &str, second: &str) -> Option<[&'a str; 2]> {
    words.windows(2).find(|two| two[0] == first && two[1] == second).map(|two| [two[0], two[1]])
}

fn transient(words: &[&str]) -> Option<Classification> {
    let say = |category, pair: [&str; 2]| found(Class::Transient, category, &pair);
    let lost = || {
        let pair = pair(words, LINKS, LINK_LOST, 3)
            .or_else(|| pair(words, LINK_LOST, LINKS, 1))
            .or_else(|| pair(words, &["heartbeat", "heartbeats"], &["missed", "missing", "lost", "timeout"], 3))
            .or_else(|| pair(words, &["missed", "missing", "lost", "late"], &["heartbeat", "heartbeats"], 3));
        // `connection to 10.0.3.7:80 terminated`
        let to = || {
            let at = words.windows(2).position(|two| LINKS.contains(&two[0]) && matches!(two[1], "to" | "with"))?;
            let lost = words[at + 2..].iter().take(NEAR).find(|word| LINK_LOST[..4].contains(word))?;
            Some([words[at], *lost])
        };
        let pool = || self::pair(words, &["pool"], &["closed", "closing", "stopped"], 2);
        pair.or_else(to).or_else(pool).map(|pair| say(Category::DependencyUnavailable, pair))
    };
    let down = || pair(words, SERVERS, SERVER_DOWN, NEAR).map(|pair| say(Category::DependencyUnavailable, pair));
    let taken = || pair(words, SLOTS, SLOTS_TAKEN, 3).map(|pair| say(Category::ResourceLimit, pair));
    let limit = || {
        let reached = pair(words, &["limit"], &["reached", "exceeded", "hit"], 2)
            .or_else(|| pair(words, &["reached", "exceeded", "hit"], &["limit"], NEAR));
        let most = || pair(words, SLOTS, &["reached"], NEAR).filter(|_| holds(words, &["max", "maximum"]));
        let reached = reached.filter(|_| holds(words, SLOTS) || holds(words, LINKS)).or_else(most);
        // `concurrent queries exceeded maximum 1000`
        let many = || pair(words, &["concurrent", "concurrency"], &["exceeded", "reached", "limit"], 3);
        reached.or_else(many).map(|pair| say(Category::ResourceLimit, pair))
    };
    let late = || {
        let pair = pair(words, &["exceeded", "exceeds", "reached"], &["deadline"], NEAR)
            .or_else(|| pair(words, &["deadline"], &["exceeded", "reached"], 2))
            .or_else(|| pair_of(words, "time", "limit").filter(|_| holds(words, &["exceeded", "exceeds", "reached"])));
        pair.map(|pair| say(Category::Timeout, pair))
    };
    let open = || {
        const BREAKERS: &[&str] = &["breaker", "circuit", "circuitbreaker", "breakers"];
        const TRIPPED: &[&str] = &["open", "opened", "tripped", "half-open", "half_open"];
        let pair = pair(words, BREAKERS, TRIPPED, NEAR).or_else(|| pair(words, TRIPPED, BREAKERS, 2));
        pair.map(|pair| say(Category::DependencyUnavailable, pair))
    };
    let store = || {
        let pair = pair(words, STORES, &["failed", "failing", "down", "error", "failure", "crashed"], 4);
        pair.filter(|_| words.len() <= NEAR).map(|pair| say(Category::DependencyUnavailable, pair))
    };
    lost()
        .or_else(open)
        .or_else(store)
        .or_else(down)
        .or_else(|| not_up(words))
        .or_else(taken)
        .or_else(limit)
        .or_else(late)
        .or_else(|| raced(words))
        .or_else(|| led_elsewhere(words))
        .or_else(|| not_yet(words))
        .or_else(|| transfer(words))
}

/// `could not acquire the lock`, `the lease expired`, `optimistic locking failed`: others work on the same thing.
fn raced(words: &[&str]) -> Option<Classification> {
    const TAKE: &[&str] = &[
        "acquire",
        "acquiring",
        "obtain",
        "obtaining",
        "get",
        "getting",
        "take",
        "taking",
        "extend",
        "renew",
        "release",
    ];
    let untaken = || pair(words, TAKE, &["lock", "locks", "lease", "mutex", "semaphore"], NEAR);
    let untaken = untaken().filter(|_| holds(words, FAILED) || holds(words, &["could", "timeout", "not"]));
    const HELD: &[&str] = &["taken", "held", "busy", "owned", "conflict", "locked"];
    // What is released and was not taken was released before.
    let is_free = || pair(words, NOT, &["locked", "held", "owned", "acquired"], 2).is_some();
    let untaken = untaken.filter(|[verb, _]| *verb != "release" || !is_free());
    let held = || pair(words, &["lock", "locks", "lease", "mutex", "semaphore"], HELD, 3);
    let pair = untaken
        .or_else(held)
        .or_else(|| pair(words, &["optimistic"], &["concurrency", "lock", "locking"], 1))
        .or_else(|| pair(words, &["missing", "lost"], &["lock", "lease"], 1))
        .or_else(|| pair(words, &["lock", "lease"], &["lost", "expired"], 3))
        .or_else(|| pair(words, &["outdated", "incorrect"], &["version", "revision", "epoch"], 1));
    pair.map(|pair| found(Class::Transient, Category::Conflict, &pair))
}

/// `no broker available`, `none of the nodes is reachable`, `the coordinator is not ready`, `ran out of brokers`.
fn not_up(words: &[&str]) -> Option<Classification> {
    let thing = |word: &&&str| is_thing(word);
    let say = |what: [&str; 2]| found(Class::Transient, Category::DependencyUnavailable, &what);
    for (at, word) in words.iter().enumerate() {
        let after = &words[at + 1..];
        let near = &after[..after.len().min(NEAR)];
        match *word {
            "no" | "none" => {
                // `no suitable server found`; what is healthy or alive is a server.
                let fit = after.first().is_some_and(|word| matches!(*word, "suitable" | "eligible"));
                if let Some(live) = after.first().filter(|live| matches!(**live, "healthy" | "alive")) {
                    return Some(say([word, live]));
                }
                let up = fit || near.iter().any(|word| UP.contains(word));
                if let Some(thing) = near.iter().find(thing).filter(|_| up) {
                    return Some(say([word, thing]));
                }
            }
            "out" if after.first() == Some(&"of") => {
                if let Some(thing) = near.iter().find(thing) {
                    return Some(say([word, thing]));
                }
            }
            _ if thing(&word) => {
                let not = near.iter().position(|word| NOT.contains(word));
                let up = not.and_then(|not| after[not + 1..].iter().take(2).find(|word| UP.contains(word)));
                // `not available on your server`, `not available unless`: what is missing is a feature.
                let feature = holds(near, &["unless", "supported", "on"]);
                if let Some(up) = up.filter(|_| !feature) {
                    return Some(say([word, up]));
                }
            }
            _ => {}
        }
    }
    None
}

/// A cluster that moved what was asked for: the next answer names the new place.
fn led_elsewhere(words: &[&str]) -> Option<Classification> {
    let say = |pair: [&str; 2]| found(Class::Transient, Category::DependencyUnavailable, &pair);
    pair(words, &["not"], &["leader", "master", "controller", "coordinator"], 4)
        .or_else(|| pair(words, &["metadata"], &["date", "stale", "outdated"], 4))
        .or_else(|| pair(words, &["fewer", "insufficient", "enough"], &["replicas", "replica"], 3))
        .map(say)
}

/// What a program can do at all, now or in a later version.
const BY_DESIGN: &[&str] =
    &["supported", "support", "supports", "implemented", "implement", "seek", "sponsored", "used"];

/// `cannot currently process`, `still loading`.
fn not_yet(words: &[&str]) -> Option<Classification> {
    // `not currently supported` is about a version, `cannot currently seek` about what a program can do at all.
    let current = pair(words, &["cannot", "not", "can't"], &["currently"], 1).filter(|_| !holds(words, BY_DESIGN));
    let pair = current
        .or_else(|| pair(words, &["still"], &["loading", "starting", "initializing", "recovering", "warming"], 1))
        .or_else(|| pair(words, &["not"], &["yet"], 3).filter(|_| holds(words, UP)))?;
    Some(found(Class::Transient, Category::DependencyUnavailable, &pair))
}

/// `error reading a body from connection`: bytes that did not pass.
fn transfer(words: &[&str]) -> Option<Classification> {
    // The first failure names the step, a later one the reason: `could not bind: can't contact the server`.
    let failed = |(at, word): (usize, &&str)| (FAILED.contains(word) || *word == "could").then_some(at);
    let pair = words.iter().enumerate().filter_map(failed).find_map(|at| transferred(words, at))?;
    Some(found(Class::Transient, Category::DependencyUnavailable, &pair))
}

/// What did not pass, said after a word of failure.
fn transferred<'a>(words: &[&'a str], at: usize) -> Option<[&'a str; 2]> {
    #[rustfmt::skip]
    const MOVING: &[&str] = &[
        "reading", "writing", "sending", "receiving", "read", "write", "send", "receive", "flush", "flushing", "transmit", "fetch",
        "fetching", "refresh",
    ];
    #[rustfmt::skip]
    const REACHING: &[&str] = &[
        "acquire", "acquiring", "obtain", "obtaining", "allocate", "allocating", "establish", "establishing", "contact", "contacting", "reach", "reaching", "ping",
        "join", "joining", "notify", "communicate", "communicating", "talk", "get", "open", "borrow", "lease",
    ];
    #[rustfmt::skip]
    const ASKING: &[&str] =
        &["get", "getting", "fetch", "fetching", "retrieve", "retrieving", "read", "reading", "load", "loading", "receive", "receiving", "list", "obtain", "pull"];
    let near = &words[at + 1..];
    let is_link = |word: &&&str| LINKS.contains(*word) || SERVERS.contains(*word);
    let moved = || {
        let verb = near.iter().take(2).position(|word| MOVING.contains(word))?;
        // `cannot fetch more than 100 members`: a rule for a number.
        let is_counted = near.get(verb + 1..verb + 3) == Some(&["more", "than"]);
        Some([near[verb], *near[verb + 1..].iter().take(NEAR + 1).find(is_link).filter(|_| !is_counted)?])
    };
    let reached = || {
        // "cannot get" is also said of what is never there.
        let tried =
            |word: &&str| REACHING.contains(word) && (words[at] != "cannot" || !matches!(*word, "get" | "open"));
        let verb = near.iter().take(2).position(tried)?;
        Some([near[verb], *near[verb + 1..].iter().take(NEAR).find(|word| is_thing(word))?])
    };
    // `could not get the member list from the cluster`.
    let from = || {
        near.iter().take(2).find(|word| ASKING.contains(word))?;
        let from = near.iter().position(|word| *word == "from")?;
        Some(["from", *near[from + 1..].iter().take(2).find(|word| SERVERS.contains(word))?])
    };
    // `could not resolve server host`: a name that the network did not answer for.
    let resolved = || {
        const HOSTS: &[&str] = &["host", "hostname", "hosts", "dns"];
        pair(&near[..near.len().min(NEAR)], &["resolve", "resolving"], HOSTS, 3)
    };
    moved().or_else(reached).or_else(from).or_else(resolved)
}

#[cfg(test)]
#[path = "conditions/conditions_tests.rs"]
mod tests;
