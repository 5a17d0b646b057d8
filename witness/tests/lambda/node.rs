//! Node functions behind Amazon's own runtime client.

use crate::queue::{Mood, ReportsQueue};
use crate::sandbox::{Ended, LIMIT, Options, Sandbox, batch, node};
use crate::service::Posted;
use domain::report::clues::Clue;
use domain::report::{Report, ReportKind};
use serde_json::{Value, json};

async fn report_of(handler: &str, bodies: &[Value]) -> (Ended, Report) {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut sandbox = Sandbox::new(node(handler), Some(&queue), Options::default()).await;
    let ended = sandbox.invoke(&batch(bodies)).await;
    (ended, queue.report().await)
}

#[tokio::test]
async fn a_thrown_error_is_reported_with_type_message_and_stack() {
    let (ended, report) = report_of("app.handle", &[json!({"do": "raise", "id": "A-1001"}), json!({"do": "ok"})]).await;
    assert!(matches!(ended, Ended::Posted(Posted::Error(_))), "{ended:?}");
    let error = report.error.unwrap_or_default();
    assert_eq!(error.error_type.as_deref(), Some("PaymentDeclined"));
    assert_eq!(error.message.as_deref(), Some("order A-1001 was declined"));
    assert!(error.stack.is_some_and(|stack| stack.contains("app.mjs:")));
    let clues: Vec<_> = report.messages.iter().map(|message| message.clue).collect();
    assert_eq!((report.kind, clues), (ReportKind::Error, vec![Some(Clue::Value), None]));
}

#[tokio::test]
async fn returned_messages_are_reported_with_the_lines_about_them() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut sandbox = Sandbox::new(node("app.handle"), Some(&queue), Options::default()).await;
    let report = sandbox.report_with_lines(&batch(&[json!({"do": "ok"}), json!({"do": "return"})]), &queue).await;
    assert_eq!((report.kind, report.messages.len(), report.batch_size), (ReportKind::Partial, 1, Some(2)));
    let error = report.error_of(&report.messages[0]).cloned().unwrap_or_default();
    assert_eq!(error.message.as_deref(), Some("cannot charge m-1"), "{report:?}");
}

#[tokio::test]
async fn a_rejection_that_nobody_awaits_is_reported() {
    let (_, report) = report_of("app.handle", &[json!({"do": "reject"})]).await;
    assert_eq!((report.kind, report.messages.len()), (ReportKind::Error, 1));
    let error = report.error.unwrap_or_default();
    assert_eq!(error.error_type.as_deref(), Some("Runtime.UnhandledPromiseRejection"));
    assert!(error.message.is_some_and(|message| message.contains("nobody awaits this")));
}

#[tokio::test]
async fn a_process_that_ends_is_reported() {
    let (ended, report) = report_of("app.handle", &[json!({"do": "exit"})]).await;
    assert!(matches!(ended, Ended::Exit(_) | Ended::Posted(Posted::Error(_))), "{ended:?}");
    assert!(matches!(report.kind, ReportKind::Crash | ReportKind::Error), "{report:?}");
    assert_eq!(report.messages.len(), 1);
}

#[tokio::test]
async fn a_timeout_is_reported_before_lambda_ends_the_environment() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let options = Options { limit: LIMIT, ..Options::default() };
    let mut sandbox = Sandbox::new(node("app.handle"), Some(&queue), options).await;
    assert_eq!(sandbox.invoke(&batch(&[json!({"do": "sleep"}), json!({"do": "ok"})])).await, Ended::Timeout);
    let report = queue.report().await;
    assert_eq!((report.kind, report.messages.len()), (ReportKind::Timeout, 2));
}

#[tokio::test]
async fn a_process_that_uses_too_much_memory_is_reported_as_such() {
    let (ended, report) = report_of("app.handle", &[json!({"do": "eat"})]).await;
    assert_eq!(ended, Ended::OutOfMemory);
    assert_eq!(report.kind, ReportKind::OutOfMemory);
    assert_eq!(report.error.and_then(|error| error.error_type).as_deref(), Some("Runtime.OutOfMemory"));
}

#[tokio::test]
async fn powertools_errors_come_with_the_lines_that_tell_them() {
    let bodies = [json!({"do": "raise", "id": "A-1001"}), json!({"do": "raise", "id": "A-1002"})];
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut sandbox = Sandbox::new(node("app.powertools"), Some(&queue), Options::default()).await;
    let report = sandbox.report_with_lines(&batch(&bodies), &queue).await;
    let error = report.error.clone().unwrap_or_default();
    assert_eq!(error.error_type.as_deref(), Some("FullBatchFailureError"));
    assert!(!report.logs.is_empty(), "{report:?}");
}
