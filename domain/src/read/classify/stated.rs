//! What an error states of itself in so many words: whether it may be retried, and that a rate was too high.

use super::{SENTENCE_PCT, finding};
use crate::reading::{Category, Class, Classification};
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

/// Signs between the name of a member and its value.
const BETWEEN: [char; 6] = ['"', '\'', ' ', ':', '=', '>'];

/// Returns what the message says of itself. `lower` is the message in lower case.
pub fn find(lower: &str) -> Option<Classification> {
    flag(lower).or_else(|| rate(lower))
}

/// `"retryable":true`, `permanent=false`: a member of an error object or of its text.
fn flag(lower: &str) -> Option<Classification> {
    // Most messages have none of the values.
    if !(lower.contains("true") || lower.contains("false")) {
        return None;
    }
    let mut found: Option<(Class, String)> = None;
    for (at, sign) in lower.match_indices([':', '=']) {
        let value = lower[at + sign.len()..].trim_start_matches(BETWEEN);
        let word = &value[..value.find(|c: char| !c.is_alphanumeric()).unwrap_or(value.len())];
        let is_true = word == "true";
        if !is_true && word != "false" {
            continue;
        }
        let before = lower[..at].trim_end_matches(BETWEEN);
        let from = before.floor_char_boundary(before.len().saturating_sub(NAME_BYTES_MAX));
        let name = before[from..].rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next()?;
        let plain = name.replace(['_', '-'], "");
        let plain = plain.strip_prefix("is").unwrap_or(&plain);
        let Some((_, class)) = FLAGS.iter().find(|(known, _)| *known == plain) else { continue };
        let class = match (class, is_true) {
            (class, true) => *class,
            (Class::Transient, false) => Class::Permanent,
            _ => Class::Transient,
        };
        // Two errors of a list may differ.
        if found.as_ref().is_some_and(|(other, _)| *other != class) {
            return None;
        }
        found = Some((class, format!("the error says \"{name}\": {is_true}")));
    }
    let (class, reason) = found?;
    Some(finding(class, Category::Unknown, SENTENCE_PCT, reason))
}

/// `Too many envelope updates in the last 30 seconds`, `exceeded 10 calls within the past minute`.
fn rate(lower: &str) -> Option<Classification> {
    const PERIODS: [&str; 5] =
        [" in the last ", " in the past ", " within the last ", " within the past ", " during the last "];
    const UNITS: [&str; 3] = ["second", "minute", "hour"];
    let too_many = ["too many ", "exceeded ", "limit "].iter().find_map(|said| lower.find(said))?;
    let after = &lower[too_many..];
    let (_, period) = PERIODS.iter().find_map(|period| after.split_once(period))?;
    let is_time = period.split(' ').take(2).any(|word| UNITS.iter().any(|unit| word.starts_with(unit)));
    if !is_time {
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
            ("boom (is_retryable=false)", Some(Class::Permanent)),
            ("{'permanent': false, 'name': 'absent subscriber'}", Some(Class::Transient)),
            ("{\"nonRetryable\":true}", Some(Class::Permanent)),
            ("retryable: true; retryable: false", None),
            ("field retryable must be true", None),
            ("temporary address: trueman street", Some(Class::Unknown)),
            ("permanent: yes", None),
            ("too many envelope updates in the last 30 seconds.", Some(Class::Transient)),
            ("too many letters in the last name", None),
            ("limit of 10 calls exceeded within the past minute", Some(Class::Transient)),
        ] {
            let lower = message.to_lowercase();
            let expected = class.filter(|class| *class != Class::Unknown);
            assert_eq!(find(&lower).map(|found| found.class), expected, "{message}");
        }
    }
}
