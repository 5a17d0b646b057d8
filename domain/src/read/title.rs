//! The title of a cause: the words of the error, the root cause first, one line.
//!
//! A title has no word that the error lacks. It leaves out what follows the cause (details, statements, help) and what
//! is said twice, and shortens namespaces.

mod marks;
mod values;

pub(crate) use values::values;

use super::Case;
use super::frames::Cause;
use super::template::{MASK, Template};
use crate::text::head;
use alloc::format;
use alloc::string::{String, ToString};
use marks::closed;

/// The longest title, bytes: one line on the screen.
const TITLE_BYTES_MAX: usize = 240;

/// The most masks in a title. A text with more says little after the third.
const STARS_MAX: usize = 3;

/// The title of letters without error details.
const NO_ERROR: &str = "No error recorded";

/// Between an error and the one that it led to.
pub(crate) const LED_TO: &str = " ← ";

/// Returns the title of a case whose message has this template, and whose root cause has that one.
pub fn title(case: Case<'_>, error_type: &str, template: &Template, root: Option<&Template>) -> String {
    if case.failure.is_empty() {
        let what = case.payload_problem.unwrap_or(NO_ERROR);
        return bounded(case.message_type.map_or_else(|| what.to_string(), |kind| format!("{what}: {kind}")));
    }
    let kind = short_type(error_type);
    let shown = &template.shown[..template.shown_end];
    let message = case.failure.message.as_deref().unwrap_or_default();
    let is_cut = template.shown_end < template.shown.len();
    let title = match template.beneath {
        Some((outer, inner)) if inner < shown.len() && outer <= inner => {
            let beneath = closed(shown[inner..].trim_start(), message, is_cut).into_owned();
            led_to(beneath, with_type(kind, &closed(shown[..outer].trim_start(), message, false)))
        }
        _ => with_type(kind, &closed(shown.trim_start(), message, is_cut)),
    };
    let root = case.stack.causes.last().zip(root).map(|(cause, template)| of_cause(cause, template));
    let root = root.filter(|root| !root.is_empty() && !title.starts_with(root.as_str()));
    let title = match root {
        Some(root) => led_to(root, title),
        None => title,
    };
    bounded(if title.is_empty() { NO_ERROR.to_string() } else { title })
}

fn led_to(root: String, title: String) -> String {
    if title.is_empty() { root } else { [&root, LED_TO, &title].concat() }
}

fn of_cause(cause: &Cause, template: &Template) -> String {
    let is_cut = template.shown_end < template.shown.len();
    let shown = template.shown[..template.shown_end].trim_start();
    with_type(short_type(&cause.error_type), &closed(shown, &cause.message, is_cut))
}

/// Joins type and message, without saying the type twice.
fn with_type(kind: &str, message: &str) -> String {
    let mut rest = message;
    if !kind.is_empty() {
        let name = kind.rsplit(['.', ':']).next().unwrap_or(kind);
        while let Some(after) = [kind, name].iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            let Some(after) = after.strip_prefix(':').or(after.is_empty().then_some(after)) else { break };
            rest = after.trim_start();
        }
    }
    match (kind.is_empty(), rest.is_empty()) {
        (_, true) => kind.to_string(),
        (true, false) => rest.to_string(),
        (false, false) => [kind, ": ", rest].concat(),
    }
}

/// Returns a type without its namespace. A name that says nothing alone keeps the name before it: `reqwest::Error`.
pub fn short_type(error_type: &str) -> &str {
    const ALONE: [&str; 6] = ["Error", "Exception", "ErrorKind", "Fault", "Failure", "OpError"];
    const LANGUAGES: [&str; 4] = ["lang", "System", "builtins", "core"];
    // `** (Shop.Error)` of Elixir, `ProduceException`2[...]` of .NET.
    let path = error_type.strip_prefix("** (").map_or(error_type, |name| name.trim_end_matches(')'));
    // Hadoop names the type on the server: `RemoteException(org.apache.hadoop.ipc.StandbyException)`.
    let inner = path.strip_suffix(')').and_then(|path| path.split_once('(')).filter(|(outer, _)| !outer.is_empty());
    let path = inner.map_or(path, |(_, inner)| inner);
    let path = path.trim_start_matches(['*', '&', '\\']);
    let path = &path[..path.find(['`', '<', '[']).filter(|at| *at > 0).unwrap_or(path.len())];
    let separators = ['.', '\\', ':'];
    let at = path.rfind(separators).map_or(0, |at| at + 1);
    if at == 0 || !ALONE.contains(&&path[at..]) {
        return &path[at..];
    }
    let before = path[..at].trim_end_matches(separators);
    let from = before.rfind(separators).map_or(0, |at| at + 1);
    if LANGUAGES.contains(&&before[from..]) { &path[at..] } else { &path[from..] }
}

/// Cuts a title before its fourth mask and at its longest length, between two words.
fn bounded(title: String) -> String {
    let fourth = title.char_indices().filter(|(_, c)| *c == MASK).nth(STARS_MAX).map(|(at, _)| at);
    let end = fourth.unwrap_or(title.len()).min(TITLE_BYTES_MAX);
    let mut title = title;
    if end < title.len() {
        let kept = head(&title, end);
        // Within a text without blanks, a cut would leave a part of a word.
        let word = if title[kept.len()..].starts_with(' ') { kept.len() } else { kept.rfind(' ').unwrap_or(0) };
        title.truncate(title[..word].trim_end_matches([' ', ',', ';']).len());
        title.push_str(if title.is_empty() { "…" } else { " …" });
        marks::close_cut(&mut title);
    }
    marks::without_lone_quote(title)
}
