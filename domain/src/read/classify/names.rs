//! What the words of a name say: `ConnectionAcquireTimeoutError`, `LabelTooLong`, `ERR_STREAM_DESTROYED`.
//!
//! A compound names its kind at its end: a `ParseTimeout` is a timeout, a `TimeoutParseError` is a mistake in a
//! timeout. So the words are read from the last one, and the first that says something decides.

use super::{finding, quoted};
use crate::reading::{Category, Class, Classification};
use Category::{
    Auth, BusinessRule, Configuration, Conflict, ConsumerBug, DependencyUnavailable, Duplicate, Expired,
    MalformedPayload, MissingReference, ResourceLimit, SchemaViolation, Throttled,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The confidence in what the words of a name say, percent: the weakest sign of a type.
const NAME_PCT: u8 = 60;

/// The confidence in the name of a library's part, percent: less than that of a sentence's form.
const PART_PCT: u8 = 40;

/// The words of a name that are looked at, from its end.
const WORDS_MAX: usize = 8;

/// Words that say nothing about the kind of an error.
const EMPTY: &[&str] = &["error", "errors", "exception", "err", "failure", "failed", "fault", "result", "problem"];

type Meaning = (Class, Category, &'static [&'static str]);
const T: Class = Class::Transient;
const P: Class = Class::Permanent;

/// Two words that mean something together, without a blank.
#[rustfmt::skip]
const PAIRS: &[Meaning] = &[
    (T, DependencyUnavailable, &[
        "notready", "notconnected", "notavailable", "notleader", "notprimary", "notmaster", "notrunning", "notreachable", "notresponding", "noconnection", "nohost", "noleader", "nobroker", "nobrokers", "noquorum", "nonode", "nonodes", "hostdown",
        "shuttingdown", "startingup", "brokerdown", "serverdown", "unexpectedeof", "unexpectedclose", "channelclosed", "streamclosed", "socketclosed", "connectionclosed", "poolclosed",
    ]),
    (T, Category::Timeout, &["timedout", "timeout", "tookto", "deadlineexceeded"]),
    (T, Throttled, &["ratelimit", "ratelimited", "toofast", "slowdown", "backpressure", "manyrequests", "manyconnections"]),
    (T, Conflict, &["optimisticlock", "lockheld", "lockfailed", "inprogress", "inuse", "locktaken", "lockacquisition"]),
    (T, ResourceLimit, &["queuefull", "bufferfull", "poolfull", "poolexhausted", "nocapacity", "bufferoverflow", "queueoverflow", "insufficientresources", "insufficientthroughput", "insufficientreplicas", "insufficientstorage", "insufficientcapacity"]),
    (P, MissingReference, &["notfound", "nosuch", "notexist", "doesntexist", "notexists", "noentity", "norecord", "norows", "nomatch", "nomatching", "noanswer"]),
    (P, Duplicate, &["alreadyexists", "alreadyexist", "notunique", "nonunique", "alreadyregistered", "alreadydefined"]),
    (P, ResourceLimit, &["toolarge", "toobig", "sizeexceeded", "lengthexceeded"]),
    (P, SchemaViolation, &[
        "toolong", "toosmall", "tooshort", "toodeep", "notvalid", "notnull", "notempty", "typemismatch", "outofrange", "ofrange", "ofbounds", "toomany", "toofew", "foreignkey", "uniqueconstraint", "notanumber",
    ]),
    (P, Configuration, &["notsupported", "notimplemented", "notconfigured", "notenabled", "notinstalled", "notregistered", "noprovider"]),
    (P, ConsumerBug, &["notallowed", "notpermitted", "badmethod", "nomethod", "zerodivision", "divisionby", "stackoverflow"]),
    (P, Auth, &["accessdenied", "notauthorized", "notauthenticated", "nopermission"]),
];

/// Single words.
#[rustfmt::skip]
const WORDS: &[Meaning] = &[
    (T, Category::Timeout, &["timeout", "timeouts"]),
    (T, DependencyUnavailable, &[
        "unavailable", "unreachable", "connection", "connect", "connectivity", "disconnect", "disconnected", "disconnection", "network", "socket", "transport", "retry", "retryable", "retriable", "transient", "temporary", "circuit", "breaker",
        "shutdown",   "lost", "loss", "down",  "refused", "heartbeat", "election", "failover", "rebalance", "unhealthy", "offline",  "hangup", "bootstrapping", "recovering", "interrupted",  "dns",
    ]),
    (T, Throttled, &["throttle", "throttled", "throttling", "overload", "overloaded", "busy", "backpressure", "congestion", "backoff"]),
    (T, Conflict, &["deadlock", "contention", "concurrency", "concurrent", "optimistic", "stale", "staleness", "lease", "livelock", "lock", "locked"]),
    (T, ResourceLimit, &["exhausted", "saturated", "full", "capacity"]),
    (P, MalformedPayload, &[
        "parse", "parser", "parsing", "syntax", "malformed", "corrupt", "corrupted", "truncated", "decode", "decoder", "decoding", "encode", "encoder", "encoding", "deserialization", "deserialize", "serialization", "serializer", "marshal",
        "marshalling", "unmarshal", "format", "formatting", "scanner", "lexer", "unidentified", "unicode", "utf", "checksum", "decompression", "unparsable", "unparseable", "conversion", "convert", "converter", "cast", "coercion", "normalizable",
        "encodable", "decodable", "digest",
    ]),
    (P, SchemaViolation, &[
        "invalid", "validation", "validator", "schema", "constraint", "violation", "mismatch", "missing", "required", "unexpected", "unknown", "bad", "wrong", "illegal", "range", "overflow", "underflow", "value", "type", "argument", "arguments",
        "parameter", "parameters", "empty", "null", "nil", "bounds", "precision", "incompatible", "inconsistent", "ambiguous", "conversion", "unresolvable", "unresolved", "unbound", "unspecified", "restricted", "disallowed", "enum", "currency",
         "incomplete", "unprocessable", "rejected", "insufficient", "verification", "ineligible", "declined", "unmet",     "oversized", "negative", "nan",
    ]),
    (P, Auth, &[
        "auth", "authentication", "authorization", "authenticate", "unauthenticated", "unauthorized", "unauthorised", "forbidden", "permission", "permissions", "denied", "credential", "credentials", "signature", "csrf", "privilege", "privileges",
        "oauth", "jwt", "login", "password", "untrusted", "certificate",
    ]),
    (P, MissingReference, &["nonexistent", "missing", "gone",  "deleted", "unregistered", "orphaned"]),
    (P, Duplicate, &["duplicate", "duplicated", "exists", "uniqueness", "redefinition", "redeclaration"]),
    (P, Configuration, &[
        "config", "configuration", "setup", "setting", "settings", "unsupported", "deprecated", "unimplemented", "import",   "mapping",   "definition", "declaration",   
        "compile", "compilation", "compiler",  "incompatibility", "undeclared", "disabled",  "removed", "misconfigured", "redirect", "redirects",  "injection",
    ]),
    (P, ConsumerBug, &[
        "assertion", "assert", "panic", "usage", "misuse", "undefined", "recursion", "cycle", "circular", "immutable", "frozen", "readonly", "abstract", "reflection", "subscript", "operand", "programming", "logic", "instantiation", 
          "grammar", "render", "rendering",
    ]),
    (P, Expired, &["expired", "expiration", "outdated"]),
];

/// Words that mean "not yet" when they follow "not": it may still happen.
#[rustfmt::skip]
const UNDONE: &[&str] = &[
    "delivered", "sent", "acknowledged", "acked", "processed", "completed", "finished", "started", "open", "opened", "alive", "active", "acquired", "settled", "written", "synced", "confirmed", "done",
    "routed", "published", "yet", "received", "enough", "available", "established", "online", "loaded", "initialized",
];

/// What is refused for a moment.
const CONNECTING: &[&str] = &["connection", "connections", "connect", "stream", "socket", "server", "host", "network"];

/// Returns the words of a name in lower case: `HTTPServerError` is `http`, `server`, `error`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| core::mem::take(&mut word)));
            continue;
        }
        let before_lower = at.checked_sub(1).is_some_and(|at| chars[at].is_lowercase() || chars[at].is_numeric());
        let starts = before_lower || chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && starts && !word.is_empty() {
            words.push(core::mem::take(&mut word));
        }
        word.extend(c.to_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn lookup(table: &'static [Meaning], word: &str) -> Option<(Class, Category)> {
    table.iter().find(|(.., words)| words.contains(&word)).map(|(class, category, _)| (*class, *category))
}

/// Whether a word of a type's name is a format of files.
pub fn names_file_format(word: &str) -> bool {
    ["pdf", "zip", "gzip", "zlib", "zstd", "lzma", "tar", "archive", "image", "png", "jpeg", "avro", "parquet"]
        .contains(&word)
}

/// What a part of a library is called: its errors are mostly mistakes, but the sentence says it better.
const PARTS: &[&str] =
    &["query", "operation", "template", "mapper", "plugin", "metadata", "grammar", "expression", "state"];

/// Returns what the name of a part of a library says.
pub fn of_part(error_type: &str) -> Option<Classification> {
    let words = words(last(error_type));
    let part = words.iter().rfind(|word| !EMPTY.contains(&word.as_str()))?;
    let said = format!("the error is of a \"{part}\"");
    PARTS.contains(&part.as_str()).then(|| finding(P, ConsumerBug, PART_PCT, said))
}

/// Returns the last name of a type's path.
pub fn last(error_type: &str) -> &str {
    error_type.rsplit(['.', '$', ':', '\\', '/', '#']).next().unwrap_or(error_type)
}

/// Returns what the last name of a type's path says.
pub fn find(error_type: &str) -> Option<Classification> {
    let words = words(last(error_type));
    let mut words = words.iter().map(String::as_str).filter(|word| !EMPTY.contains(word)).collect::<Vec<_>>();
    words.drain(..words.len().saturating_sub(WORDS_MAX));
    let say = |(class, category), said: &str| Some(finding(class, category, NAME_PCT, quoted::error_type(said)));
    for at in (0..words.len()).rev() {
        // `IllegalStateError` is used for errors of every kind.
        if words[at] == "state" && at + 1 == words.len() {
            return None;
        }
        if let Some(before) = at.checked_sub(1).map(|at| words[at]) {
            let pair = format!("{before}{}", words[at]);
            if let Some(found) = lookup(PAIRS, &pair) {
                return say(found, &pair);
            }
        }
        // `OrderMinimumNotMet`, `NotSingular`: what is not so by its nature. What is not done may be done later.
        if let Some(what) = words
            .get(at + 1)
            .filter(|what| words[at] == "not" && !UNDONE.contains(what) && !words.contains(&"connection"))
        {
            return say((P, SchemaViolation), &format!("not {what}"));
        }
        // A connection is refused for a moment, a request or a payment is refused for a reason.
        if words[at] == "refused" && words.len() > 1 && !words.iter().any(|word| CONNECTING.contains(word)) {
            return say((P, BusinessRule), "refused");
        }
        // `NotLocked`: what is denied is no moment.
        let is_denied = at > 0 && words[at - 1] == "not" && !UNDONE.contains(&words[at]);
        if let Some((Class::Transient, _)) = lookup(WORDS, words[at]).filter(|_| is_denied) {
            return say((P, ConsumerBug), &format!("not {}", words[at]));
        }
        if let Some(found) = lookup(PAIRS, words[at]).or_else(|| lookup(WORDS, words[at])) {
            return say(found, words[at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_capitals_and_separators() {
        assert_eq!(words("HTTPServerError"), ["http", "server", "error"]);
        assert_eq!(words("ERR_STREAM_DESTROYED"), ["err", "stream", "destroyed"]);
        assert_eq!(words("noSuchObject"), ["no", "such", "object"]);
        assert_eq!(words("Utf8Error"), ["utf8", "error"]);
    }

    #[test]
    fn the_last_word_decides() {
        let class = |name| find(name).map(|found| found.class);
        for name in ["ParseTimeout", "ConnectionAcquireTimeoutError", "shop.CarrierUnavailable", "NotLeaderError"] {
            assert_eq!(class(name), Some(T), "{name}");
        }
        for name in ["TimeoutParseError", "LabelTooLong", "ConnectionConfigurationError", "com.shop.OrderNotFoundError"]
        {
            assert_eq!(class(name), Some(P), "{name}");
        }
        for name in ["", "Error", "ShopException", "OrderFailure"] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
