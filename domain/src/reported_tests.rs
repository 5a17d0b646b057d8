//! What one report becomes in the store.

use super::*;
use crate::report::{ERRORS_MAX, LOG_LINES_MAX, REPORT_BYTES_MAX, ReportedError, ReportedMessage};
use alloc::vec;

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// The report of an attacker: each text as long as fits, and each message with an error of its own.
fn large(messages: usize) -> Report {
    let error = |bytes| ReportedError {
        error_type: Some("E".into()),
        message: Some("m".repeat(bytes)),
        stack: Some("s".repeat(bytes)),
    };
    let mut report = Report::new(ReportKind::Error, "orders", "r-1", NOW);
    let ids = (0..messages).map(|n| MessageId::new(format!("{n:036}")));
    report.messages = ids.map(ReportedMessage::new).collect();
    for (at, message) in report.messages.iter_mut().enumerate() {
        message.error = u16::try_from(at % ERRORS_MAX).ok();
    }
    report.error = Some(error(8 * 1024));
    report.errors = vec![error(1024); ERRORS_MAX];
    report.logs = vec!["l".repeat(LINE_BYTES_MAX); LOG_LINES_MAX];
    report
}

/// The bytes of everything that is kept of a report, by the number of its messages.
fn kept_bytes(report: &Report) -> usize {
    let queue = QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders");
    let keys = report.messages.iter().map(|named| ReportKey { queue: queue.clone(), message: Some(named.id.clone()) });
    let kept =
        keys.filter_map(|key| KeptReports::new(key, Span::from_days(14), NOW).with(report, Span::from_days(14), NOW));
    kept.map(|kept| serde_json::to_string(&kept).map_or(0, |text| text.len())).sum()
}

/// The rows: messages of a report, and how many times its own bytes the store takes for them.
#[test]
fn a_report_is_kept_in_no_more_than_a_hundred_times_its_bytes() {
    let rows = [1, 10, 100, 101, 300].map(|messages| {
        let text = serde_json::to_string(&large(messages)).expect("JSON");
        assert!(text.len() <= REPORT_BYTES_MAX, "{messages}: {}", text.len());
        let kept = kept_bytes(&Report::parse(&text).expect("a report"));
        // Three are kept of each message, and DynamoDB takes 400 KB.
        assert!(3 * kept / messages < 400_000, "{messages}: {kept}");
        (messages, kept / text.len())
    });
    // Ids as short as they can be, and names as long as they may be.
    let mut short = Report::new(ReportKind::Error, "f".repeat(512), "r".repeat(200), NOW);
    let name = || Some("n".repeat(512));
    (short.version, short.instance, short.log_group, short.reporter) = (name(), name(), name(), name());
    short.messages = (0..4_000).map(|n| ReportedMessage::new(MessageId::new(n.to_string()))).collect();
    let text = serde_json::to_string(&short).expect("JSON");
    let kept = kept_bytes(&Report::parse(&text).expect("a report"));
    assert!(kept <= 100 * text.len(), "{} are kept in {kept}", text.len());
    assert_eq!(rows, [(1, 0), (10, 8), (100, 75), (101, 8), (300, 20)]);
}
