//! Python functions behind Amazon's own runtime client: what is reported of each way to fail.

use crate::queue::{Evidence, Mood, ReportsQueue};
use crate::sandbox::{Ended, LIMIT, Layer, Options, Sandbox, batch, python, record};
use crate::service::{ARN, Posted};
use domain::marker::Marker;
use domain::report::clues::Clue;
use domain::report::{Report, ReportKind};
use serde_json::{Value, json};
use std::sync::Arc;

async fn sandbox(handler: &str, options: Options) -> (Arc<ReportsQueue>, Sandbox) {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let sandbox = Sandbox::new(python(handler), Some(&queue), options).await;
    (queue, sandbox)
}

/// Invokes a fresh function with the bodies and returns how that ended and the report.
async fn report_of(layer: Layer, bodies: &[Value]) -> (Ended, Report) {
    let (queue, mut sandbox) = sandbox("app.handle", Options { layer, ..Options::default() }).await;
    let ended = sandbox.invoke(&batch(bodies)).await;
    (ended, queue.report().await)
}

fn ids(report: &Report) -> Vec<&str> {
    report.messages.iter().map(|message| message.id.as_str()).collect()
}

#[tokio::test]
async fn a_thrown_error_is_reported_with_type_message_stack_and_messages() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let Ended::Posted(Posted::Error(error)) = sandbox.invoke(&batch(&[json!({"do": "raise"})])).await else {
        panic!("the error reaches Lambda");
    };
    assert!(error.contains("KeyError"), "{error}");
    let report = queue.report().await;
    assert_eq!(
        (report.kind, report.function.as_str(), report.request_id.as_str()),
        (ReportKind::Error, ARN, "request-1")
    );
    assert_eq!(report.queue, Some("arn:aws:sqs:eu-west-1:111122223333:orders".into()));
    assert_eq!((report.cold, report.batch_size, report.memory_mb), (Some(true), Some(1), Some(128)));
    assert_eq!((report.version.as_deref(), report.log_group.as_deref()), (Some("$LATEST"), Some("/aws/lambda/orders")));
    assert_eq!(report.instance.as_deref(), Some("2026/11/22/[$LATEST]0123456789abcdef"));
    let error = report.error.clone().unwrap_or_default();
    assert_eq!((error.error_type.as_deref(), error.message.as_deref()), (Some("KeyError"), Some("'price'")));
    let stack = error.stack.unwrap_or_default();
    assert!(
        stack.contains("app.py\", line") && stack.contains("in work") && stack.ends_with("KeyError: 'price'"),
        "{stack}"
    );
    assert_eq!((ids(&report), report.messages[0].receives), (vec!["m-0"], Some(2)));
    // A stack says enough: no lines are sent.
    assert_eq!(report.logs, Vec::<String>::new());
    assert!(!queue.bodies()[0].contains("\"do\""), "no body is in it: {}", queue.bodies()[0]);
}

#[tokio::test]
async fn the_message_that_an_error_quotes_is_singled_out() {
    let bodies = [json!({"do": "ok", "id": "A-1001"}), json!({"do": "refuse", "id": "A-1002"})];
    let (_, report) = report_of(Layer::On, &bodies).await;
    let clues: Vec<_> = report.messages.iter().map(|message| message.clue).collect();
    assert_eq!(clues, [None, Some(Clue::Value)]);
}

#[tokio::test]
async fn returned_messages_are_reported_with_the_lines_about_them() {
    let bodies = [json!({"do": "ok"}), json!({"do": "return"}), json!({"do": "return silently"})];
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let report = sandbox.report_with_lines(&batch(&bodies), &queue).await;
    assert_eq!((report.kind, report.batch_size, ids(&report)), (ReportKind::Partial, Some(3), vec!["m-1", "m-2"]));
    let named = report.error_of(&report.messages[0]).and_then(|error| error.message.as_deref());
    assert!(named.is_some_and(|message| message.contains("cannot charge m-1")), "{report:?}");
    assert_eq!((report.messages[0].clue, report.messages[1].clue), (Some(Clue::Named), None));
}

#[tokio::test]
async fn a_success_sends_nothing() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    for _ in 0..3 {
        let ended = sandbox.invoke(&batch(&[json!({"do": "ok"})])).await;
        assert!(matches!(ended, Ended::Posted(Posted::Response(_))), "{ended:?}");
    }
    sandbox.invoke(&batch(&[json!({"do": "raise"})])).await;
    let report = queue.report().await;
    assert_eq!((report.request_id.as_str(), report.cold), ("request-4", Some(false)));
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.calls(), 1);
}

#[tokio::test]
async fn a_large_response_is_a_success_and_a_large_error_an_error() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let ended = sandbox.invoke(&batch(&[json!({"do": "answer much"})])).await;
    assert!(matches!(ended, Ended::Posted(Posted::Response(_))), "{ended:?}");
    sandbox.invoke(&batch(&[json!({"do": "fail much"})])).await;
    let report = queue.report().await;
    // Its body is not read, and this client does not name the type in a header.
    assert_eq!((report.kind, report.request_id.as_str()), (ReportKind::Error, "request-2"));
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.calls(), 1);
}

#[tokio::test]
async fn a_timeout_is_reported_before_lambda_ends_the_environment() {
    let options = Options { limit: LIMIT, ..Options::default() };
    let (queue, mut sandbox) = sandbox("app.handle", options).await;
    assert_eq!(sandbox.invoke(&batch(&[json!({"do": "sleep"}), json!({"do": "ok"})])).await, Ended::Timeout);
    let report = queue.report().await;
    assert_eq!((report.kind, ids(&report)), (ReportKind::Timeout, vec!["m-0", "m-1"]));
    let message = report.error.and_then(|error| error.message).unwrap_or_default();
    assert!(message.starts_with("Task timed out after "), "{message}");
}

#[tokio::test]
async fn a_process_that_ends_is_reported_with_its_last_lines() {
    // `run` sees how its process ended; lines that arrive in time say more.
    for (layer, how, wanted) in [
        (Layer::On, "exit", ["the database is gone", "the database is gone"]),
        (Layer::On, "crash", ["Runtime exited", "Runtime exited"]),
        (Layer::Run, "exit", ["exit status 7", "the database is gone"]),
        (Layer::Run, "crash", ["signal: segmentation fault", "signal: segmentation fault"]),
    ] {
        let (ended, report) = report_of(layer, &[json!({"do": how}), json!({"do": "ok"})]).await;
        assert!(matches!(ended, Ended::Exit(_)), "{ended:?}");
        assert_eq!((report.kind, ids(&report)), (ReportKind::Crash, vec!["m-0", "m-1"]), "{layer:?} {how}");
        let message = report.error.and_then(|error| error.message).unwrap_or_default();
        assert!(wanted.iter().any(|wanted| message.contains(wanted)), "{layer:?} {how}: {message}");
    }
}

#[tokio::test]
async fn a_process_that_uses_too_much_memory_is_reported_as_such() {
    let (ended, report) = report_of(Layer::On, &[json!({"do": "eat"})]).await;
    assert_eq!(ended, Ended::OutOfMemory);
    assert_eq!((report.kind, report.memory_used_mb), (ReportKind::OutOfMemory, Some(128)));
    assert_eq!(report.error.and_then(|error| error.error_type).as_deref(), Some("Runtime.OutOfMemory"));
}

#[tokio::test]
async fn a_response_that_lambda_refuses_is_reported() {
    let (_, report) = report_of(Layer::On, &[json!({"do": "answer too much"})]).await;
    assert_eq!((report.kind, ids(&report)), (ReportKind::Error, vec!["m-0"]));
    assert_eq!(report.error.and_then(|error| error.error_type).as_deref(), Some("Function.ResponseSizeTooLarge"));
}

#[tokio::test]
async fn a_function_that_does_not_start_is_reported_without_messages() {
    const MAIN: &str = "arn:aws:sqs:eu-west-1:111122223333:orders";
    // No event has named the queue yet, so the report does only where people did.
    for (layer, named) in [(Layer::On, None), (Layer::Run, Some(MAIN))] {
        let (queue, mut sandbox) = sandbox("broken.handle", Options { layer, ..Options::default() }).await;
        named.iter().for_each(|arn| sandbox.set("DLO_QUEUE", arn));
        assert!(matches!(sandbox.invoke(&batch(&[json!({"do": "ok"})])).await, Ended::Init(_)));
        let report = queue.report().await;
        assert_eq!((report.kind, report.messages.len(), report.function.as_str()), (ReportKind::Init, 0, "orders"));
        assert_eq!(report.queue.as_ref().map(domain::id::QueueArn::as_str), named);
        let error = report.error.unwrap_or_default();
        assert!(error.error_type.unwrap_or_default().contains("ImportModuleError"), "{:?}", error.message);
    }
}

#[tokio::test]
async fn powertools_errors_are_split_into_records() {
    let (queue, mut sandbox) = sandbox("app.powertools", Options::default()).await;
    let bodies = [json!({"do": "raise", "id": "A-1001"}), json!({"do": "raise", "id": "A-1002"})];
    sandbox.invoke(&batch(&bodies)).await;
    let report = queue.report().await;
    let own: Vec<_> =
        report.messages.iter().map(|message| report.error_of(message).cloned().unwrap_or_default()).collect();
    let messages: Vec<_> = own.iter().map(|error| error.message.as_deref()).collect();
    assert_eq!(messages, [Some("order A-1001 was refused"), Some("order A-1002 was refused")], "{report:?}");
    assert!(own.iter().all(|error| error.error_type.as_deref() == Some("ValueError")));
    assert!(own.iter().all(|error| error.stack.as_deref().is_some_and(|stack| stack.contains("in charge"))));
}

#[tokio::test]
async fn messages_that_powertools_returns_are_reported() {
    let (queue, mut sandbox) = sandbox("app.powertools", Options::default()).await;
    sandbox.invoke(&batch(&[json!({"do": "raise", "id": "A-1001"}), json!({"do": "ok"})])).await;
    let report = queue.report().await;
    assert_eq!((report.kind, report.batch_size, ids(&report)), (ReportKind::Partial, Some(2), vec!["m-0"]));
}

#[tokio::test]
async fn replayed_messages_that_succeed_are_confirmed() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let marker = |letter: char| {
        let (letter, replay) = (letter.to_string().repeat(32), "0".repeat(32));
        Marker { letter: letter.as_str().into(), replay: replay.as_str().into(), attempt: 1, seq: 0 }
    };
    let mut event = batch(&[json!({"do": "ok"}), json!({"do": "return"}), json!({"do": "ok"})]);
    for (at, letter) in [(0, 'a'), (1, 'b')] {
        let attribute = json!({"stringValue": marker(letter).print(), "dataType": "String"});
        event["Records"][at]["messageAttributes"] = json!({"dlo.replay": attribute});
    }
    sandbox.invoke(&event).await;
    // The report of the second message, and a receipt of the first; the third was no replay's.
    let receipts = queue.receipts(2).await;
    assert_eq!(receipts.len(), 1);
    assert_eq!((receipts[0].sending(), receipts[0].message_id.as_str()), (Some(marker('a')), "m-0"));
    assert_eq!((receipts[0].consumer.as_str(), receipts[0].consumer_version.as_str()), ("orders", "$LATEST"));
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.bodies().len(), 2);
}

/// Python writes `NaN`, which is no JSON.
#[tokio::test]
async fn a_response_that_is_no_json_confirms_nothing() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let mut event = batch(&[json!({"do": "ok"}), json!({"do": "answer no number"})]);
    let marker =
        Marker { letter: "a".repeat(32).as_str().into(), replay: "0".repeat(32).as_str().into(), attempt: 1, seq: 0 };
    let attribute = json!({"stringValue": marker.print(), "dataType": "String"});
    event["Records"][0]["messageAttributes"] = json!({"dlo.replay": attribute.clone()});
    event["Records"][1]["messageAttributes"] = json!({"dlo.replay": attribute});
    sandbox.invoke(&event).await;
    let report = queue.report().await;
    let error_type = report.error.as_ref().and_then(|error| error.error_type.as_deref());
    assert_eq!((report.kind, error_type, ids(&report).len()), (ReportKind::Partial, Some("InvalidBatchResponse"), 2));
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.bodies().len(), 1, "no receipts");
}

#[tokio::test]
async fn a_fifo_batch_is_reported_with_its_groups() {
    let (queue, mut sandbox) = sandbox("app.handle", Options::default()).await;
    let mut records =
        [record("m-0", &json!({"do": "return silently"})), record("m-1", &json!({"do": "return silently"}))];
    for record in &mut records {
        record["attributes"]["MessageGroupId"] = json!("customer-7");
        record["eventSourceARN"] = json!("arn:aws:sqs:eu-west-1:111122223333:orders.fifo");
    }
    sandbox.invoke(&json!({"Records": records})).await;
    let report = queue.report().await;
    assert!(report.messages.iter().all(|message| message.group.as_deref() == Some("customer-7")), "{report:?}");
}

#[tokio::test]
async fn a_batch_that_beats_its_time_after_all_is_withdrawn() {
    let options = Options { limit: LIMIT, is_enforced: false, ..Options::default() };
    let (queue, mut sandbox) = sandbox("app.late", options).await;
    let ended = sandbox.invoke(&batch(&[json!({})])).await;
    assert!(matches!(ended, Ended::Posted(Posted::Response(_))), "{ended:?}");
    let kinds: Vec<_> = queue
        .wait_for(2)
        .await
        .into_iter()
        .map(|evidence| match evidence {
            Evidence::Report(report) => (report.kind, report.request_id, report.messages.len()),
            other @ Evidence::Receipt(_) => panic!("{other:?}"),
        })
        .collect();
    let wanted = [ReportKind::Timeout, ReportKind::Withdrawn].map(|kind| (kind, "request-1".to_owned(), 1));
    assert_eq!(kinds, wanted);
}
