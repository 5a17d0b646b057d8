//! Writes the report of a failed invocation from what the witness saw of it.

use crate::event::Batch;
use crate::said::Said;
use domain::id::MessageId;
use domain::report::batch_response::{self, BatchResponse};
use domain::report::clues::{Clue, Suspect, Suspects};
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
    let errors = Errors::on(lines);
    match ending {
        Ending::Response(response) => match batch_response::read(response, &batch.ids().collect()) {
            BatchResponse::AllSucceeded | BatchResponse::Unproven => return None,
            BatchResponse::Failed(failed) => partial(&mut report, batch, &failed, &errors),
            BatchResponse::Invalid(invalid) => {
                report.kind = ReportKind::Partial;
                let error_type = Some("InvalidBatchResponse".to_owned());
                report.error = Some(ReportedError { error_type, message: Some(invalid.to_string()), stack: None });
            }
        },
        Ending::Error(error) => thrown(&mut report, batch, error.clone(), &errors),
        Ending::Timeout => {
            report.kind = ReportKind::Timeout;
            report.error = Some(timed_out(report.duration_ms));
        }
        Ending::Crash(error) => ended(&mut report, ReportKind::Crash, error, &errors),
        Ending::OutOfMemory(error) => ended(&mut report, ReportKind::OutOfMemory, error, &errors),
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

/// The errors on the lines of an invocation, most telling first: newest first, and those that are errors by their form
/// before those that only sound like one.
struct Errors<'a> {
    all: Vec<(&'a str, ReportedError)>,
    /// How many of them are errors by their form.
    sure_count: usize,
    /// What is known of why a process ended: the newest error by its form, or else the last line of all if it sounds like
    /// one.
    last_words: Option<ReportedError>,
}

impl<'a> Errors<'a> {
    fn on(lines: &[&'a str]) -> Self {
        let (mut sure, mut perhaps) = (Vec::new(), Vec::new());
        for line in lines.iter().rev() {
            match Said::on(line) {
                Said::Error(error) => sure.push((*line, error)),
                Said::Perhaps(error) => perhaps.push((*line, error)),
                Said::Nothing => {}
            }
        }
        let is_last = |line: &&str| lines.last().is_some_and(|last| last == line);
        let last = sure.first().or_else(|| perhaps.first().filter(|(line, _)| is_last(line)));
        let last_words = last.map(|(_, error)| error.clone());
        let sure_count = sure.len();
        sure.append(&mut perhaps);
        Self { all: sure, sure_count, last_words }
    }

    /// Returns the lines in which the message is named that failed: those that only sound like an error count where none
    /// of the others names one.
    fn naming(&self, suspects: &Suspects<'_>) -> Vec<&'a str> {
        let (sure, perhaps) = self.all.split_at(self.sure_count);
        let is_named = sure.iter().any(|(line, _)| suspects.names_any(line));
        let lines = if is_named { sure } else { perhaps };
        lines.iter().map(|(line, _)| *line).collect()
    }
}

/// All messages of the batch failed with one error.
fn thrown(report: &mut Report, batch: &Batch<'_>, mut error: ReportedError, errors: &Errors<'_>) {
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
        attribute_lines(report, &suspects, errors);
    }
    if report.errors.is_empty() {
        let suspects = batch.suspects();
        let suspects = Suspects::new(&suspects);
        let found = suspects.clues(&message, &errors.naming(&suspects));
        for (message, clue) in report.messages.iter_mut().zip(found) {
            message.clue = clue;
        }
    }
    report.error = Some(error);
}

/// The function returned the ids of the messages that failed.
fn partial(report: &mut Report, batch: &Batch<'_>, failed: &[MessageId], errors: &Errors<'_>) {
    report.kind = ReportKind::Partial;
    let failed: BTreeSet<&str> = failed.iter().map(MessageId::as_str).collect();
    report.messages.retain(|message| failed.contains(message.id.as_str()));
    let suspects: Vec<Suspect<'_>> =
        batch.suspects().into_iter().filter(|suspect| failed.contains(suspect.id)).collect();
    attribute_lines(report, &suspects, errors);
    // A line that names no message of the batch is about the invocation.
    let everyone = batch.suspects();
    let everyone = Suspects::new(&everyone);
    let is_of_all = |line: &str| batch.len() == 1 || !everyone.names_any(line);
    let unattributed = report.messages.iter().any(|message| message.error.is_none());
    let of_all = errors.all.iter().filter(|_| unattributed).find(|(line, _)| is_of_all(line));
    report.error = of_all.map(|(_, error)| error.clone());
}

/// Gives each message the most telling line about an error that names it and no other. A line that only quotes a value of
/// its body is too little for an error of its own: it is a clue.
fn attribute_lines(report: &mut Report, suspects: &[Suspect<'_>], errors: &Errors<'_>) {
    let suspects = Suspects::new(suspects);
    let mut searches = 0;
    for (line, error) in &errors.all {
        if let Some(at) = suspects.named(line) {
            if report.messages.get(at).is_some_and(|message| message.error.is_none()) {
                let own = add_error(report, error.clone());
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

/// The runtime's process ended, which kills the whole batch. Its last words say why; where they have no type, Lambda's
/// name for the end stays.
fn ended(report: &mut Report, kind: ReportKind, end: &ReportedError, errors: &Errors<'_>) {
    report.kind = kind;
    let last = errors.last_words.clone().filter(|_| kind == ReportKind::Crash);
    report.error = Some(match last {
        Some(last) => ReportedError { error_type: last.error_type.or_else(|| end.error_type.clone()), ..last },
        None => end.clone(),
    });
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
        BatchResponse::Invalid(_) | BatchResponse::Unproven => Vec::new(),
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
        assert_eq!(error, Some("m-2: too late"));
        assert_eq!(report.error.and_then(|error| error.message).as_deref(), Some("about all"));
        assert_eq!(report.logs, lines);
    }

    #[test]
    fn what_sounds_like_an_error_counts_where_nothing_is_one() {
        let failed = response(r#"{"batchItemFailures":[{"itemIdentifier":"m-0"}]}"#);
        let message = |lines: &[&str]| {
            let report = composed(&["", ""], &failed, lines).expect("a report");
            let own = report.error_of(&report.messages[0]).cloned();
            own.and_then(|error| error.message)
        };
        let (early, real) = ("m-0: retry after a transient error", "[ERROR] m-0: card declined");
        assert_eq!(message(&[real, early]).as_deref(), Some("m-0: card declined"));
        assert_eq!(message(&[early, "INFO m-0: error budget ok"]).as_deref(), Some(early));
        assert_eq!(message(&["INFO m-0: error budget ok"]), None);
    }

    #[test]
    fn a_line_about_one_message_is_no_error_of_another() {
        let both = r#"{"batchItemFailures":[{"itemIdentifier":"m-0"},{"itemIdentifier":"m-1"}]}"#;
        let first = r#"{"batchItemFailures":[{"itemIdentifier":"m-0"}]}"#;
        let errors = |failed: &str, lines: &[&str]| {
            let report = composed(&["", "", ""], &response(failed), lines).expect("a report");
            let error = |message| report.error_of(message).and_then(|error| error.message.clone()).unwrap_or_default();
            report.messages.iter().map(error).collect::<Vec<_>>()
        };
        assert_eq!(errors(both, &["[ERROR] m-0: declined"]), ["m-0: declined", ""]);
        let all = ["[ERROR] database is down", "[ERROR] m-0: declined"];
        assert_eq!(errors(both, &all), ["m-0: declined", "database is down"]);
        assert_eq!(errors(first, &["[ERROR] m-2: first try failed"]), [""]);
    }

    #[test]
    fn a_sure_line_names_the_message_that_threw() {
        let clues = |lines: &[&str]| {
            let error = ReportedError { message: Some("declined".into()), ..ReportedError::default() };
            let report = composed(&["", ""], &Ending::Error(error), lines).expect("a report");
            report.messages.iter().map(|message| message.clue).collect::<Vec<_>>()
        };
        let (warning, error) = ("WARN m-1: first try failed, tried again", "[CRITICAL] m-0: card declined");
        assert_eq!(clues(&[warning, error]), [Some(Clue::Named), None]);
        assert_eq!(clues(&[warning]), [None, Some(Clue::Named)]);
    }

    #[test]
    fn a_crash_keeps_its_type_unless_the_last_error_has_one() {
        let end = ReportedError {
            error_type: Some("Runtime.ExitError".into()),
            message: Some("exit status 7".into()),
            stack: None,
        };
        let said = |lines: &[&str]| {
            let report = composed(&[""], &Ending::Crash(end.clone()), lines).expect("a report");
            let error = report.error.expect("an error");
            (error.error_type.unwrap_or_default(), error.message.unwrap_or_default(), report.logs.len())
        };
        let row = |error_type: &str, message: &str, logs| (error_type.to_owned(), message.to_owned(), logs);
        assert_eq!(said(&["WARNING: failed to load", "bye"]), row("Runtime.ExitError", "exit status 7", 2));
        assert_eq!(said(&["hello", "fatal error: no disk"]), row("Runtime.ExitError", "fatal error: no disk", 2));
        assert_eq!(said(&["ERROR no disk"]), row("Runtime.ExitError", "no disk", 1));
        assert_eq!(said(&["ERROR: KeyError: 'a'", "bye"]), row("KeyError", "'a'", 2));
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
