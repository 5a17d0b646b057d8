//! Links from letters to other systems.

use crate::limits::LINK_CHARS_MAX;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Patterns of links to other systems. None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LinkPolicy {
    /// The page of a trace: an `https` URL with `{trace_id}` once, behind the host. A letter's page links its `AWSTraceHeader`
    /// there, with the id in its `Root`. At most 500 characters.
    pub trace: Option<String>,
}

const TRACE_ID: &str = "{trace_id}";

impl LinkPolicy {
    /// Returns the link to the trace that a trace header names. `None` without a pattern, or if the header names no trace.
    ///
    /// ```
    /// use domain::policy::LinkPolicy;
    ///
    /// let links = LinkPolicy { trace: Some("https://traces.example/t/{trace_id}".into()) };
    /// let header = "Root=1-5759e988-bd862e3f;Parent=53995c3f42cd8ad8;Sampled=1";
    /// assert_eq!(links.trace_of(header).as_deref(), Some("https://traces.example/t/1-5759e988-bd862e3f"));
    /// assert_eq!(links.trace_of("Sampled=1"), None);
    /// ```
    pub fn trace_of(&self, header: &str) -> Option<String> {
        let pattern = self.trace.as_deref().filter(|pattern| why_not_a_pattern(pattern).is_none())?;
        let id = header.split(';').find_map(|part| part.trim().strip_prefix("Root="))?.trim();
        (!id.is_empty()).then(|| pattern.replacen(TRACE_ID, &encoded(id), 1))
    }
}

/// Returns what is wrong with the pattern of a link, or `None`. Pages show links to everybody, so a pattern leads to one host,
/// with TLS, whatever a letter says.
pub(super) fn why_not_a_pattern(pattern: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '<' | '>' | '\\' | '`');
    let Some(rest) = pattern.strip_prefix("https://") else { return Some("it must begin with https://") };
    if pattern.len() > LINK_CHARS_MAX {
        return Some("it must have at most 500 characters");
    }
    if !pattern.chars().all(is_plain) {
        return Some("it must be a URL of ASCII characters without spaces, quotes or backslashes");
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_of_hosts = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    if host.is_empty() || !host.chars().all(is_of_hosts) {
        return Some("it must name a host, without a user");
    }
    (pattern.matches(TRACE_ID).count() != 1).then_some("it must contain {trace_id} once")
}

/// Percent-encodes everything but letters, digits and `-._~`, so that an id stays one part of a path or a query.
fn encoded(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use alloc::string::ToString;

    #[test]
    fn a_pattern_leads_to_one_host_with_tls() {
        let long = format!("https://a.example/{{trace_id}}{}", "x".repeat(LINK_CHARS_MAX));
        for (pattern, is_ok) in [
            ("https://a.example/{trace_id}", true),
            ("https://a.example:8443/x?id={trace_id}#t", true),
            ("https://eu-central-1.console.aws.amazon.com/cloudwatch/home#xray:traces/{trace_id}", true),
            ("http://a.example/{trace_id}", false),
            ("javascript:alert('{trace_id}')", false),
            ("//a.example/{trace_id}", false),
            ("https://{trace_id}.example/", false),
            ("https://{trace_id}", false),
            ("https:///{trace_id}", false),
            ("https://anna@a.example/{trace_id}", false),
            ("https://a.example/{trace_id}/{trace_id}", false),
            ("https://a.example/", false),
            ("https://a.example/ {trace_id}", false),
            ("https://a.example/\"{trace_id}", false),
            (&long, false),
        ] {
            let policy = serde_json::json!({ "links": { "trace": pattern } }).to_string();
            let parsed = Policy::parse(&policy);
            assert_eq!(parsed.is_ok(), is_ok, "{pattern}");
            if let Err(error) = parsed {
                let error = error.to_string();
                assert!(error.starts_with("links.trace is not a valid link pattern: it must"), "{error}");
            }
        }
    }

    #[test]
    fn whatever_a_letter_says_stays_in_its_place() {
        let links = LinkPolicy { trace: Some("https://a.example/t/{trace_id}?x".into()) };
        for (header, expected) in [
            ("Root=1-5759e988-bd862e3f", Some("https://a.example/t/1-5759e988-bd862e3f?x")),
            ("Parent=5399; Root=1-2-3 ;Sampled=1", Some("https://a.example/t/1-2-3?x")),
            ("Root=../../x?y=#z", Some("https://a.example/t/..%2F..%2Fx%3Fy%3D%23z?x")),
            ("Root={trace_id}", Some("https://a.example/t/%7Btrace_id%7D?x")),
            ("Root=é", Some("https://a.example/t/%C3%A9?x")),
            ("Root=", None),
            ("1-2-3", None),
            ("", None),
        ] {
            assert_eq!(links.trace_of(header).as_deref(), expected, "{header}");
        }
        assert_eq!(LinkPolicy::default().trace_of("Root=1-2-3"), None);
    }
}
