//! The order of evidence: what a sentence or a code says stands above the type, and the type above a bare status.
//!
//! Types such as `TypeError` and statuses such as 400 are used for errors of every kind. So words about the network or
//! about throttling overrule them, and "too large" overrules a status that otherwise means "too many". Some errors have
//! two readings, on which public sources disagree: their reason says both, and the confidence is low.

use super::network::{NETWORK, holds, states_rule, transient_words};
use super::{CLAIM_PCT, WORD_PCT, advice, codes, conditions, finding, grammar, names, network, parts, unfinished};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::string::String;

/// Words that say that one message is too large, whatever status it comes with.
#[rustfmt::skip]
const TOO_LARGE: &[&str] = &[
    "too large", "larger than max", "exceeds maximum size", "exceeds the maximum size", "exceeds max", "context length",
    "maximum message size", "message size exceed",
];

/// Types whose languages use them for errors of every kind, and which the tables call permanent.
#[rustfmt::skip]
const OF_EVERY_KIND: &[&str] = &[
    "TypeError", "ValueError", "KeyError", "ArgumentError", "ArgumentException", "IllegalArgumentException",
    "IllegalStateException", "AssertionError", "LookupError", "InvalidOperationException", "InvalidDataAccessResourceUsageException",
];

/// Types of the network that libraries also raise for a wrong call.
const OF_NETWORK: &[&str] = &["ConnectionError", "TimeoutError", "Timeout", "TimeoutException", "ConnectionException"];

/// The words of types that applications borrow for whatever fails at a place: they say where, and not what.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "service", "services", "server", "connect", "connection", "socket", "transport", "network", "broker", "unavailable", "unreachable",
    "client", "remote", "dependency", "internal", "gateway", "host", "api",
];

/// Words of types and namespaces that belong to a driver or a vendor, and words that state a moment by themselves.
#[rustfmt::skip]
const OWNED: &[&str] = &[
    "awssdk", "amazonaws", "botocore", "redis", "mongo", "kafka.common", "psycopg", "jdbc", "mysql", "transient", "retr", "temporary", "timeout",
    "throttl", "toomany", "ratelimit",
];

/// Whether a sentence about a mistake is believed more than a type. A type that means a moment is borrowed by
/// applications: their `ServiceException` and `ConnectException` say no more than that something failed. A replay of
/// what fails for good is the worst mistake of all, so the sentence decides.
pub fn is_doubted(found: &Classification, error_type: &str) -> bool {
    let lower = error_type.to_ascii_lowercase();
    let borrowed = || {
        let words = names::words(names::last(error_type));
        let in_use = words.windows(2).any(|two| two == ["in", "use"]);
        in_use || words.iter().any(|word| PLACES.contains(&word.as_str()))
    };
    found.class == Class::Transient && !holds(&lower, OWNED) && borrowed()
}

fn last_name(error_type: &str) -> &str {
    error_type.rsplit(['.', ':', '\\', '$']).next().unwrap_or(error_type)
}

/// Whether a type is named after a status of HTTP that only says that a request was refused.
pub fn is_named_after_status(error_type: &str) -> bool {
    let name = last_name(error_type);
    let name = ["Exception", "Error"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    matches!(name, "BadRequest" | "Forbidden" | "UnprocessableEntity")
}

/// Evidence that stands above the type and above any status.
pub fn first(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let name = last_name(error_type);
    if let Some(found) = network::unmatched_reason(name, lower) {
        return Some(found);
    }
    if lower.contains("quota") && holds(lower, &["billing", "insufficient_quota", "out of credits"]) {
        let reason = "the wording names a paid quota: permanent until it is raised, transient if it renews by itself";
        return Some(finding(Class::Unknown, Category::ResourceLimit, 50, reason));
    }
    let throttles = || {
        holds(lower, &["429", "resource_exhausted", "resourceexhausted"])
            || name.contains("RateLimit")
            || name.contains("TooManyRequests")
            || name.contains("ResourceExhausted")
    };
    if throttles()
        && !lower.contains("circuit_breaking")
        && let Some(word) = TOO_LARGE.iter().find(|word| lower.contains(**word))
    {
        let reason = format!("the wording \"{word}\": retrying later does not help");
        return Some(finding(Class::Permanent, Category::ResourceLimit, 85, reason));
    }
    if OF_EVERY_KIND.contains(&name) && !states_rule(lower) {
        return of_every_kind(message, lower);
    }
    if OF_NETWORK.contains(&name) && !holds(lower, NETWORK) {
        let status = codes::http("", lower).filter(|found| found.class == Class::Permanent);
        return status.or_else(|| {
            let options = lower.contains("mutually exclusive") || lower.contains("conflicts with ");
            let others = holds(lower, &["transaction", "another", "update", "lock", "version"]);
            let rule = name.starts_with("Connection") && (states_rule(lower) || options && !others);
            rule.then(|| {
                finding(Class::Permanent, Category::Configuration, 65, "wording: a wrong setting of a connection")
            })
        });
    }
    None
}

/// Whom one side does not trust, it will not trust in a minute: a certificate or a password decides, whatever the client
/// calls the connection that broke because of it. Sources: OpenSSL, Go crypto/x509, Java PKIX, PostgreSQL, MySQL.
pub fn distrusted(found: Option<Classification>, lower: &str) -> Option<Classification> {
    const CERTIFICATES: [&str; 9] = [
        "certificate verify failed",
        "certificate_verify_failed",
        "x509: certificate",
        "certificate has expired",
        "pkix path",
        "self signed certificate",
        "self-signed certificate",
        "unable to get local issuer",
        "no appropriate protocol",
    ];
    const PASSWORDS: [&str; 2] = ["password authentication failed", "access denied for user"];
    if found.as_ref().is_some_and(|found| found.class != Class::Transient) {
        return found;
    }
    let named = |words: &[&'static str]| words.iter().copied().find(|words| lower.contains(words));
    let decided = named(&CERTIFICATES)
        .map(|words| (words, Category::Configuration))
        .or_else(|| Some((named(&PASSWORDS)?, Category::Auth)));
    decided.map(|(words, category)| finding(Class::Permanent, category, 85, format!("wording: \"{words}\""))).or(found)
}

/// A word about a moment that a rule speaks of: `concurrency limits must be created`, `unknown choice for
/// unreachable_behavior`. The rule decides, because the word may be a name. So does a type that only says that a program
/// called something in a wrong way.
pub fn ruled(found: Classification, error_type: &str, lower: &str) -> Classification {
    const OF_CALLS: [&str; 2] = ["BadMethodCallException", "LogicException"];
    let called = || {
        let name = last_name(error_type);
        let reason = format!("the error type says \"{name}\"");
        OF_CALLS.contains(&name).then(|| finding(Class::Permanent, Category::ConsumerBug, CLAIM_PCT, reason))
    };
    // Advice to correct something, and then to try again, is no advice to wait.
    let corrected = || found.reason.contains("\"try again\"").then(|| advice::corrects(lower)).flatten();
    // The stream inside a PDF or an archive has ended: the file is cut off. The words are those of `conditions::find`.
    if found.reason.ends_with("stream … ended\"")
        && names::words(last_name(error_type)).iter().any(|word| names::names_file_format(word))
    {
        let reason = format!("the error type says \"{}\"", last_name(error_type));
        return finding(Class::Permanent, Category::MalformedPayload, CLAIM_PCT, reason);
    }
    let is_word = found.class == Class::Transient && found.confidence.as_pct() <= WORD_PCT;
    is_word
        .then(|| grammar::ruled(lower).or_else(|| parts::missing(lower)).or_else(corrected).or_else(called))
        .flatten()
        .unwrap_or(found)
}

fn of_every_kind(message: &str, lower: &str) -> Option<Classification> {
    let named = codes::named(message).filter(|found| found.class == Class::Transient);
    named
        .or_else(|| transient_words(lower))
        .or_else(|| grammar::somebody_else(lower))
        .or_else(|| unfinished::find(lower))
        .or_else(|| conditions::down(lower))
}

/// Adds the second reading to an error on which public sources disagree.
pub fn contested(found: Classification, error_type: &str, message: &str) -> Classification {
    if found.class != Class::Permanent {
        return found;
    }
    let lower = message.to_lowercase();
    #[rustfmt::skip]
    const REFERENCES: &[&str] = &[
        "foreign key", "parent key not found", "fremdschlüssel", "clé étrangère", "llave foránea", "chiave esterna", "внешнего ключа",
        "外部キー", "外键", "참조키",
    ];
    // A row that others still refer to does not go away by waiting.
    const KEPT: [&str; 3] = ["parent row", "still referenced", "update or delete on table"];
    let of_reference = || holds(&lower, REFERENCES) || last_name(error_type).contains("ForeignKey");
    if !of_reference() || holds(&lower, &KEPT) {
        return found;
    }
    let confidence = found.confidence.min(crate::reading::Confidence::from_pct(CLAIM_PCT));
    let reason: String = found.reason + "; but transient if the record that it refers to arrives later";
    Classification { confidence, reason, ..found }
}
