//! Writes the report of a failed invocation from what the witness saw of it.

use crate::event::Batch;
use crate::log_error;
use domain::id::MessageId;
use domain::report::batch_response::{self, BatchResponse};
use domain::report::clues::{Clue, Suspect, Suspects, reports_an_error};
use domain::report::powertools;
use domain::report::{ERRORS_MAX, LOG_LINES_MAX, Report, ReportKind, ReportedError, ReportedMessage};
use std::collections::BTreeSet;

/// The most lines in which values of bodies are looked for. Each search reads up to 1 MiB of bodies several times, on the
/// thread that also serves the runtime.
const SEARCHED_LINES_MAX: usize = 4;

/// How an invocation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The runtime posted an error.
    Error(ReportedError),
    /// The runtime posted a response.
    Response(Vec<u8>),
    /// The time is nearly up, or is.
    Timeout,
    /// The runtime's process ended; what is known of it.
    Crash(ReportedError),
    /// The runtime's process was ended for want of memory.
    OutOfMemory(ReportedError),
}

/// Adds to a report what became of the batch. Returns `None` if every message succeeded.
///
/// `lines` are the lines that the invocation logged, oldest first.
pub fn compose(mut report: Report, batch: &Batch<'_>, ending: &Ending, lines: &[&str]) -> Option<Report> {
    report.queue = batch.queue();
    report.batch_size = u32::try_from(batch.len()).ok();
    report.messages = batch.messages().collect();
    match ending {
        Ending::Response(response) => match batch_response::read(response, &batch.ids().collect()) {
            BatchResponse::AllSucceeded | BatchResponse::Unreadable => return None,
            BatchResponse::Failed(failed) => partial(&mut report, batch, &failed, lines),
            BatchResponse::Invalid(invalid) => {
                report.kind = ReportKind::Partial;
                let error_type = Some("InvalidBatchResponse".to_owned());
                report.error = Some(ReportedError { error_type, message: Some(invalid.to_string()), stack: None });
            }
        },
        Ending::Error(error) => thrown(&mut report, batch, error.clone(), lines),
        Ending::Timeout => {
            report.kind = ReportKind::Timeout;
            report.error = Some(timed_out(report.duration_ms));
        }
        Ending::Crash(error) => ended(&mut report, ReportKind::Crash, error, lines),
        Ending::OutOfMemory(error) => ended(&mut report, ReportKind::OutOfMemory, error, lines),
    }
    if needs_logs(&report) {
        let surplus = lines.len().saturating_sub(LOG_LINES_MAX);
        report.logs = lines[surplus..].iter().map(|line| (*line).to_owned()).collect();
    }
    Some(report)
}

/// Whether an error says so little that the lines before it are worth sending. Lines that arrive after it are worth
/// waiting for, too.
pub fn is_thin(error: &ReportedError) -> bool {
    error.stack.is_none() || powertools::is_thin(error)
}

fn needs_logs(report: &Report) -> bool {
    report.kind != ReportKind::Error || (report.errors.is_empty() && report.error.as_ref().is_none_or(is_thin))
}

/// All messages of the batch failed with one error.
fn thrown(report: &mut Report, batch: &Batch<'_>, mut error: ReportedError, lines: &[&str]) {
    report.kind = ReportKind::Error;
    let message = error.message.clone().unwrap_or_default();
    let own = powertools::split(&message);
    if !own.is_empty() && own.len() == report.messages.len() {
        for (at, own) in own.into_iter().enumerate() {
            let own = add_error(report, own);
            report.messages[at].error = own;
        }
        // What is left is the sentence that says how many there are.
        error.message = message.lines().next().map(str::to_owned);
        error.stack = None;
    } else if powertools::is_thin(&error) {
        let suspects = batch.suspects();
        attribute_lines(report, &suspects, lines);
    }
    if report.errors.is_empty() {
        let suspects = batch.suspects();
        let found = Suspects::new(&suspects).clues(&message, lines);
        for (message, clue) in report.messages.iter_mut().zip(found) {
            message.clue = clue;
        }
    }
    report.error = Some(error);
}

/// The function returned the ids of the messages that failed.
fn partial(report: &mut Report, batch: &Batch<'_>, failed: &[MessageId], lines: &[&str]) {
    report.kind = ReportKind::Partial;
    let failed: BTreeSet<&str> = failed.iter().map(MessageId::as_str).collect();
    report.messages.retain(|message| failed.contains(message.id.as_str()));
    let suspects: Vec<Suspect<'_>> =
        batch.suspects().into_iter().filter(|suspect| failed.contains(suspect.id)).collect();
    attribute_lines(report, &suspects, lines);
    // A line that is about no message in particular is about the invocation.
    let unattributed = report.messages.iter().any(|message| message.error.is_none());
    let last = lines.iter().rfind(|line| reports_an_error(line));
    report.error = last.filter(|_| unattributed).map(|line| log_error::read(line));
}

/// Gives each message the newest line about an error that names it and no other. A line that only quotes a value of
/// its body is too little for an error of its own: it is a clue.
fn attribute_lines(report: &mut Report, suspects: &[Suspect<'_>], lines: &[&str]) {
    let suspects = Suspects::new(suspects);
    let mut searches = 0;
    for line in lines.iter().rev().filter(|line| reports_an_error(line)) {
        if let Some(at) = suspects.named(line) {
            if report.messages.get(at).is_some_and(|message| message.error.is_none()) {
                let own = add_error(report, log_error::read(line));
                report.messages[at].error = own;
                report.messages[at].clue = Some(Clue::Named);
            }
        } else if searches < SEARCHED_LINES_MAX {
            searches += 1;
            if let [at] = suspects.quoted(line).as_slice()
                && let Some(message) = report.messages.get_mut(*at)
            {
                message.clue = message.clue.or(Some(Clue::Value));
            }
        }
    }
}

/// Adds an error and returns its position. Equal errors share one; `None` if there is no room.
fn add_error(report: &mut Report, error: ReportedError) -> Option<u16> {
    let known = report.errors.iter().position(|other| *other == error);
    let at = known.unwrap_or(report.errors.len());
    if known.is_none() {
        if at >= ERRORS_MAX {
            return None;
        }
        report.errors.push(error);
    }
    u16::try_from(at).ok()
}

/// The runtime's process ended, which kills the whole batch.
fn ended(report: &mut Report, kind: ReportKind, error: &ReportedError, lines: &[&str]) {
    report.kind = kind;
    let last = lines.iter().rfind(|line| reports_an_error(line)).map(|line| log_error::read(line));
    // A last line about an error says more than that the process has ended.
    report.error = last.filter(|_| kind == ReportKind::Crash).or_else(|| Some(error.clone()));
}

/// Returns the error in Lambda's own words.
fn timed_out(duration_ms: Option<u64>) -> ReportedError {
    let seconds = duration_ms.map(|ms| format!(" after {}.{:02} seconds", ms / 1000, ms % 1000 / 10));
    ReportedError {
        error_type: Some("Sandbox.Timedout".into()),
        message: Some(format!("Task timed out{}", seconds.unwrap_or_default())),
        stack: None,
    }
}

/// Returns the report of a function that did not start.
pub fn not_started(mut report: Report, error: ReportedError, lines: &[&str]) -> Report {
    report.kind = ReportKind::Init;
    if is_thin(&error) {
        let surplus = lines.len().saturating_sub(LOG_LINES_MAX);
        report.logs = lines[surplus..].iter().map(|line| (*line).to_owned()).collect();
    }
    report.error = Some(error);
    report
}

/// Returns the report that withdraws an earlier one of the same invocation. It names the messages, because the office
/// keeps reports by message.
pub fn withdrawn(mut report: Report, batch: &Batch<'_>) -> Report {
    report.kind = ReportKind::Withdrawn;
    report.queue = batch.queue();
    report.batch_size = u32::try_from(batch.len()).ok();
    report.messages = batch.messages().collect();
    report
}

/// Returns whether a message succeeded: it is in the batch and not among those that failed.
pub fn succeeded(batch: &Batch<'_>, response: &[u8]) -> Vec<ReportedMessage> {
    match batch_response::read(response, &batch.ids().collect()) {
        BatchResponse::AllSucceeded => batch.messages().collect(),
        BatchResponse::Failed(failed) => {
            let failed: BTreeSet<&str> = failed.iter().map(MessageId::as_str).collect();
            batch.messages().filter(|message| !failed.contains(message.id.as_str())).collect()
        }
        // A receipt is for a message that is known to have succeeded.
        BatchResponse::Invalid(_) | BatchResponse::Unreadable => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;
    use proptest::prelude::*;

    fn base() -> Report {
        Report::new(ReportKind::Error, "orders", "r-1", Timestamp::from_ms(1))
    }

    fn event(bodies: &[&str]) -> String {
        let records = bodies.iter().enumerate().map(
            |(at, body)| serde_json::json!({"messageId": format!("m-{at}"), "body": body, "eventSource": "aws:sqs"}),
        );
        serde_json::json!({"Records": records.collect::<Vec<_>>()}).to_string()
    }

    fn composed(bodies: &[&str], ending: &Ending, lines: &[&str]) -> Option<Report> {
        let event = event(bodies);
        compose(base(), &Batch::parse(event.as_bytes()).expect("a batch"), ending, lines)
    }

    fn response(text: &str) -> Ending {
        Ending::Response(text.as_bytes().to_vec())
    }

    #[test]
    fn a_list_that_lambda_cannot_read_fails_the_whole_batch() {
        let report = composed(&["", ""], &response(r#"{"batchItemFailures":[{"id":"m-0"}]}"#), &[]).expect("a report");
        assert_eq!((report.kind, report.messages.len()), (ReportKind::Partial, 2));
        assert_eq!(report.error.and_then(|error| error.error_type).as_deref(), Some("InvalidBatchResponse"));
        assert_eq!(composed(&[""], &response(r#"{"batchItemFailures":[]}"#), &[]), None);
    }

    #[test]
    fn lines_are_given_to_the_messages_that_they_name_or_quote() {
        let failed = r#"{"batchItemFailures":[{"itemIdentifier":"m-0"},{"itemIdentifier":"m-2"}]}"#;
        let lines = ["ERROR m-2: too late", "ERROR order A-1001", "ERROR about all"];
        let report = composed(&["A-1001", "A-1002", "A-1003"], &response(failed), &lines).expect("a report");
        let clues: Vec<_> = report.messages.iter().map(|message| message.clue).collect();
        assert_eq!(clues, [Some(Clue::Value), Some(Clue::Named)]);
        let error = report.error_of(&report.messages[1]).and_then(|error| error.message.as_deref());
        assert_eq!(error, Some("ERROR m-2: too late"));
        assert_eq!(report.error.and_then(|error| error.message).as_deref(), Some("ERROR about all"));
        assert_eq!(report.logs, lines);
    }

    #[test]
    fn more_errors_than_fit_are_left_out() {
        let bodies = [""; 15];
        let ids: Vec<_> = (0..15).map(|at| format!("{{\"itemIdentifier\":\"m-{at}\"}}")).collect();
        let lines: Vec<String> = (0..15).map(|at| format!("ERROR {at} m-{at}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ending = response(&format!("{{\"batchItemFailures\":[{}]}}", ids.join(",")));
        let report = composed(&bodies, &ending, &lines).expect("a report");
        assert_eq!((report.errors.len(), report.messages.len()), (ERRORS_MAX, 15));
        assert!(report.messages.iter().all(|message| message.clue == Some(Clue::Named)));
    }

    proptest! {
        #[test]
        fn whatever_passes_nothing_panics(
            event in "\\PC{0,200}",
            bodies in proptest::collection::vec("\\PC{0,40}", 1..4),
            message in "(All records failed processing\\. )?(Traceback \\(most recent call last\\):)?\\PC{0,80}",
            posted in "\\{?(\"errorMessage\":)?\\PC{0,60}\\}?",
            lines in proptest::collection::vec("(ERROR |\\{\"error\":)?(m-0)?\\PC{0,60}\\}?", 0..5),
        ) {
            let _ = Batch::parse(event.as_bytes());
            let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let error = crate::lambda_error::read(posted.as_bytes(), Some(&message));
            let named = ReportedError { message: Some(message), ..error.clone() };
            let endings = [
                Ending::Error(error.clone()), Ending::Error(named), response(&posted), Ending::Timeout,
                Ending::Crash(error.clone()), Ending::OutOfMemory(error),
            ];
            for ending in endings {
                let _ = composed(&bodies, &ending, &lines).map(|report| report.parts());
            }
        }
    }
}
