//! When starts count as failing, and which letters that explains.

use super::*;
use crate::report::{ReportKind, ReportedError};
use crate::reported::{KeptReports, ReportKey};
use alloc::{format, vec};

const RETENTION: Span = Span::from_days(14);

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000).plus(Span::from_secs(s))
}

/// A failed start of `orders`: its version, the type of its error, and when.
fn start(version: &str, error_type: &str, s: i64) -> Report {
    Report {
        version: Some(version.into()),
        error: Some(ReportedError { error_type: Some(error_type.into()), ..ReportedError::default() }),
        ..Report::new(ReportKind::Init, "orders", format!("init {s}"), at(s))
    }
}

fn invocation(version: &str, s: i64) -> Report {
    let function = "arn:aws:lambda:eu-west-1:111122223333:function:orders:live";
    Report { version: Some(version.into()), ..Report::new(ReportKind::Error, function, format!("request {s}"), at(s)) }
}

/// The queue's record after these reports, each of which arrives when it was made.
fn kept(reports: &[Report]) -> KeptReports {
    let key = ReportKey { queue: "arn:aws:sqs:eu-west-1:111122223333:orders".into(), message: None };
    reports.iter().fold(KeptReports::new(key, RETENTION, at(0)), |kept, report| {
        let after = match report.kind {
            ReportKind::Init => kept.with_failed_start(report, RETENTION, report.failed_at),
            _ => kept.with(report, RETENTION, report.failed_at),
        };
        after.unwrap_or(kept)
    })
}

#[test]
fn a_deployment_cannot_start_from_the_second_failure_until_an_invocation_begins() {
    let (broken, other) = (|s| start("8", "ImportModuleError", s), |s| start("8", "SyntaxError", s));
    // The reports, when it is asked, and the answer.
    for (reports, s, wanted) in [
        (vec![broken(0)], 0, false),
        (vec![broken(0), broken(0)], 0, false),
        (vec![broken(0), broken(1)], 1, true),
        (vec![broken(0), broken(1)], 3_600, true),
        (vec![broken(0), broken(1)], 3_601, false),
        (vec![broken(0), broken(1), broken(3_000)], 6_000, true),
        // Too far apart to be the same trouble.
        (vec![broken(0), broken(3_601)], 3_601, false),
        // An invocation of the same version began; one of another version, or an earlier one, proves nothing.
        (vec![broken(0), broken(1), invocation("8", 2)], 3, false),
        (vec![broken(0), broken(1), invocation("7", 2)], 3, true),
        (vec![invocation("8", 0), broken(1), broken(2)], 3, true),
        (vec![broken(0), broken(1), invocation("8", 2), broken(3)], 3, true),
        // Another error needs its own second failure.
        (vec![broken(0), broken(1), other(2)], 2, false),
        (vec![broken(0), broken(1), other(2), other(3)], 3, true),
        (vec![broken(0), start("9", "ImportModuleError", 1)], 1, false),
    ] {
        let starts = kept(&reports).starts.expect("a start failed");
        assert_eq!(starts.is_current(at(s)), wanted, "{reports:?} at {s}");
    }
}

#[test]
fn a_message_is_explained_if_it_was_first_received_while_starts_failed() {
    let kept = kept(&[start("8", "ImportModuleError", 1_000), start("8", "ImportModuleError", 2_000)]);
    for (first_tried_s, wanted) in
        [(689, false), (690, true), (1_000, true), (1_500, true), (2_060, true), (2_061, false)]
    {
        let reason = kept.failed_start(Some(at(first_tried_s)));
        assert_eq!(reason.is_some(), wanted, "{first_tried_s}");
    }
    assert_eq!(kept.failed_start(None), None);
    let reason = kept.failed_start(Some(at(1_500))).expect("a reason");
    assert_eq!(reason.failure.error_type.as_deref(), Some("ImportModuleError"));
    let said = reason.reported;
    assert_eq!((said.kind, said.verdict, said.why), (ReportKind::Init, Verdict::Strong, Why::NotStarted));
}

#[test]
fn a_clock_that_is_ahead_makes_no_start_fail_in_the_future() {
    let key = ReportKey { queue: "orders".into(), message: None };
    let ahead = start("8", "ImportModuleError", 86_400);
    let kept = KeptReports::new(key, RETENTION, at(0)).with_failed_start(&ahead, RETENTION, at(0)).expect("it changes");
    assert_eq!(kept.starts.as_ref().map(|starts| (starts.first_at, starts.last_at)), Some((at(0), at(0))));
    assert_eq!(kept.failed_start(Some(at(3_600))), None);
}

#[test]
fn people_are_alerted_once_a_day_to_the_same_trouble() {
    let broken = |s| start("8", "ImportModuleError", s);
    assert!(kept(&[broken(0)]).start_alerted(at(0)).is_none(), "once is no broken deployment");
    let alerted = kept(&[broken(0), broken(1)]).start_alerted(at(1)).expect("an alert");
    assert!(alerted.start_alerted(at(2)).is_none());
    let again = |kept: &KeptReports, report: &Report| {
        kept.with_failed_start(report, RETENTION, report.failed_at).expect("it changes")
    };
    let later = again(&alerted, &broken(3_000));
    assert!(later.start_alerted(at(3_000)).is_none());
    // The next deployment has another fault.
    let other = again(&again(&later, &start("9", "SyntaxError", 3_100)), &start("9", "SyntaxError", 3_101));
    assert!(other.start_alerted(at(3_101)).is_some());
    // It is still broken a day later.
    let day = 86_400;
    let next = again(&again(&later, &broken(day)), &broken(day + 1));
    assert!(next.start_alerted(at(day + 1)).is_some());
}

#[test]
fn many_instances_that_fail_at_once_change_the_record_once_a_minute() {
    let kept = kept(&[start("8", "E", 0), start("8", "E", 1)]);
    assert!(kept.with_failed_start(&start("8", "E", 2), RETENTION, at(2)).is_none());
    assert!(kept.with_failed_start(&start("8", "E", 60), RETENTION, at(60)).is_none());
    let renewed = kept.with_failed_start(&start("8", "E", 61), RETENTION, at(61)).expect("it changes");
    assert_eq!(renewed.starts.map(|starts| starts.last_at), Some(at(61)));
}
