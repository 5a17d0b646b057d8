//! Alerts without a word of a letter: their summaries are made of fixed words, names in code, counts, money and times.
//! Mails are not encrypted, and events are forwarded; a group's title has words of an error message.

use crate::names::json_name;
use domain::group::Variant;
use domain::reading::{Category, Class};
use domain::replay::PauseReason;
use domain::report::Report;

/// The longest name in code that a summary shows, bytes.
const NAME_BYTES_MAX: usize = 64;
/// The most digits in a message type: a version has them, and a customer's number has more.
const DIGITS_MAX: usize = 2;
/// How much of a group's id a summary shows, bytes: enough to tell groups apart.
const ID_BYTES: usize = 8;

/// Returns a summary of an alert about a group: what happened, its class and category, the type of its error, its message
/// type, and the beginning of its id.
pub(crate) fn about_group(what: &str, group: &Variant) -> String {
    let known = [
        Some(group.classification.class).filter(|class| *class != Class::Unknown).map(|class| json_name(&class)),
        Some(group.classification.category).filter(|it| *it != Category::Unknown).map(|it| json_name(&it)),
    ];
    let mut codes: Vec<String> = known.into_iter().flatten().map(|name| name.replace('_', " ")).collect();
    if codes.is_empty() {
        codes.push("unclassified".into());
    }
    codes.extend(group.failure.error_type.as_deref().and_then(error_type).map(String::from));
    codes.extend(group.message_type.clone().filter(|name| is_message_type(name)));
    let id = group.id.as_str();
    codes.push(format!("group {}", id.get(..ID_BYTES).unwrap_or(id)));
    format!("{what} ({})", codes.join(", "))
}

/// Returns a summary of an alert about a deployment that cannot start.
pub(crate) fn about_start(report: &Report) -> String {
    let found = report.error.as_ref().and_then(|error| error.error_type.as_deref()).and_then(error_type);
    let found = found.map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{} cannot start{found}", report.function_name())
}

/// Returns why a replay is paused, without what a letter, a version or an endpoint says.
pub(crate) fn pause_reason(why: &PauseReason, in_words: &str) -> String {
    match why {
        PauseReason::GateClosed { .. } => "the gate is closed".into(),
        PauseReason::QueueUnavailable { .. } => "the main queue cannot take letters".into(),
        PauseReason::ByPerson { .. } => "a person paused it".into(),
        PauseReason::TooManyReturned { .. }
        | PauseReason::BacklogNotDrained { .. }
        | PauseReason::QueueNeverEmpty { .. } => in_words.into(),
    }
}

/// Returns the type's last name, if it has the form of a type: `KeyError`, `S3Exception`, `RequestTimeout`. A word that a
/// sentence can have is none.
fn error_type(path: &str) -> Option<&str> {
    let name = path.rsplit(['.', ':', '\\', '/', '$']).next().unwrap_or(path);
    let has_form = ["Error", "Exception", "Fault"].iter().any(|end| name.ends_with(end)) || has_hump(name);
    (is_code(name, "_") && has_form).then_some(name)
}

/// Whether a small letter is followed by a capital one somewhere. A name with a digit may be a person's or a record's.
fn has_hump(name: &str) -> bool {
    let hump = name.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    hump && !name.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_message_type(name: &str) -> bool {
    is_code(name, "_.-:") && name.bytes().filter(u8::is_ascii_digit).count() <= DIGITS_MAX
}

/// Whether a text is one word of ASCII letters, digits and these characters, and begins with a letter.
fn is_code(name: &str, others: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_code_are_shown() {
        for (path, shown) in [
            ("java.net.SocketTimeoutException", Some("SocketTimeoutException")),
            ("orders::StorageError", Some("StorageError")),
            ("software.amazon.awssdk.S3Exception", Some("S3Exception")),
            ("Sandbox.Timedout", None),
            ("RequestTimeout", Some("RequestTimeout")),
            ("mueller", None),
            ("Mueller", None),
            ("patient4711Tom", None),
            ("no account for customer MuellerError", None),
            ("evil.example/login", None),
            ("M\u{fc}llerError", None),
            ("", None),
        ] {
            assert_eq!(error_type(path), shown, "{path}");
        }
        for (name, is_shown) in [
            ("order.placed", true),
            ("com.acme.OrderPlaced:v2", true),
            ("order-4711", false),
            ("patient diagnosed with diabetes", false),
            ("evil.example/login", false),
            ("mueller@acme.example", false),
            ("4711", false),
            ("", false),
        ] {
            assert_eq!(is_message_type(name), is_shown, "{name}");
        }
        assert!(!is_message_type(&"a".repeat(NAME_BYTES_MAX + 1)));
    }
}
