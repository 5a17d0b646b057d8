//! Queries of URLs: read by name, and printed without empty values.

use domain::filter::LetterFilter;
use domain::time::Timestamp;
use std::fmt;
use std::str::FromStr;

pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(k, v)| (decode(k), decode(v))).collect(),
        )
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| !value.is_empty()).map(str::to_string)
    }

    pub(super) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    pub(super) fn word<T: Copy>(&self, name: &str, all: &[T], as_str: impl Fn(T) -> &'static str) -> Option<T> {
        let value = self.get(name)?;
        all.iter().copied().find(|item| as_str(*item) == value)
    }
}

/// Returns the value of a parameter in a query (with or without its question mark). Returns `None` if it is absent or
/// empty.
pub fn value(query: &str, name: &str) -> Option<String> {
    Query::parse(query).text(name)
}

#[derive(Default)]
pub(super) struct Printed(pub(super) String);

impl Printed {
    pub(super) fn put(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(if self.0.is_empty() { '?' } else { '&' });
            self.0.push_str(&format!("{name}={}", encode(value)));
        }
    }

    pub(super) fn put_number<T: fmt::Display>(&mut self, name: &str, number: Option<T>) {
        self.put(name, &number.map(|number| number.to_string()).unwrap_or_default());
    }

    pub(super) fn put_filter(&mut self, filter: &LetterFilter) {
        self.put("type", filter.message_type.as_deref().unwrap_or_default());
        self.put("tenant", filter.tenant.as_deref().unwrap_or_default());
        self.put_number("from", filter.died_from.map(Timestamp::as_ms));
        self.put_number("before", filter.died_before.map(Timestamp::as_ms));
        self.put_number("replays", filter.replays_max);
    }

    pub(super) fn put_unless<T: PartialEq>(
        &mut self,
        name: &str,
        value: T,
        default: T,
        as_str: impl Fn(T) -> &'static str,
    ) {
        if value != default {
            self.put(name, as_str(value));
        }
    }
}

/// Percent-encodes text for a path segment or a query value.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(super) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match (bytes[at], hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
