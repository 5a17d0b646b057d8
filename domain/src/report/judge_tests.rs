//! The rule table: who failed in a batch.

use super::{Judgement, Verdict, Why, judge};
use crate::id::MessageId;
use crate::report::clues::Clue;
use crate::report::{Report, ReportKind, ReportedError, ReportedMessage};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Returns a report. `messages` are ids in the order of the batch, separated by blanks; each may be followed by
/// `!` (named), `=` (value), `#0` (error of its own) and `/g` (message group).
fn report(kind: ReportKind, batch_size: u32, messages: &str) -> Report {
    let mut report = Report::new(kind, "orders", format!("{kind:?} {messages}"), Timestamp::from_ms(1));
    report.batch_size = Some(batch_size);
    report.error = Some(error("KeyError"));
    report.errors = ["Own0", "Own1"].map(error).into();
    report.messages = messages.split_whitespace().map(message).collect();
    report
}

fn error(error_type: &str) -> ReportedError {
    ReportedError { error_type: Some(error_type.into()), ..ReportedError::default() }
}

fn message(text: &str) -> ReportedMessage {
    let (text, group) = text.split_once('/').map_or((text, None), |(text, group)| (text, Some(group.to_string())));
    let (text, error) = text.split_once('#').map_or((text, None), |(text, at)| (text, at.parse().ok()));
    let clue = match text.as_bytes().last() {
        Some(b'!') => Some(Clue::Named),
        Some(b'=') => Some(Clue::Value),
        _ => None,
    };
    let id = MessageId::from(text.trim_end_matches(['!', '=']));
    ReportedMessage { group, error, clue, ..ReportedMessage::new(id) }
}

fn shown(judged: Option<Judgement<'_>>) -> String {
    let Some(Judgement { verdict, why, error, .. }) = judged else { return "nothing".into() };
    let verdict = match verdict {
        Verdict::Share { suspects } => format!("1/{suspects}"),
        other => format!("{other:?}"),
    };
    format!("{verdict} {why:?} {}", error.and_then(|error| error.error_type.as_deref()).unwrap_or("-"))
}

/// A kind, the batch's size, the messages that the report lists, the message in question, and its verdict.
#[test]
fn one_report() {
    use ReportKind::{Crash, Error, OutOfMemory, Partial, Timeout};
    let check = |kind, batch_size, messages: &str, of: &str, wanted: &str| {
        let report = report(kind, batch_size, messages);
        assert_eq!(shown(judge(&of.into(), &[&report])), wanted, "{kind:?} of {batch_size}: {messages}; {of}");
    };
    // A batch of one.
    check(Error, 1, "a", "a", "Certain OnlyMessage KeyError");
    check(Partial, 1, "a", "a", "Certain OnlyMessage KeyError");
    check(Timeout, 1, "a", "a", "Certain OnlyMessage KeyError");
    check(Error, 1, "a", "b", "nothing");
    // An error of its own.
    check(Error, 3, "a#0 b#1 c", "a", "Certain OwnError Own0");
    check(Error, 3, "a#0 b#1 c", "b", "Certain OwnError Own1");
    check(Partial, 9, "a#1 b", "a", "Certain OwnError Own1");
    // Its id, or a value of its body, in the error.
    check(Error, 3, "a b! c", "b", "Certain Named KeyError");
    check(Partial, 9, "a b!", "b", "Certain Named KeyError");
    check(Error, 3, "a b= c", "b", "Strong Value KeyError");
    // A named mate makes the others of a thrown batch bystanders, and no others.
    check(Error, 3, "a b! c", "a", "Bystander MateFailed KeyError");
    check(Error, 3, "a b= c", "c", "Bystander MateFailed KeyError");
    check(Error, 3, "a b#1 c", "c", "Bystander MateFailed Own1");
    check(Partial, 9, "a b!", "a", "1/2 Batch KeyError");
    check(Partial, 9, "a b! c", "a", "1/2 Batch KeyError");
    // Returned as failed.
    check(Partial, 9, "a", "a", "Strong OnlyFailed KeyError");
    check(Partial, 9, "a b c", "b", "1/3 Batch KeyError");
    // Returned as failed, on a FIFO queue.
    check(Partial, 5, "a/g b/g c/g", "a", "Certain FirstOfGroup KeyError");
    check(Partial, 5, "a/g b/g c/g", "b", "Bystander AfterFailed KeyError");
    check(Partial, 5, "a/g b/h c/g", "a", "Strong FirstOfGroup KeyError");
    check(Partial, 5, "a/g b/h c/g", "b", "1/2 FirstOfGroup KeyError");
    check(Partial, 5, "a/g b/h c/g", "c", "Bystander AfterFailed KeyError");
    check(Partial, 5, "a/g b!/g", "b", "Certain Named KeyError");
    // Thrown, ended or killed as a whole.
    for kind in [Error, Timeout, Crash, OutOfMemory] {
        check(kind, 4, "a b c d", "c", "1/4 Batch KeyError");
        check(kind, 4, "a/g b/g c/g d/g", "c", "1/4 Batch KeyError");
    }
    // A part of a report: the other messages are in other parts.
    check(Error, 4_000, "a b c d", "c", "1/4000 Batch KeyError");
}

/// What several reports show: the messages of each, the message in question, its verdict.
#[test]
fn several_reports() {
    let check = |batches: &[(ReportKind, &str)], of: &str, wanted: &str| {
        let reports: Vec<Report> = batches
            .iter()
            .map(|(kind, messages)| {
                report(*kind, u32::try_from(messages.split_whitespace().count()).unwrap_or(0), messages)
            })
            .collect();
        let given: Vec<&Report> = reports.iter().collect();
        assert_eq!(shown(judge(&of.into(), &given)), wanted, "{batches:?}; {of}");
    };
    use ReportKind::{Error, Timeout};
    // The suspects are those that were in all batches.
    check(&[(Error, "a b c d"), (Error, "a b x y")], "a", "1/2 Batch KeyError");
    check(&[(Error, "a b c d"), (Error, "a x y z")], "a", "Strong OnlyCommon KeyError");
    check(&[(Error, "a b c d"), (Error, "a b c d")], "a", "1/4 Batch KeyError");
    // Those that succeeded later are not delivered again.
    check(&[(Error, "a b c d"), (Error, "a c d"), (Error, "a d")], "a", "1/2 Batch KeyError");
    // Another error says nothing about this one.
    check(&[(Error, "a b c d"), (Timeout, "a x")], "a", "1/2 Batch KeyError");
    // The best evidence counts.
    check(&[(Error, "a b c d"), (Error, "a")], "a", "Certain OnlyMessage KeyError");
    check(&[(Error, "a b!"), (Error, "a b!")], "a", "Bystander MateFailed KeyError");
    check(&[(Error, "a b!"), (Error, "a c d")], "a", "Strong OnlyCommon KeyError");
    check(&[(Error, "a b!"), (Timeout, "a c d")], "a", "1/3 Batch KeyError");
}

#[test]
fn the_newest_of_equally_sure_reports_counts() {
    let mut reports = [report(ReportKind::Error, 1, "a"), report(ReportKind::Timeout, 1, "a")];
    reports[1].failed_at = Timestamp::from_ms(2);
    for given in [[&reports[0], &reports[1]], [&reports[1], &reports[0]]] {
        let judged = judge(&"a".into(), &given).map(|judged| judged.report.kind);
        assert_eq!(judged, Some(ReportKind::Timeout));
    }
}

#[test]
fn a_withdrawn_invocation_does_not_count() {
    let failed = report(ReportKind::Timeout, 1, "a");
    let later = |ms| Timestamp::from_ms(ms);
    let withdrawn = Report { kind: ReportKind::Withdrawn, failed_at: later(2), ..failed.clone() };
    let failed_again = Report { kind: ReportKind::Error, failed_at: later(3), ..failed.clone() };
    assert_eq!(shown(judge(&"a".into(), &[&failed])), "Certain OnlyMessage KeyError");
    assert_eq!(shown(judge(&"a".into(), &[&failed, &withdrawn])), "nothing");
    assert_eq!(shown(judge(&"a".into(), &[&withdrawn, &failed])), "nothing");
    let judged = judge(&"a".into(), &[&failed_again, &withdrawn, &failed]);
    assert_eq!(judged.map(|judged| judged.report.kind), Some(ReportKind::Error));
    // All in one millisecond: a timeout, its withdrawal, and an answer that returns the message as failed.
    let at_once = |kind| Report { kind, failed_at: later(2), ..failed.clone() };
    let [timeout, withdrawn, partial] = [ReportKind::Timeout, ReportKind::Withdrawn, ReportKind::Partial].map(at_once);
    for given in [[&timeout, &withdrawn], [&withdrawn, &timeout]] {
        assert_eq!(shown(judge(&"a".into(), &given)), "nothing");
    }
    for given in [[&timeout, &withdrawn, &partial], [&partial, &withdrawn, &timeout]] {
        let judged = judge(&"a".into(), &given);
        assert_eq!(judged.map(|judged| judged.report.kind), Some(ReportKind::Partial));
    }
}

#[test]
fn whoever_named_a_mate_named_no_one_else() {
    // The why of a bystander is its mate's: a page shows that one's error, and says whose it is.
    let report = report(ReportKind::Error, 2, "a b#1");
    let judged = judge(&"a".into(), &[&report]);
    assert_eq!(judged.map(|judged| judged.why), Some(Why::MateFailed));
}
