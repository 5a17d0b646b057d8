//! Words about the network and about throttling, which neither a type nor a status explains better.

use super::{SENTENCE_PCT, by_wording, conditions, finding, grammar};
use crate::reading::{Category, Class, Classification};
use alloc::format;

/// Words about the network, which no type and no status 400 explains better.
#[rustfmt::skip]
pub const NETWORK: &[&str] = &[
    "timed out", "connection refused", "connection reset", "connection aborted", "broken pipe", "network request failed",
    "networkerror when", "failed to fetch", "fetch failed", "socket hang up", "name resolution", "temporarily unavailable",
    "service unavailable", "bad gateway", "gateway timeout", "gateway time-out", "connection pool shut down", "econnrefused",
    "econnreset", "etimedout", "epipe", "eai_again", "server closed the connection", "remote end closed",
    "no route to host", "try again later", "try again soon", "try again in ", "currently responding", "load failed", "network error",
];

/// Words about throttling.
#[rustfmt::skip]
const THROTTLED: &[&str] = &[
    "rate limit", "rate-limit", "ratelimit", "throttled", "throttling", "too many requests", "request limit reached",
    "rate exceeded", "requests per minute", "requests per second",
    "slow down", "slow_down", "too quickly",
];

/// Whether a text in lower case has one of these words.
pub fn holds(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| lower.contains(word))
}

/// Whether a message speaks of a rule for a value rather than of what happened: `rate limit must be positive`.
pub fn states_rule(lower: &str) -> bool {
    lower.contains(" must ") || lower.starts_with("invalid ") || lower.contains(" is required")
}

/// Returns the class of a message that speaks of throttling or of the network.
pub fn transient_words(lower: &str) -> Option<Classification> {
    let find = |words: &[&'static str]| words.iter().find(|word| lower.contains(**word)).copied();
    let finding = |category, word: &str| finding(Class::Transient, category, 75, format!("wording: \"{word}\""));
    find(THROTTLED)
        .map(|word| finding(Category::Throttled, word))
        .or_else(|| find(NETWORK).map(|word| finding(Category::DependencyUnavailable, word)))
}

/// A status that says only that the request was refused does not outrank words about throttling, the network or a lock.
pub fn after_status(found: Classification, status: u16, lower: &str) -> Classification {
    let bare = matches!(status, 400 | 403 | 422) && found.class == Class::Permanent && !states_rule(lower);
    // A lock that somebody else holds is as passing.
    let held =
        || by_wording(lower).filter(|said| said.class == Class::Transient && said.category == Category::Conflict);
    let of_lock = || held().or_else(|| grammar::somebody_else(lower)).filter(|_| !is_about_rules(lower));
    bare.then(|| transient_words(lower).or_else(of_lock)).flatten().unwrap_or(found)
}

/// The same for a type that is named after a status, if the message says that a rate was exceeded: words alone may be
/// about a setting or a right.
pub fn after_type(found: Classification, lower: &str) -> Classification {
    const MET: &[&str] = &["exceeded", "reached", "hit ", "too many"];
    let is_open = found.class == Class::Permanent && !states_rule(lower) && !is_about_rules(lower);
    let rate = || THROTTLED.iter().find(|word| lower.contains(**word)).filter(|_| holds(lower, MET));
    match is_open.then(rate).flatten() {
        Some(word) => finding(Class::Transient, Category::Throttled, 75, format!("wording: \"{word}\"")),
        None => found,
    }
}

/// Whether a message speaks of what is configured or allowed rather than of what happened.
fn is_about_rules(lower: &str) -> bool {
    #[rustfmt::skip]
    const RULES: &[&str] = &[
        "may not ", "not allowed", "permission", "not authorized", "unknown", "invalid", "cannot be", "can't be", "does not exist", "not configured",
        "not supported", "has no ", "have no ", "your plan", "must ", "is required",
    ];
    holds(lower, RULES)
}

/// A refused connection, and the reason that a broker gives for it (MQTT: "Connection refused: Not authorized").
pub fn refused(lower: &str) -> Option<Classification> {
    const REFUSED: &str = "connection refused: ";
    let reason = &lower[lower.find(REFUSED)? + REFUSED.len()..];
    let stated = Some(reason).filter(|reason| !withholds(reason));
    let found = stated.and_then(by_wording).or_else(|| conditions::find(stated?)).or_else(|| grammar::find(stated?));
    // What a broker rejects is what the client sent (MQTT 3.1.1, table 3.1: "identifier rejected").
    let rejected = || {
        let word = ["rejected", "unacceptable"].into_iter().find(|word| reason.contains(word))?;
        Some(finding(Class::Permanent, Category::Configuration, 65, format!("wording: \"{word}\"")))
    };
    let refused = || finding(Class::Transient, Category::DependencyUnavailable, 65, "wording: \"connection refused\"");
    Some(found.or_else(rejected).unwrap_or_else(refused))
}

/// Why somebody declined, if it was for a moment: `payment declined: issuer unavailable`.
pub fn why_declined(found: &Classification, lower: &str) -> Option<Classification> {
    if found.class != Class::Permanent || found.category != Category::BusinessRule {
        return None;
    }
    let (_, reason) = lower.split_once("declined: ").or_else(|| lower.split_once("refused: "))?;
    const OF_BANKS: &[&str] =
        &["issuer", "bank", "processor", "acquirer", "network", "gateway", "timed out", "timeout", "did not respond"];
    let said = by_wording(reason).filter(|said| said.class == Class::Transient);
    said.filter(|_| holds(reason, OF_BANKS) && !holds(reason, &["another", "different"]))
}

/// What the issuer of a card says of itself rather than of the card, whatever the type (ISO 8583: 91, 96).
pub fn of_issuer(found: &Classification, lower: &str) -> Option<Classification> {
    #[rustfmt::skip]
    const SAID: [&str; 8] = [
        "issuer unavailable", "issuer not available", "issuer is not available", "issuer_not_available", "issuer or switch",
        "issuer is unavailable", "system malfunction", "issuer timed out",
    ];
    if found.class != Class::Permanent || found.category != Category::BusinessRule {
        return None;
    }
    let said = SAID.iter().find(|said| lower.contains(**said))?;
    Some(finding(Class::Transient, Category::DependencyUnavailable, SENTENCE_PCT, format!("wording: \"{said}\"")))
}

/// Whether a text says that there is nothing to say: `no further information` (Java on Windows).
fn withholds(reason: &str) -> bool {
    const NOTHING: [&str; 6] = ["information", "info", "details", "detail", "reason", "explanation"];
    let words = conditions::words(reason);
    words.first() == Some(&"no") && words.iter().take(3).any(|word| NOTHING.contains(word))
}

/// The reason of a failed call that a match of Elixir has no clause for: `no match of right hand side value: {:error,
/// :timeout}`. The missing clause is a mistake of the program, but the call failed for a reason that passes.
pub fn unmatched_reason(name: &str, lower: &str) -> Option<Classification> {
    const TYPES: [&str; 3] = ["MatchError", "CaseClauseError", "WithClauseError"];
    const TIMEOUTS: [&str; 3] = ["timeout", "connect_timeout", "etimedout"];
    const LINKS: [&str; 5] = ["econnrefused", "econnreset", "ehostunreach", "enetunreach", "closed"];
    let lower = TYPES.contains(&name).then_some(lower)?;
    let (_, reason) = lower.split_once("{:error, :")?;
    let reason = reason.strip_suffix('}')?;
    let category = match reason {
        _ if TIMEOUTS.contains(&reason) => Category::Timeout,
        _ if LINKS.contains(&reason) => Category::DependencyUnavailable,
        _ => return None,
    };
    Some(finding(Class::Transient, category, 80, format!("matched: unmatched reason :{reason}")))
}

/// A handshake that timed out, as a clause of its own at the end: `net/http: TLS handshake timeout`. What is said of the
/// length of a timeout goes on, or begins before.
pub fn handshake_timeout(lower: &str) -> Option<Classification> {
    let said = lower.trim_end_matches(['.', '!']);
    let step = [" timeout", " timed out"].iter().find_map(|end| said.strip_suffix(end))?;
    let before = step.strip_suffix("handshake")?.trim_end();
    let before = ["tls", "ssl"].iter().find_map(|layer| before.strip_suffix(layer)).unwrap_or(before).trim_end();
    (before.is_empty() || before.ends_with(':'))
        .then(|| finding(Class::Transient, Category::Timeout, 80, "wording: \"handshake timeout\""))
}
