//! What programs write around a message: the prefix of a log line, the ids of a broker, the values of a statement.

use crate::text::{find_rare, head};
use alloc::borrow::Cow;
use alloc::string::String;

/// Returns a message without what Kubernetes' log library writes before it: `E1103 10:15:30.123456       1 a.go:138] `.
pub fn without_log_prefix(text: &str) -> &str {
    const PREFIX_BYTES_MAX: usize = 120;
    let is_prefix = || {
        let after = text.strip_prefix(['I', 'W', 'E', 'F'])?;
        let clock = after
            .get(4..)
            .filter(|_| after.bytes().take_while(u8::is_ascii_digit).count() == 4)?
            .strip_prefix(' ')?
            .as_bytes();
        let is_clock =
            clock.len() > 8 && clock[2] == b':' && clock[5] == b':' && clock[..2].iter().all(u8::is_ascii_digit);
        let (place, message) = head(text, PREFIX_BYTES_MAX).split_once("] ")?;
        let is_place = place.rsplit(' ').next()?.contains(".go:");
        (is_clock && is_place && !message.is_empty()).then(|| text[place.len() + 2..].trim_start())
    };
    is_prefix().unwrap_or(text)
}

/// Returns a message without the ids that Azure's brokers write at its end.
pub fn without_tracking(text: &str) -> &str {
    const MARKS: [&str; 2] = ["TrackingId:", "Reference:"];
    // It is far cheaper to look for one letter.
    let is_tracked = text.match_indices('T').any(|(at, _)| text[at..].starts_with(MARKS[0]));
    if !is_tracked || !(text.contains("SystemTracker:") || text.contains("Timestamp:")) {
        return text;
    }
    let at = MARKS.iter().filter_map(|mark| text.find(mark)).min().filter(|at| *at > 0);
    at.map_or(text, |at| text[..at].trim_end_matches([' ', ',', '.', '(', '\n']))
}

/// Returns a message with marks in the place of the values that Laravel writes into its statements without quotation marks:
/// `(Connection: mysql, SQL: insert into `users` (`name`) values (Anna Schmidt, 12))`.
pub fn without_bindings(text: &str) -> Cow<'_, str> {
    const VALUES: &str = " values (";
    // The names of columns have quotation marks, so what follows a value is known.
    const ENDS: [&str; 10] =
        [", `", ", \"", " where ", " and ", " or ", " order by ", " group by ", " limit ", " for update", ")"];
    let begin = find_rare(text, "(Connection: ").and_then(|at| Some(at + text[at..].find("SQL: ")?));
    let Some(begin) = begin else { return Cow::Borrowed(text) };
    let (before, statement) = text.split_at(begin);
    let mut out = String::from(before);
    let mut rest = statement;
    while let Some(at) = rest.find(" = ") {
        let value = &rest[at + " = ".len()..];
        let end = ENDS.iter().filter_map(|end| value.find(end)).min().unwrap_or(value.len());
        out.push_str(&rest[..at + " = ".len()]);
        out.push('?');
        rest = &value[end..];
    }
    match rest.find(VALUES) {
        Some(at) => {
            out.push_str(&rest[..at + VALUES.len()]);
            out.push_str("?))");
        }
        None => out.push_str(rest),
    }
    Cow::Owned(out)
}
