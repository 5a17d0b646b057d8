//! Reports stay within their limits, whatever they contain, and lose no message.

use crate::report::{
    DURATION_MS_MAX, ERRORS_MAX, LOG_LINES_MAX, REPORT_BYTES_MAX, Report, ReportKind, ReportedError, ReportedMessage,
    TEXTS_FOR_MESSAGES_MAX,
};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;

fn report(messages: usize) -> Report {
    let mut report = Report::new(ReportKind::Error, "orders", "r-1", Timestamp::from_ms(7));
    report.error =
        Some(ReportedError { error_type: Some("E".into()), message: Some("m".into()), stack: Some("s".into()) });
    let ids = (0..messages).map(|n| format!("{n:08}-0000-4000-8000-000000000000"));
    report.messages =
        ids.map(|id| ReportedMessage { receives: Some(3), ..ReportedMessage::new((*id).into()) }).collect();
    report
}

#[test]
fn a_small_report_is_one_text_that_parses_to_itself() {
    let mut report = report(3);
    report.batch_size = Some(10);
    let parts = report.parts();
    assert_eq!(parts.iter().map(|part| Report::parse(part)).collect::<Vec<_>>(), [Some(report)]);
}

#[test]
fn a_large_batch_makes_parts_that_differ_in_their_messages() {
    let report = report(10_000);
    let texts = report.parts();
    assert!(texts.len() < 12, "{}", texts.len());
    let parts: Vec<Report> = texts.iter().filter_map(|text| Report::parse(text)).collect();
    let count = u16::try_from(texts.len()).ok();
    let without_stack = report.error.clone().map(|error| ReportedError { stack: None, ..error });
    for (part, n) in parts.iter().zip(1..) {
        assert_eq!((part.part, part.parts, part.batch_size), (Some(n), count, Some(10_000)));
        let error = if part.messages.len() > TEXTS_FOR_MESSAGES_MAX { &without_stack } else { &report.error };
        assert_eq!(&part.error, error, "each of many messages keeps what its report says");
    }
    let messages: Vec<_> = parts.into_iter().flat_map(|part| part.messages).collect();
    assert_eq!(messages, report.messages);
}

#[test]
fn what_is_no_report_is_not_parsed() {
    let text = report(1).parts().concat();
    let later = text.replace("\"v\":1", "\"v\":2,\"more\":[1]");
    assert_eq!(Report::parse(&later).map(|report| report.v), Some(2));
    let anonymous = text.replace("r-1", "");
    for other in ["", "null", "[]", "{}", "{\"v\":1}", &text.replace("\"v\":1", "\"v\":0"), &anonymous] {
        assert_eq!(Report::parse(other), None, "{other}");
    }
}

#[test]
fn what_is_wrong_with_a_report_is_said_without_its_text() {
    let text = report(1).parts().concat();
    let said = |text: &str| Report::try_parse(text).map_or_else(|error| error.to_string(), |_| String::new());
    let rows = [
        (text.clone(), ""),
        (text.replace("\"function\":\"orders\",", ""), "missing field `function` at line 1, column "),
        (
            text.replace("\"failed_at\":7", "\"failed_at\":7.5"),
            "a field has another type or value than its schema says at line 1",
        ),
        (text.replace("\"error\"", "\"Secret\""), "a field has another type or value than its schema says at line 1"),
        (text.replace("\"failed_at\":7", "\"failed_at\":-7"), "`failed_at` is not a time in milliseconds"),
        ("secret".to_string(), "it is not JSON at line 1, column 1"),
        (text.replace("r-1", ""), "`request_id` is empty"),
        (text.replace("\"v\":1", "\"v\":0"), "`v` is 0"),
        (format!("{text}{}", " ".repeat(REPORT_BYTES_MAX)), "bytes, and a report has 65536 at most"),
    ];
    for (text, wanted) in rows {
        let said = said(&text);
        assert!(said.contains(wanted) && said.is_empty() == wanted.is_empty(), "{text}: {said}");
        assert!(!said.to_lowercase().contains("secret"), "{said}");
    }
}

#[test]
fn what_cannot_be_is_left_out() {
    let mut odd = report(1);
    odd.function = "pay\u{1b}[31m\nments\u{202e}".into();
    for (queue, is_kept) in [
        ("arn:aws:sqs:eu-west-1:111122223333:orders", true),
        ("arn:aws-cn:sqs:local:0:orders.fifo", true),
        ("orders", false),
        ("arn:aws:sns:eu-west-1:111122223333:orders", false),
        ("arn:aws:sqs:eu-west-1:111122223333:", false),
        ("arn:aws:sqs:eu-west-1:111122223333:or ders", false),
        ("", false),
    ] {
        odd.queue = Some(queue.into());
        let parsed = Report::parse(&serde_json::to_string(&odd).unwrap_or_default());
        assert_eq!(
            parsed.map(|report| (report.function, report.queue.is_some())),
            Some(("pay [31m ments ".into(), is_kept)),
            "{queue}"
        );
    }
    for (ms, kept) in
        [(0, Some(0)), (DURATION_MS_MAX, Some(DURATION_MS_MAX)), (DURATION_MS_MAX + 1, None), (u64::MAX, None)]
    {
        odd.duration_ms = Some(ms);
        let parsed = Report::parse(&serde_json::to_string(&odd).unwrap_or_default());
        assert_eq!(parsed.map(|report| report.duration_ms), Some(kept), "{ms}");
    }
}

#[test]
fn a_foreign_report_is_cut_to_the_limits() {
    let mut long = report(2);
    long.logs = (0..100).map(|n| n.to_string()).collect();
    long.errors = (0..100).map(|_| ReportedError::default()).collect();
    let text = serde_json::to_string(&long).unwrap_or_default();
    let parsed = Report::parse(&text).map(|report| (report.logs.len(), report.errors.len(), report.logs[0].clone()));
    assert_eq!(parsed, Some((LOG_LINES_MAX, ERRORS_MAX, "80".to_string())));
}

/// Any text, with the characters that JSON lengthens and SQS rejects.
fn text(repeat: usize) -> impl Strategy<Value = String> {
    (prop_oneof![Just("\u{1}"), Just("\u{ffff}"), Just("ä"), Just("\""), Just("a\n"), Just("🧀")], 0..repeat)
        .prop_map(|(text, times)| text.repeat(times))
}

proptest! {
    // Each case is some hundred kilobytes of text.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_part_is_too_large_and_no_message_is_lost(
        texts in proptest::collection::vec(text(40_000), 6),
        lines in proptest::collection::vec(text(5_000), 0..25),
        errors in proptest::collection::vec(text(30_000), 0..12),
        messages in 0_usize..1_500,
    ) {
        let mut report = report(messages);
        let [error_type, message, stack, version, instance, group] = texts.try_into().unwrap_or_default();
        report.error = Some(ReportedError {
            error_type: Some(error_type), message: Some(message), stack: Some(stack)
        });
        report.version = Some(version);
        report.instance = Some(instance);
        report.log_group = Some(group.clone());
        report.logs = lines;
        report.errors = errors
            .into_iter()
            .map(|text| ReportedError { message: Some(text.clone()), stack: Some(text), error_type: None })
            .collect();
        for message in report.messages.iter_mut().take(10) {
            message.group = Some(group.clone());
        }
        let parts = report.parts();
        let mut ids = Vec::new();
        for part in &parts {
            prop_assert!(part.len() <= REPORT_BYTES_MAX, "{}", part.len());
            let is_refused = part.contains(['\u{fffe}', '\u{ffff}']);
            prop_assert!(!is_refused);
            let Some(parsed) = Report::parse(part) else { return Err(TestCaseError::fail("a part does not parse")) };
            ids.extend(parsed.messages.into_iter().map(|message| message.id));
        }
        let wanted: Vec<_> = report.messages.iter().map(|message| message.id.clone()).collect();
        prop_assert_eq!(ids, wanted);
    }
}
