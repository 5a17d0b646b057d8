//! Alerts without a letter's sentences: their summaries are made of fixed words, the name of the error's type, names of the
//! policy, counts, money and times. Mails are not encrypted, and events are forwarded; a group's title has words of an error
//! message.

use crate::names::json_name;
use domain::group::Variant;
use domain::policy::Policy;
use domain::reading::{Category, Class};
use domain::replay::PauseReason;
use domain::report::Report;

/// The longest name in code that a summary shows, bytes.
const NAME_BYTES_MAX: usize = 64;
/// The most digits in the name of an error's type: `S3Exception` has one, and a customer's number has more.
const DIGITS_MAX: usize = 2;
/// How the name of an error's type ends. A letter may claim any type, and a name without such an end may be a person's.
const ENDS: [&str; 15] = [
    "Error",
    "Exception",
    "Fault",
    "Failure",
    "Timeout",
    "TimedOut",
    "Refused",
    "Denied",
    "Rejected",
    "NotFound",
    "Unavailable",
    "Exceeded",
    "Throttled",
    "Conflict",
    "Expired",
];
/// How much of a group's id a summary shows, bytes: enough to tell groups apart.
const ID_BYTES: usize = 8;

/// Returns a summary of an alert about a group: what happened, its class and category, the type of its error, its message
/// type if the policy names it, and the beginning of its id.
pub(crate) fn about_group(what: &str, group: &Variant, policy: &Policy) -> String {
    let known = [
        Some(group.classification.class).filter(|class| *class != Class::Unknown).map(|class| json_name(&class)),
        Some(group.classification.category).filter(|it| *it != Category::Unknown).map(|it| json_name(&it)),
    ];
    let mut codes: Vec<String> = known.into_iter().flatten().map(|name| name.replace('_', " ")).collect();
    if codes.is_empty() {
        codes.push("unclassified".into());
    }
    codes.extend(group.failure.error_type.as_deref().and_then(error_type).map(String::from));
    codes.extend(group.message_type.clone().filter(|name| policy.names_message_type(name)));
    let id = group.id.as_str();
    codes.push(format!("group {}", id.get(..ID_BYTES).unwrap_or(id)));
    format!("{what} ({})", codes.join(", "))
}

/// Returns a summary of an alert about a deployment that cannot start.
pub(crate) fn about_start(report: &Report) -> String {
    let found = report.error.as_ref().and_then(|error| error.error_type.as_deref()).and_then(error_type);
    let found = found.map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{} cannot start{found}", function(report.function_name()))
}

/// Returns the function's name, if Lambda allows it: who sends a report chooses it.
fn function(name: &str) -> &str {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.len() <= NAME_BYTES_MAX && name.chars().all(is_allowed) { name } else { "a function" }
}

/// Returns why a replay is paused, without what a letter, a version or an endpoint says.
pub(crate) fn pause_reason(why: &PauseReason, in_words: &str) -> String {
    match why {
        PauseReason::GateClosed { .. } => "the gate is closed".into(),
        PauseReason::QueueUnavailable { .. } => "the main queue cannot take letters".into(),
        PauseReason::ByPerson { .. } => "a person paused it".into(),
        PauseReason::TooManyReturned { .. }
        | PauseReason::UnprovenReturn { .. }
        | PauseReason::BacklogNotDrained { .. }
        | PauseReason::QueueNeverEmpty { .. } => in_words.into(),
    }
}

/// Returns the type's last name, if it has the form of a type: `KeyError`, `S3Exception`, `RequestTimeout`.
fn error_type(path: &str) -> Option<&str> {
    let name = path.rsplit(['.', ':', '\\', '/', '$']).next().unwrap_or(path);
    (is_code(name) && ENDS.iter().any(|end| name.ends_with(end))).then_some(name)
}

/// Whether a text is one word of ASCII letters with few digits, and begins with a letter.
fn is_code(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && name.bytes().filter(u8::is_ascii_digit).count() <= DIGITS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_error_types_are_shown() {
        for (path, shown) in [
            ("java.net.SocketTimeoutException", Some("SocketTimeoutException")),
            ("orders::StorageError", Some("StorageError")),
            ("software.amazon.awssdk.S3Exception", Some("S3Exception")),
            ("Sandbox.Timedout", None),
            ("RequestTimeout", Some("RequestTimeout")),
            ("mueller", None),
            ("Mueller", None),
            ("patient4711Tom", None),
            ("AnnaMuellerPregnant", None),
            ("Customer4711NotFound", None),
            ("Call_0049_to_fix_LoginError", None),
            ("evil-login.example.com", None),
            ("no account for customer MuellerError", None),
            ("evil.example/login", None),
            ("M\u{fc}llerError", None),
            ("", None),
            (&"a".repeat(NAME_BYTES_MAX), None),
            (&format!("{}Error", "a".repeat(NAME_BYTES_MAX)), None),
        ] {
            assert_eq!(error_type(path), shown, "{path}");
        }
    }

    #[test]
    fn only_a_name_that_lambda_allows_is_shown() {
        assert_eq!(function("orders-prod_2"), "orders-prod_2");
        for name in ["evil.example/login", "two words", "line\nline", "M\u{fc}ller", &"a".repeat(NAME_BYTES_MAX + 1)] {
            assert_eq!(function(name), "a function", "{name}");
        }
    }
}
