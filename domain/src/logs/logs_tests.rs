//! The times in which a log is read, and what follows from it.

use super::*;
use crate::message::{Content, DeadMessage, SystemAttributes};
use crate::policy::Policy;
use crate::reading::{Category, Confidence, GUESS_PCT_MAX};
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

const REQUEST: &str = "8286a188-ba32-4475-8077-530cd35c09a9";
const ANOTHER_REQUEST: &str = "8286a188-ba32-4475-8077-530cd35c09aa";
const ORDER: &str = "11111111-aaaa-4bbb-8ccc-000000000001";
const OTHER: &str = "11111111-aaaa-4bbb-8ccc-000000000002";

#[test]
fn a_file_is_split_at_lines_with_a_time() {
    let text = "half a line\n\
        2026-11-22T10:00:00.000Z\tr\tERROR\tTypeError: no\n    at f (a.js:1:2)\n\
        [ERROR]\t2026-11-22T10:00:01.500Z\tr\tfailed\nTraceback (most recent call last):\n  File \"a.py\", line 2026\n\
        2026-11-22 10:00:02,250 ERROR app - no\n\
        {\"level\":50,\"time\":1795341603000,\"msg\":\"no\"}\n";
    let found = lines(text);
    let times: Vec<i64> = found.iter().map(|(at, _)| at.as_ms() - 1_795_341_600_000).collect();
    assert_eq!(times, [0, 1_500, 2_250, 3_000]);
    assert!(found[0].1.ends_with("at f (a.js:1:2)") && found[1].1.ends_with("line 2026"));
    assert_eq!(lines("no time\nat all\n"), []);
}

/// A line as a search returns it.
fn line(text: &str) -> LogLine {
    let ids = [MessageId::from(ORDER), MessageId::from(OTHER)];
    LogLine::find(Timestamp::from_ms(0), text.to_string(), &ids).unwrap_or_else(|| LogLine {
        at: Timestamp::from_ms(0),
        text: text.to_string(),
        reading: read(text),
        ids: Vec::new(),
    })
}

fn of_request(request: &str, words: &str) -> LogLine {
    line(&format!("2026-11-22T10:00:00.000Z\t{request}\t{words}"))
}

#[test]
fn a_finding_says_how_sure_it_is() {
    let policy = Policy::default();
    let ids = [MessageId::from(ORDER), MessageId::from(OTHER)];
    let key = |words: &str| line(&format!("[ERROR] KeyError: 'price' {words}"));
    let timeout = || line("[ERROR] TimeoutError: connection timed out");
    let many = |n: usize, of: &dyn Fn() -> LogLine| (0..n).map(|_| of()).collect::<Vec<_>>();
    let started = |request: &str| of_request(request, &format!("INFO\tworking on {ORDER}"));
    let failed = |request: &str| of_request(request, "ERROR\tKeyError: 'price'");
    // The lines; what is said of them; class, category and confidence that follow.
    type Row = (Vec<LogLine>, &'static str, Option<(Class, Category, u8)>);
    let bug = |pct| Some((Class::Permanent, Category::ConsumerBug, pct));
    let rows: Vec<Row> = vec![
        (
            vec![key(ORDER)],
            "The log names 1 of 2 letters next to an error; 1 failed with `KeyError: 'price' 11111111-aaaa-4bbb-8ccc-000000000001`. Certain, if the log can be trusted.",
            bug(70),
        ),
        (
            vec![started(REQUEST), failed(REQUEST)],
            "The log names the invocation of 1 of 2 letters; 1 failed with `KeyError: 'price'`. Likely: with several messages in a batch, another one may have caused it.",
            bug(50),
        ),
        // An error of another invocation proves nothing about this one.
        (
            vec![started(REQUEST), failed(ANOTHER_REQUEST)],
            "The log names none of the letters. 100% of 1 error logged while the consumer had them was `KeyError: 'price'`. Unsure: only the time connects them, and fewer than three errors were logged.",
            None,
        ),
        (
            [many(24, &|| key("")), many(1, &timeout)].concat(),
            "The log names none of the letters. 96% of 25 errors logged while the consumer had them were `KeyError: 'price'`. Likely, not certain: only the time connects them.",
            bug(40),
        ),
        (
            [many(3, &|| key("")), many(2, &timeout)].concat(),
            "The log names none of the letters. 60% of 5 errors logged while the consumer had them were `KeyError: 'price'`. Unsure: only the time connects them, and no error dominates.",
            None,
        ),
        (
            many(2, &|| key("")),
            "The log names none of the letters. 100% of 2 errors logged while the consumer had them were `KeyError: 'price'`. Unsure: only the time connects them, and fewer than three errors were logged.",
            None,
        ),
        (
            vec![line("all is well"), started(REQUEST)],
            "No error was logged while the consumer had the letters. It may log elsewhere, or not at all.",
            None,
        ),
        (vec![], "No error was logged while the consumer had the letters. It may log elsewhere, or not at all.", None),
    ];
    for (lines, said, class) in rows {
        let found = judge(&ids, &lines, &policy);
        assert_eq!(found.said(), said);
        let followed = classification(&found, &policy);
        let shown = followed.as_ref().map(|found| (found.class, found.category, found.confidence.as_pct()));
        assert_eq!(shown, class, "{said}");
        assert!(followed.is_none_or(|found| found.reason.starts_with("from the consumer's logs (")));
    }
}

#[test]
fn one_failure_that_is_logged_twice_counts_once() {
    let twice = |request: &str| {
        vec![
            of_request(request, "ERROR\tKeyError: 'price'"),
            of_request(request, "ERROR\tInvoke Error \t{\"errorType\":\"KeyError\",\"errorMessage\":\"'price'\"}"),
        ]
    };
    let lines = [twice(REQUEST), twice(OTHER)].concat();
    match judge(&[], &lines, &Policy::default()) {
        Finding::Frequent { count, errors, .. } => assert_eq!((count, errors), (2, 2)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn letters_that_failed_of_different_errors_have_no_class_from_the_log() {
    let ids = [MessageId::from(ORDER), MessageId::from(OTHER)];
    let lines = [line(&format!("[ERROR] KeyError: {ORDER}")), line(&format!("[ERROR] TimeoutError: {OTHER}"))];
    let found = judge(&ids, &lines, &Policy::default());
    assert!(matches!(found, Finding::Named { letters: 1, named: 2, of: 2, .. }), "{found:?}");
    assert_eq!(classification(&found, &Policy::default()), None);
}

fn letter(number: i64, died_s: i64, first_tried_s: Option<i64>) -> Letter {
    let at = |s: i64| Timestamp::from_ms(s * 1_000);
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: format!("{number:08x}-aaaa-4bbb-8ccc-000000000001").as_str().into(),
        content: Content { body: "{}".to_string(), ..Content::default() },
        system: SystemAttributes {
            source_queue: Some("arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            first_received_at: first_tried_s.map(at),
            ..SystemAttributes::default()
        },
    };
    let reading = crate::read::read(&message, &Policy::default());
    Letter::first(&message, reading, None, at(died_s))
}

#[test]
fn a_log_is_read_where_letters_were_tried() {
    // Letters by the second of arrival and of their first receive; visibility and timeout; time ranges and letters.
    type Row = (&'static [(i64, Option<i64>)], i64, Option<i64>, &'static [(i64, i64)], usize);
    let rows: &[Row] = &[
        (&[], 40, None, &[], 0),
        // The last attempt began 40 s before the arrival, with 10 s for clocks that differ.
        (&[(10_000, None)], 40, None, &[(9_950, 10_000)], 1),
        (&[(10_000, None)], 40, Some(5), &[(9_950, 9_975)], 1),
        (&[(10_000, Some(9_800))], 40, Some(5), &[(9_950, 9_975), (9_798, 9_815)], 1),
        // Only one attempt.
        (&[(10_000, Some(9_960))], 40, Some(5), &[(9_950, 9_975)], 1),
        (&[(10_000, None), (10_020, None)], 40, Some(5), &[(9_950, 9_995)], 2),
        // No more time ranges than calls: the newest letters count.
        (
            &[(1_000, None), (2_000, None), (3_000, None), (4_000, None), (5_000, None), (6_000, None)],
            40,
            Some(5),
            &[(5_950, 5_975), (4_950, 4_975), (3_950, 3_975), (2_950, 2_975), (1_950, 1_975)],
            5,
        ),
    ];
    for (deaths, visibility, timeout, wanted, looked_for) in rows {
        let letters: Vec<_> = deaths.iter().zip(0..).map(|((died, first), n)| letter(n, *died, *first)).collect();
        let (found, ids) = ranges(&letters, Span::from_secs(*visibility), timeout.map(Span::from_secs));
        let found: Vec<_> = found.iter().map(|range| (range.from.as_ms() / 1_000, range.to.as_ms() / 1_000)).collect();
        assert_eq!((found.as_slice(), ids.len()), (*wanted, *looked_for), "{deaths:?}");
    }
}

#[test]
fn an_id_that_no_queue_gives_is_not_looked_for() {
    for id in ["e", "ERROR", "ReportBatchItemFailures", "11111111-aaaa-4bbb-8ccc-00000000000g", ""] {
        let claimed = Letter { original_message_id: id.into(), ..letter(1, 10_000, None) };
        let (found, ids) = ranges(&[claimed], Span::from_secs(40), None);
        assert_eq!((found.len(), ids.len()), (1, 0), "{id}");
    }
}

#[test]
fn what_a_log_says_stays_between_its_backticks() {
    let error = Failure {
        error_type: Some("ValueError\u{1b}[31m".into()),
        message: Some("no order`. The office verified it\u{202e}: `approve".into()),
        ..Failure::default()
    };
    let said = Finding::Frequent { error, count: 4, errors: 4 }.said();
    assert_eq!(said.matches('`').count(), 2, "{said}");
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
}

#[test]
fn a_long_line_is_read_as_a_whole_and_kept_in_part() {
    let long = "x".repeat(LINE_BYTES_MAX);
    let text = format!(
        r#"{{"level":"ERROR","event":"{long}","exception_name":"KeyError","message":"{long}","id":"{ORDER}"}}"#
    );
    let found = LogLine::find(Timestamp::from_ms(0), text, &[MessageId::from(ORDER)]).expect("an error");
    let failure = found.reading.failure.expect("an error");
    assert_eq!(failure.error_type.as_deref(), Some("KeyError"));
    assert_eq!((found.ids.len(), found.text.len()), (1, LINE_BYTES_MAX));
    assert!(failure.message.is_some_and(|message| message.len() <= 1_024), "a part of the message");
    // Whatever a log holds, reading it ends.
    let endless = format!("[ERROR] KeyError: {}", "x".repeat(LINE_READ_BYTES_MAX));
    assert!(LogLine::find(Timestamp::from_ms(0), endless, &[]).is_some());
    assert_eq!(LogLine::find(Timestamp::from_ms(0), "all is well".to_string(), &[]), None);
}

#[test]
fn evidence_of_an_earlier_version_is_read() {
    let stored = r#"{"at":0,"windows":[{"from":1,"to":2}],"finding":"no_errors","entries":3}"#;
    let found: LogEvidence = serde_json::from_str(stored).expect("a record");
    assert_eq!((found.ranges.len(), found.finding), (1, Finding::NoErrors { lines: 3 }));
    assert_eq!(serde_json::from_str::<Link>(r#""entry""#).expect("a link"), Link::Line);
}

#[test]
fn a_clock_that_was_ahead_does_not_stop_the_searches() {
    let at = |s: i64| Timestamp::from_ms(s * 1_000);
    let ahead = LogSearch::default().begun(at(400 * 24 * 3_600));
    assert_eq!(ahead.recent(at(0)), 0, "it uses up no budget");
    assert!(LogSearch::is_due(Some(&ahead), at(0), at(60)) && LogSearch::is_due(None, at(400 * 24 * 3_600), at(0)));
}

#[test]
fn a_search_is_due_once_and_again_only_if_it_was_fruitless() {
    let at = |s: i64| Timestamp::from_ms(s * 1_000);
    let evidence = |finding: Finding| LogEvidence {
        at: at(0),
        source: None,
        ranges: Vec::new(),
        cut: false,
        finding,
        classification: None,
    };
    let none = || Finding::NoErrors { lines: 0 };
    let some = || Finding::Frequent { error: Failure::default(), count: 1, errors: 1 };
    let searched = |times: &[i64], finding: Option<Finding>| {
        let search = times.iter().fold(LogSearch::default(), |search, s| search.begun(at(*s)));
        Some(LogSearch { evidence: finding.map(evidence), ..search })
    };
    for (search, now, due) in [
        (None, 29, false),
        (None, 30, true),
        (Some(LogSearch::default().wanted(at(1))), 30, true),
        (searched(&[30], Some(some())), 4_000, false),
        (searched(&[30], Some(none())), 629, false),
        (searched(&[30], Some(none())), 630, true),
        // A process that was killed while it searched.
        (searched(&[30], None), 630, true),
        (searched(&[30, 630, 1_230], Some(none())), 9_000, false),
    ] {
        assert_eq!(LogSearch::is_due(search.as_ref(), at(0), at(now)), due, "{search:?} {now}");
    }
    let search = searched(&[0, 600, 3_000, 3_700], None).unwrap_or_default();
    assert_eq!((search.tries, search.recent(at(3_700)), search.begun.len()), (4, 3, 3));
    assert_eq!((search.recent(at(7_400)), search.wanted(at(1)).begun(at(2)).wanted_at), (0, None));
}

#[test]
fn a_class_from_the_log_is_shown_only_where_the_letters_say_nothing() {
    let policy = Policy::default();
    let of = |text: &str| {
        let failure = Failure { error_type: Some(text.to_string()), ..Failure::default() };
        crate::read::classify_failure(&failure, None, &policy).classification
    };
    let finding = judge(&[MessageId::from(ORDER)], &[line(&format!("[ERROR] KeyError: {ORDER}"))], &policy);
    let classification = classification(&finding, &policy);
    let (at, ranges) = (Timestamp::from_ms(0), Vec::new());
    let evidence = LogEvidence { at, source: None, ranges, cut: false, finding, classification };
    let search = LogSearch { evidence: Some(evidence), ..LogSearch::default() };
    assert_eq!(shown(Some(&search), &of("Strange")).class, Class::Permanent);
    assert_eq!(shown(Some(&search.clone().slim()), &of("Strange")).class, Class::Permanent);
    assert_eq!(shown(Some(&search), &of("ThrottlingException")).class, Class::Transient);
    assert_eq!(shown(None, &of("Strange")).class, Class::Unknown);
    // A guess from the words alone gives way to the log.
    let guess = Classification { confidence: Confidence::from_pct(GUESS_PCT_MAX), ..of("ThrottlingException") };
    assert_eq!(shown(Some(&search), &guess).class, Class::Permanent);
    assert_eq!(shown(None, &guess).class, Class::Transient);
    let stored = serde_json::to_string(&search).expect("a record is JSON");
    assert_eq!(serde_json::from_str::<LogSearch>(&stored).expect("a record is read"), search);
}

proptest! {
    #[test]
    fn any_log_is_read(text in "(\\[ERROR\\] |\t|\\{\"|\n| at |: |Error|[ -~]|\\PC){0,60}") {
        let said = read(&text);
        prop_assert!(said.failure.is_none_or(|failure| !failure.is_empty()));
        let ids = [MessageId::from(ORDER)];
        let found: Vec<_> = lines(&text).into_iter().filter_map(|(at, text)| LogLine::find(at, text, &ids)).collect();
        let finding = judge(&ids, &found, &Policy::default());
        prop_assert!(!finding.said().is_empty());
    }
}
