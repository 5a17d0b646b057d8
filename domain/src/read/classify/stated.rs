//! What an error states of itself in so many words: whether it may be retried, and that a rate was too high.

use super::{SENTENCE_PCT, WORD_PCT, finding};
use crate::reading::{Category, Class, Classification};
use crate::text;
use alloc::format;
use alloc::string::String;

/// Names of members that say whether a retry helps, without `is` and separators, and what `true` means.
#[rustfmt::skip]
const FLAGS: [(&str, Class); 9] = [
    ("retryable", Class::Transient), ("retriable", Class::Transient), ("transient", Class::Transient), ("temporary", Class::Transient),
    ("shouldretry", Class::Transient), ("canretry", Class::Transient), ("nonretryable", Class::Permanent),
    ("nonretriable", Class::Permanent), ("permanent", Class::Permanent),
];

/// The longest name of such a member, bytes: `"is_non_retryable"`.
const NAME_BYTES_MAX: usize = 20;

/// How far a value may be from its sign, with the value, bytes.
const VALUE_BYTES_MAX: usize = 16;

/// Signs between the name of a member and its value.
const BETWEEN: [char; 6] = ['"', '\'', ' ', ':', '=', '>'];

/// Returns a finding, or what the message says of itself if the finding is weak: data may contain the same words.
pub fn decides(found: Option<Classification>, lower: &str) -> Option<Classification> {
    let is_firm = |found: &Classification| found.class != Class::Unknown && found.confidence.as_pct() > WORD_PCT;
    match found {
        Some(found) if is_firm(&found) => Some(found),
        found => find(lower).or(found),
    }
}

/// Returns what the message says of itself. `lower` is the message in lower case.
fn find(lower: &str) -> Option<Classification> {
    flag(lower).or_else(|| rate(lower))
}

/// `"retryable":true`, `"permanent": false`: a member of an object.
fn flag(lower: &str) -> Option<Classification> {
    let mut found: Option<(Class, String)> = None;
    let signs = lower.bytes().enumerate().filter(|(_, byte)| matches!(byte, b':' | b'='));
    for (at, _) in signs {
        let value = text::head(&lower[at + 1..], VALUE_BYTES_MAX).trim_start_matches(BETWEEN);
        let word = ["true", "false"].iter().find(|word| value.starts_with(**word));
        let Some(word) = word.filter(|word| !value[word.len()..].starts_with(char::is_alphanumeric)) else { continue };
        let is_true = *word == "true";
        // What has no quotation marks may be a sentence, or the fields of a thing.
        let Some(before) = lower[..at].strip_suffix(['"', '\'']) else { continue };
        let from = before.floor_char_boundary(before.len().saturating_sub(NAME_BYTES_MAX));
        let name = before[from..].rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next()?;
        let plain = name.replace(['_', '-'], "");
        let plain = plain.strip_prefix("is").unwrap_or(&plain);
        let Some((known, class)) = FLAGS.iter().find(|(known, _)| *known == plain) else { continue };
        let class = match (class, is_true) {
            (class, true) => *class,
            (Class::Transient, false) => Class::Permanent,
            _ => Class::Transient,
        };
        // Two errors of a list may differ.
        if found.as_ref().is_some_and(|(other, _)| *other != class) {
            return None;
        }
        found = Some((class, format!("the error says \"{known}\": {is_true}")));
    }
    let (class, reason) = found?;
    Some(finding(class, Category::Unknown, SENTENCE_PCT, reason))
}

/// `Too many envelope updates in the last 30 seconds`, `exceeded 10 calls within the past minute`.
fn rate(lower: &str) -> Option<Classification> {
    const UNITS: [&str; 3] = ["second", "minute", "hour"];
    const MARK: &str = " the ";
    let is_time = |period: &str| period.split(' ').take(2).any(|word| UNITS.iter().any(|unit| word.starts_with(unit)));
    let is_period = |(at, _): &(usize, &str)| {
        let after = &lower[at + MARK.len()..];
        let period = after.strip_prefix("last ").or_else(|| after.strip_prefix("past "));
        let is_within = ["in", "within", "during"].iter().any(|word| lower[..*at].ends_with(word));
        is_within && period.is_some_and(is_time)
    };
    let (at, _) = lower.match_indices(MARK).find(is_period)?;
    let is_too_many = ["too many ", "exceeded ", "limit "].iter().any(|said| lower[..at + 1].contains(said));
    if !is_too_many {
        return None;
    }
    Some(finding(Class::Transient, Category::Throttled, SENTENCE_PCT, String::from("wording: \"in the last …\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whether_it_may_be_retried() {
        for (message, class) in [
            ("{\"message\":\"no\",\"retryable\":true}", Some(Class::Transient)),
            ("boom {\"is_retryable\": false}", Some(Class::Permanent)),
            ("Employment(name=A, temporary=true, salary=-5) is invalid", None),
            ("Key (note)=(can_retry: true) already exists", None),
            ("{'permanent': false, 'name': 'absent subscriber'}", Some(Class::Transient)),
            ("{\"nonRetryable\":true}", Some(Class::Permanent)),
            ("retryable: true; retryable: false", None),
            ("field retryable must be true", None),
            ("temporary address: trueman street", None),
            ("permanent: yes", None),
            ("too many envelope updates in the last 30 seconds.", Some(Class::Transient)),
            ("too many letters in the last name", None),
            ("limit of 10 calls exceeded within the past minute", Some(Class::Transient)),
        ] {
            assert_eq!(find(&message.to_lowercase()).map(|found| found.class), class, "{message}");
        }
    }
}
