//! The symptoms that a message names: codes, and the words that say what went wrong.
//!
//! A frame says where an error was thrown, and its type says by what. Clients, drivers and validators throw one type at
//! one place for everything that they were answered, so only the message tells a deadlock from a missing value. Its
//! other words are no help there: most of them are data, or say again where it happened. So a message is reduced to a
//! set of words from a fixed list, of codes, and of names in which such words are joined (`ResourceNotFoundException`).
//!
//! The list is a part of the fingerprint: a word more or less needs a new `FINGERPRINT_VERSION`.

use crate::read::template::{self, MASK, Template};
use crate::text::head;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// The part of a template that is read, bytes. What follows it are details of one occurrence.
const TEMPLATE_BYTES_MAX: usize = 400;
/// The longest code, bytes: `AADSTS50034`, `0x80070005`.
const CODE_BYTES_MAX: usize = 12;
/// The longest word of the list, bytes. A longer one is not looked up.
const WORD_BYTES_MAX: usize = 24;

/// The words that say what went wrong, sorted by their bytes, in the singular.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "abgelaufen", "abgelehnt", "abort", "aborted", "absent", "accept", "acceptable", "accepted", "access", "acquire",
    "acquired", "active", "add", "agotado", "alive", "allocate", "allowed", "already", "ambiguous", "assign",
    "attempt", "aucun", "aucune", "audience", "authenticate", "authenticated", "authentication", "authorization",
    "authorized", "available", "backpressure", "bad", "bereit", "bind", "binding", "blank", "blocked", "bloqueado",
    "broken", "busy", "caducada", "caducado", "cancel", "canceled", "capacity", "cast", "certificate", "changed",
    "checksum", "circuit", "close", "closed", "closing", "clusterdown", "coerce", "collision", "commit", "committed",
    "compatible", "complete", "completed", "compression", "concurrent", "conditional", "conflict", "conflicting",
    "connect", "connected", "connecting", "connection", "constraint", "contain", "contract", "convert", "corrupt",
    "corrupted", "corruption", "create", "created", "credential", "credit", "cutoff", "cvc", "cyclic", "dead",
    "deadlock", "declined", "decode", "decoded", "decoding", "decompress", "decrypt", "delete", "deleted",
    "delimiter", "denegada", "denegado", "denied", "deprecated", "desconocido", "deserialize", "destroyed",
    "detached", "detected", "device", "different", "directory", "disabled", "discarded", "disconnect",
    "disconnected", "disk", "division", "dns", "doppelt", "down", "downgrade", "download", "draining", "dropped",
    "duplicate", "duplicated", "déjà", "délai", "eacce", "eaddrinuse", "eaddrnotavail", "eagain", "eai", "early",
    "ebusy", "econnaborted", "econnrefused", "econnreset", "eexist", "ehostunreach", "eisdir", "emfile", "empty",
    "enabled", "encode", "encoding", "encontrada", "encontrado", "encrypt", "encrypted", "encryption", "end",
    "enetunreach", "enfile", "enobuf", "enoent", "enomem", "enospc", "enotdir", "enotempty", "enotfound", "enough",
    "eof", "eperm", "epipe", "eproto", "erforderlich", "erof", "escape", "etimedout", "evicted", "exceed",
    "exceeded", "exceeding", "execabort", "exhausted", "exist", "existe", "existiert", "existing", "expect",
    "expected", "expecting", "expirado", "expire", "expired", "expiré", "expirée", "extra", "failover", "falta",
    "fehlt", "finished", "flush", "forbidden", "foreign", "format", "found", "fraud", "fraudulent", "full",
    "gefunden", "gesperrt", "gone", "greater", "handshake", "hangup", "hash", "header", "heap", "heartbeat", "held",
    "honor", "hung", "idle", "illegal", "immutable", "inactive", "incompatible", "incomplete", "inconnu", "inconnue",
    "inconsistent", "incorrect", "ineligible", "initialized", "insert", "insufficient", "integrity", "interrupted",
    "introuvable", "invalid", "invalide", "invoke", "inválida", "inválido", "issuer", "kein", "keine", "key", "kill",
    "killed", "large", "late", "leader", "lease", "length", "less", "license", "limit", "limited", "loading", "lock",
    "locked", "login", "long", "lost", "low", "maintenance", "malformed", "mancante", "mandatory", "manquant",
    "many", "masterdown", "match", "matching", "memory", "merge", "metaspace", "misconf", "mismatch", "missing",
    "moved", "multiple", "nak", "nan", "native", "negative", "negato", "network", "never", "nil", "no", "noauth",
    "non", "none", "nonexistent", "noscript", "not", "null", "não", "obsolete", "offline", "only", "oom", "open",
    "optimistic", "orphan", "orphaned", "outdated", "overflow", "overhead", "overlap", "overloaded", "parse",
    "parsing", "partial", "pas", "password", "pending", "permission", "permitted", "pipe", "policy", "pool",
    "precondition", "process", "processed", "processing", "prohibited", "protocol", "publish", "quarantined",
    "quota", "range", "rate", "reachable", "read", "readable", "readonly", "ready", "rebalance", "receive",
    "received", "rechazada", "rechazado", "recusado", "redirect", "redirected", "refresh", "refused", "refusé",
    "refusée", "register", "registered", "reject", "rejected", "rejection", "released", "removed", "replica",
    "replication", "required", "reserved", "reset", "resolve", "resolved", "response", "restricted", "retry",
    "retryable", "revoked", "rifiutato", "rollback", "rolled", "root", "route", "scaduta", "scaduto", "schema",
    "sconosciuto", "scope", "secret", "send", "sent", "serialization", "serialize", "session", "short", "shut",
    "shutdown", "signature", "signed", "size", "skewed", "slow", "small", "space", "stale", "started", "starting",
    "startup", "starvation", "stopped", "stuck", "subscription", "succeed", "suspended", "suspicious", "syntax",
    "taken", "temporarily", "temporary", "terminated", "throttle", "throttled", "throttling", "timed", "timeout",
    "token", "too", "transaction", "transition", "trovata", "trovato", "truncated", "trust", "trusted", "tryagain",
    "unable", "unacceptable", "unauthenticated", "unauthorized", "unavailability", "unavailable", "unbekannt",
    "unbound", "unclosed", "undefined", "undeliverable", "unexpected", "unexpectedly", "ungültig", "ungültige",
    "unhandled", "unhealthy", "unimplemented", "unique", "unknown", "unmapped", "unprocessable", "unreachable",
    "unreadable", "unrecognized", "unregistered", "unresolved", "unset", "unsigned", "unsupported", "unterminated",
    "untrusted", "update", "updated", "upgrade", "upload", "upstream", "used", "username", "valid", "validation",
    "verification", "verified", "verify", "verrouillé", "version", "verweigert", "violate", "violated", "violation",
    "wait", "waiting", "without", "writable", "write", "wrong", "wrongpass", "wrongtype", "ya", "zeitüberschreitung",
    "zero", "überschritten",
];

/// Returns the symptoms that a message names, sorted, with blanks between them. Empty if it names none.
pub fn symptoms(template: &Template) -> String {
    let mut found = BTreeSet::new();
    let normal = head(&template.normal[..template.normal_end], TEMPLATE_BYTES_MAX);
    for token in normal.split_whitespace() {
        if let Some(name) = without_namespace(token) {
            name.split(is_separator).for_each(|part| add(part, &mut found));
        }
    }
    found.into_iter().collect::<Vec<_>>().join(" ")
}

fn is_separator(c: char) -> bool {
    matches!(c, '=' | '(' | ')' | ',' | ';' | ':' | '"' | '`' | '[' | ']' | '{' | '}' | '<' | '>' | '|')
}

/// Returns a token without the namespace before its last name. `None` if it is a path, an address or a dotted name of
/// something else than a class: their words are names.
fn without_namespace(token: &str) -> Option<&str> {
    if token.contains(['/', '\\', '@']) {
        return None;
    }
    let token = token.trim_end_matches('.');
    match token.rsplit_once('.') {
        Some((_, class)) if class.starts_with(|c: char| c.is_ascii_uppercase()) => Some(class),
        Some((before, after))
            if before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric) =>
        {
            None
        }
        _ => Some(token),
    }
}

fn add<'a>(part: &'a str, found: &mut BTreeSet<Cow<'a, str>>) {
    if is_code(part) {
        found.insert(part.into());
    } else if !part.contains(MASK) {
        found.extend(words(part).filter_map(symptom));
    }
}

/// Whether a part of a template is a code. The template has masked every other number.
fn is_code(part: &str) -> bool {
    let is_number = |text: &str| (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    part.len() <= CODE_BYTES_MAX
        && part.bytes().any(|b| b.is_ascii_digit())
        && (is_number(part.trim_start_matches('-'))
            || part.starts_with("0x")
            || part.starts_with(|c: char| c.is_ascii_uppercase()) && template::is_code_name(part)
            || part.len() == 5 && part.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()))
}

/// Splits a name into its words: `NotFoundError`, `NOT_FOUND`, `not-found`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’');
    name.split(is_mark).flat_map(humps)
}

/// Splits a word before each capital that a small letter is beside: `HTTPTimeout` is `HTTP` and `Timeout`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    core::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        let mut before = chars.next()?.1;
        while let Some((at, c)) = chars.next() {
            let is_start = before.is_lowercase() || chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            if c.is_uppercase() && is_start {
                let (first, others) = rest.split_at(at);
                rest = others;
                return Some(first);
            }
            before = c;
        }
        Some(core::mem::take(&mut rest))
    })
}

/// Returns the word of the list that a word is a form of.
fn symptom<'a>(word: &str) -> Option<Cow<'a, str>> {
    let word = word.trim_matches(['\'', '’']);
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let word = word.to_lowercase();
    // `can't` and `cannot` say the same.
    if word == "cannot" || word.ends_with("n't") || word.ends_with("n’t") {
        return Some("not".into());
    }
    let word = match word.as_str() {
        "cancelled" => "canceled".into(),
        "authorised" => "authorized".into(),
        "unauthorised" => "unauthorized".into(),
        "unrecognised" => "unrecognized".into(),
        other => template::singular(other),
    };
    WORDS.binary_search(&&*word).ok().map(|at| WORDS[at].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(message: &str) -> String {
        symptoms(&template::from_message(message, "E"))
    }

    #[test]
    fn the_list_is_sorted_and_in_the_singular() {
        assert!(WORDS.is_sorted_by(|a, b| a < b));
        for word in WORDS {
            assert_eq!(template::singular(word), *word);
            assert_eq!(word.to_lowercase(), *word);
            assert!(word.len() <= WORD_BYTES_MAX, "{word}");
        }
    }

    #[test]
    fn codes_states_and_joined_names_are_symptoms_and_data_is_none() {
        for (message, symptoms) in [
            ("Request failed with status code 404", "404"),
            ("ERROR: deadlock detected\n  Detail: Process 7 waits for ShareLock", "deadlock detected"),
            ("ERROR: null value in column \"total\" violates not-null constraint", "constraint not null violate"),
            ("UNAVAILABLE: io exception", "unavailable"),
            ("NOT_FOUND: order 7 of Müller & Söhne", "found not"),
            ("An error occurred (ThrottlingException) when calling the PutItem operation", "throttling"),
            ("java.net.ConnectException: Connection refused", "connect connection refused"),
            ("ORA-00060: deadlock detected while waiting for resource", "ORA-00060 deadlock detected waiting"),
            ("Name can't be blank", "blank not"),
            ("Email has already been taken", "already taken"),
            ("HTTPTimeout", "timeout"),
            ("der Auftrag wurde bereits storniert", "bereit"),
            ("read /srv/locked/denied.txt for anna@refused.example", "read"),
            ("order 4711 of Zoë Brandt", ""),
            ("", ""),
        ] {
            assert_eq!(found(message), symptoms, "{message}");
        }
    }

    #[test]
    fn order_repetition_and_number_do_not_count() {
        assert_eq!(found("locks denied, denied lock"), found("lock is denied"));
        assert_eq!(found("the token doesn't exist"), found("the tokens don't exist"));
    }
}
