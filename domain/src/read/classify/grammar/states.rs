//! What business code says of its data: `the coupon has been redeemed`, `insufficient account balance`, `age below 18`.
//!
//! People who write an error by hand name a thing and its state. What was done for good, what something lacks and what
//! it does not do is permanent. What a service did not do, or not yet, is a moment.

use super::words::PASSING;
use super::{Words, conditions, holds, said};
use crate::reading::{Category, Class, Classification};

/// What is done for good.
#[rustfmt::skip]
const FINAL: &[&str] = &[
    "redeemed", "frozen", "voided", "refunded", "archived", "discontinued", "retired", "decommissioned", "revoked", "taken", "sold", "spent", "expired", "withdrawn",
    "deactivated", "delisted", "reversed", "settled", "superseded", "merged", "anonymized", "anonymised", "erased", "finalized", "finalised", "declined", "blocked", "banned", "deceased", "sanctioned",
];

/// What ends and is taken again: a lock that is taken or a lease that expired is a moment.
#[rustfmt::skip]
const TAKEN_AGAIN: &[&str] =
    &["lock", "locks", "lease", "mutex", "semaphore", "slot", "slots", "thread", "threads", "connection", "connections", "io", "call", "reader", "writer", "timer", "port", "snapshot", "writes", "reads"];

/// What ends because nobody answered in time.
#[rustfmt::skip]
const TIMED: &[&str] = &[
    "timeout", "timeouts", "time", "timer", "deadline", "wait", "waiting", "ttl", "lease", "lock", "session", "heartbeat", "watch", "cursor", "cache", "transaction", "rpc", "ping",
    "handshake", "interval", "window", "request", "response", "retries", "poll", "scroll", "visibility", "call",
];

/// What there may be more of later.
#[rustfmt::skip]
const REFILLED: &[&str] = &[
    "storage", "resources", "resource", "memory", "capacity", "space", "disk", "replicas", "throughput", "workers", "threads", "bandwidth", "cpu", "quota", "nodes", "acks", "credit", "buffer",
    "brokers", "instances",
];

/// What a service does not do for a moment.
#[rustfmt::skip]
const ANSWERING: &[&str] = &[
    "respond", "reply", "answer", "react", "finish", "complete", "arrive", "come", "acknowledge", "ack", "start", "return", "terminate", "stop", "exit", "shut", "succeed", "work",
    "get", "receive", "recover", "appear", "connect", "reach",
];

/// What a server accepts.
#[rustfmt::skip]
const ACCEPTED: &[&str] = &[
    "connection", "connections", "request", "requests", "command", "commands", "write", "writes", "query", "queries", "traffic", "job", "jobs", "task", "tasks",
    "message", "messages", "work", "clients", "streams", "calls", "new", "more", "anymore",
];

/// What denies a sentence about the past only for a moment.
const ENDLESS: &[&str] = &["yet", "still"];

/// Comparisons of data.
#[rustfmt::skip]
const COMPARATIVES: &[&str] = &["newer", "older", "bigger", "higher", "lower", "earlier", "heavier", "later", "wider"];

/// What happens now: nobody answered, nobody has time, something is not done yet.
pub fn of_moment(words: Words<'_>) -> Option<Classification> {
    let transient = |category, words: &[&str]| said(Class::Transient, category, words);
    for (at, word) in words.iter().copied().enumerate() {
        let rest = &words[at + 1..];
        let one = rest.first().copied().unwrap_or_default();
        let two = rest.get(1).copied().unwrap_or_default();
        let before = at.checked_sub(1).map(|at| words[at]).unwrap_or_default();
        let shown: &[&str] = if one.is_empty() { &[word] } else { &[word, one] };
        let category = match word {
            "did" | "does"
                if one == "not" && matches!(two, "respond" | "reply" | "answer" | "react" | "acknowledge") =>
            {
                Some(Category::DependencyUnavailable)
            }
            "didn't" | "doesn't" if matches!(one, "respond" | "reply" | "answer" | "react" | "acknowledge") => {
                Some(Category::DependencyUnavailable)
            }
            "did" if one == "not" && ANSWERING.contains(&two) && holds(rest, &["within", "after", "time"]) => {
                Some(Category::Timeout)
            }
            "not" | "isn't" | "aren't" | "stopped"
                if matches!(one, "answering" | "responding" | "replying" | "reacting" | "finished") =>
            {
                Some(Category::DependencyUnavailable)
            }
            // A server accepts again; a survey that is closed does not.
            "not" | "isn't" | "aren't" | "stopped"
                if one == "accepting" && (two.is_empty() || holds(rest, ACCEPTED)) =>
            {
                Some(Category::DependencyUnavailable)
            }
            "took" | "takes" if matches!(one, "longer" | "more" | "over") => Some(Category::Timeout),
            "in" if one == "progress" && matches!(before, "already" | "still" | "is" | "currently") => {
                Some(Category::Conflict)
            }
            // `the row changed while we were writing it`
            "changed" | "modified" | "updated" if matches!(one, "while" | "meanwhile" | "underneath") => {
                Some(Category::Conflict)
            }
            "someone" | "somebody" if one == "else" => Some(Category::Conflict),
            "exceeded" | "exceeds" if is_duration(one, two) => Some(Category::Timeout),
            "giving" | "gave" if one == "up" => Some(Category::DependencyUnavailable),
            "too" if one == "slow" => Some(Category::Timeout),
            "is" | "was" | "are" | "were" | "went" | "goes" | "currently"
                if matches!(one, "down" | "offline" | "degraded") =>
            {
                Some(Category::DependencyUnavailable)
            }
            "yet"
                if !before.is_empty()
                    && !holds(
                        words,
                        &["supported", "support", "implemented", "implement", "exist", "available", "allowed"],
                    ) =>
            {
                Some(Category::DependencyUnavailable)
            }
            "resets" | "renews" | "replenishes" if holds(words, &["at", "in", "on", "after"]) => {
                Some(Category::Throttled)
            }
            _ => None,
        };
        if let Some(category) = category {
            return transient(category, shown);
        }
    }
    None
}

/// What data is, has and allows.
pub fn of_data(words: Words<'_>) -> Option<Classification> {
    if holds(words, PASSING) || holds(words, ENDLESS) {
        return None;
    }
    for (at, word) in words.iter().copied().enumerate() {
        let rest = &words[at + 1..];
        let one = rest.first().copied().unwrap_or_default();
        let two = rest.get(1).copied().unwrap_or_default();
        let before = at.checked_sub(1).map(|at| words[at]).unwrap_or_default();
        let category = match word {
            "is" | "was" | "are" | "were" | "been" if FINAL.contains(&one) && !holds(words, TAKEN_AGAIN) => {
                Some(Category::BusinessRule)
            }
            // `payment method expired`: what was valid for a time; a wait or a lease ends, and begins again.
            "expired" if is_right(&words[..at]) && !holds(words, TIMED) => Some(Category::Expired),
            "rejected" | "refused" if one == "by" || matches!(before, "was" | "were" | "been" | "is") => {
                Some(Category::BusinessRule)
            }
            "insufficient" if !rest.iter().take(2).any(|word| REFILLED.contains(word)) => Some(Category::BusinessRule),
            "no" if matches!(before, "has" | "have" | "had" | "contains") && !lacks_for_now(one) => {
                Some(Category::SchemaViolation)
            }
            "does" | "do" if one == "not" && !two.is_empty() && !ANSWERING.contains(&two) => {
                Some(Category::BusinessRule)
            }
            "doesn't" | "don't" if !one.is_empty() && !ANSWERING.contains(&one) => Some(Category::BusinessRule),
            "maximum" | "minimum" | "max" | "min" if one == "of" => Some(Category::SchemaViolation),
            "line" | "row" | "column" | "record" if one.parse::<u32>().is_ok() => Some(Category::MalformedPayload),
            "below" | "above" | "beneath" if !one.is_empty() => Some(Category::SchemaViolation),
            _ if one == "than" && COMPARATIVES.contains(&word) => Some(Category::SchemaViolation),
            _ => None,
        };
        if let Some(category) = category {
            let shown: &[&str] = if one.is_empty() { &[word] } else { &[word, one] };
            return said(Class::Permanent, category, shown);
        }
    }
    None
}

/// Whether the words before "expired" name what expired.
fn is_right(before: Words<'_>) -> bool {
    let named = before.iter().rfind(|word| !matches!(**word, "has" | "have" | "had" | "is" | "already" | "been"));
    named.is_some_and(|word| word.len() > 3 && !TAKEN_AGAIN.contains(word))
}

/// Whether one or two words are a time that something took: `900000ms`, `30 seconds`.
fn is_duration(one: &str, two: &str) -> bool {
    const UNITS: [&str; 7] = ["ms", "s", "sec", "seconds", "minutes", "milliseconds", "min"];
    let unit = one.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < one.len() && UNITS.contains(if unit.is_empty() { &two } else { &unit })
}

/// Whether what something has not is a thing that comes back.
fn lacks_for_now(word: &str) -> bool {
    #[rustfmt::skip]
    const COMING: &[&str] = &[
        "response", "reply", "answer", "heartbeat", "heartbeats", "route", "space", "memory", "quorum", "capacity", "credit", "credits", "time", "leader", "free", "active", "available", "more",
        "running", "healthy", "live", "alive", "idle", "room", "replicas", "endpoints", "longer",
    ];
    conditions::is_thing(word) || COMING.contains(&word)
}
