//! The witness never hurts the consumer, whatever goes wrong. What its own faults do is tried with both runtime clients.

use crate::queue::{Mood, ReportsQueue};
use crate::sandbox::{Ended, Layer, Options, Sandbox, batch, free_port, node, python};
use crate::service::Posted;
use axum::http::StatusCode;
use domain::report::ReportKind;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How a function is started behind a runtime client.
type Runtime = fn(&str) -> Vec<String>;
const RUNTIMES: [Runtime; 2] = [python, node];

async fn sandbox(queue: Option<&ReportsQueue>, options: Options) -> Sandbox {
    behind(python, queue, options).await
}

async fn behind(runtime: Runtime, queue: Option<&ReportsQueue>, options: Options) -> Sandbox {
    Sandbox::new(runtime("app.handle"), queue, options).await
}

fn good() -> Value {
    batch(&[json!({"do": "ok"})])
}

fn bad() -> Value {
    batch(&[json!({"do": "raise"})])
}

/// The address that the function was given for the Runtime API, which it returns where all is well.
fn api(ended: Ended) -> String {
    let Ended::Posted(Posted::Response(response)) = ended else { panic!("{ended:?}") };
    let response: Value = serde_json::from_str(&response).expect("JSON");
    response["api"].as_str().expect("an address").to_owned()
}

#[tokio::test]
async fn with_all_in_order_the_function_is_behind_the_proxy() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    for layer in [Layer::On, Layer::Run] {
        let options = Options { layer, ..Options::default() };
        let proxy = format!("127.0.0.1:{}", options.port);
        let mut sandbox = sandbox(Some(&queue), options).await;
        assert_eq!(api(sandbox.invoke(&good()).await), proxy);
    }
}

#[tokio::test]
async fn without_a_reports_queue_the_function_runs_directly() {
    for layer in [Layer::On, Layer::Run] {
        let mut sandbox = sandbox(None, Options { layer, ..Options::default() }).await;
        assert_eq!(api(sandbox.invoke(&good()).await), sandbox.service.address);
    }
}

#[tokio::test]
async fn with_extensions_switched_off_the_function_runs_directly() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut sandbox = sandbox(Some(&queue), Options { layer: Layer::WrapperOnly, ..Options::default() }).await;
    assert_eq!(api(sandbox.invoke(&good()).await), sandbox.service.address);
}

#[tokio::test]
async fn if_the_port_is_taken_the_function_runs_directly() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    for runtime in RUNTIMES {
        let (stranger, port) = stranger().await;
        let mut sandbox = behind(runtime, Some(&queue), Options { port, ..Options::default() }).await;
        assert_eq!(api(sandbox.invoke(&good()).await), sandbox.service.address);
        sandbox.wait_until_said(&format!("is off: port {port} is taken")).await;
        drop(stranger);
    }
}

#[tokio::test]
async fn if_the_port_is_taken_the_command_run_takes_another() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let (stranger, port) = stranger().await;
    let options = Options { layer: Layer::Run, port, ..Options::default() };
    let mut sandbox = behind(RUNTIMES[0], Some(&queue), options).await;
    assert_ne!(api(sandbox.invoke(&good()).await), sandbox.service.address);
    sandbox.invoke(&bad()).await;
    assert_eq!(queue.report().await.kind, ReportKind::Error);
    drop(stranger);
}

/// Returns a stranger that takes connections and never answers, and its port.
async fn stranger() -> (TcpListener, u16) {
    let stranger = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = stranger.local_addr().expect("an address").port();
    (stranger, port)
}

#[tokio::test]
async fn a_killed_witness_costs_one_attempt() {
    for runtime in RUNTIMES {
        let queue = ReportsQueue::start(Mood::Takes).await;
        let mut sandbox = behind(runtime, Some(&queue), Options::default()).await;
        let proxy = api(sandbox.invoke(&good()).await);
        sandbox.extension.as_mut().expect("it runs").kill().await.expect("it ends");
        // The runtime has lost Lambda, and ends.
        assert!(matches!(sandbox.invoke(&good()).await, Ended::Exit(_)));
        assert_eq!(api(sandbox.invoke(&good()).await), proxy);
        sandbox.invoke(&bad()).await;
        assert_eq!(queue.report().await.kind, ReportKind::Error);
    }
}

#[tokio::test]
async fn a_queue_that_hangs_is_waited_for_once() {
    for runtime in RUNTIMES {
        let queue = ReportsQueue::start(Mood::Hangs).await;
        let mut sandbox = behind(runtime, Some(&queue), Options::default()).await;
        for _ in 0..3 {
            assert!(matches!(sandbox.invoke(&bad()).await, Ended::Posted(Posted::Error(_))));
        }
        assert!(!api(sandbox.invoke(&good()).await).is_empty());
        let said = sandbox.wait_until_said("cannot send reports").await;
        assert_eq!((said.matches("dlo-witness:").count(), queue.calls()), (1, 1), "{said}");
    }
}

#[tokio::test]
async fn an_environment_for_several_invocations_waits_for_nothing() {
    let queue = ReportsQueue::start(Mood::Hangs).await;
    let mut sandbox = sandbox(Some(&queue), Options::default()).await;
    sandbox.set("AWS_LAMBDA_MAX_CONCURRENCY", "4");
    for _ in 0..3 {
        assert!(matches!(sandbox.invoke(&bad()).await, Ended::Posted(Posted::Error(_))));
    }
    assert!(!api(sandbox.invoke(&good()).await).is_empty());
    let said = sandbox.said();
    assert!(!said.contains("did not answer within"), "nothing was held: {said}");
}

#[tokio::test]
async fn what_a_queue_did_not_take_is_sent_when_lambda_ends_the_environment() {
    let queue = ReportsQueue::start(Mood::Fails).await;
    let mut sandbox = sandbox(Some(&queue), Options::default()).await;
    for _ in 0..3 {
        assert!(matches!(sandbox.invoke(&bad()).await, Ended::Posted(Posted::Error(_))));
    }
    sandbox.wait_until_said("cannot send reports").await;
    assert_eq!(queue.calls(), 1);
    queue.turn(Mood::Takes);
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.wait_for(3).await.len(), 3);
}

#[tokio::test]
async fn a_queue_that_denies_is_asked_once() {
    let queue = ReportsQueue::start(Mood::Denies).await;
    let mut sandbox = sandbox(Some(&queue), Options::default()).await;
    for _ in 0..3 {
        assert!(matches!(sandbox.invoke(&bad()).await, Ended::Posted(Posted::Error(_))));
    }
    let said = sandbox.wait_until_said("sqs:SendMessage").await;
    assert_eq!((said.matches("dlo-witness:").count(), queue.calls()), (1, 1), "{said}");
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_asked_once() {
    let mut sandbox = sandbox(None, Options::default()).await;
    sandbox.set("DLO_REPORTS", &format!("http://127.0.0.1:{}/1/reports", free_port()));
    for _ in 0..3 {
        assert!(matches!(sandbox.invoke(&bad()).await, Ended::Posted(Posted::Error(_))));
    }
    let said = sandbox.wait_until_said("cannot be reached").await;
    assert_eq!(said.matches("dlo-witness:").count(), 1, "{said}");
}

#[tokio::test]
async fn without_telemetry_reports_lack_lines_and_nothing_else() {
    for runtime in RUNTIMES {
        let queue = ReportsQueue::start(Mood::Takes).await;
        let options = Options { refuses_telemetry: true, ..Options::default() };
        let mut sandbox = behind(runtime, Some(&queue), options).await;
        sandbox.invoke(&batch(&[json!({"do": "return"}), json!({"do": "ok"})])).await;
        let report = queue.report().await;
        assert_eq!((report.kind, report.messages.len(), report.logs.len()), (ReportKind::Partial, 1, 0));
    }
}

/// Environments that share a network: the tasks of a cluster, or an emulator.
#[tokio::test]
async fn the_proxy_of_another_environment_is_not_used() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    for layer in [Layer::On, Layer::Run] {
        let first = Options { layer, ..Options::default() };
        let second = Options { layer, port: first.port, ..Options::default() };
        let proxy = format!("127.0.0.1:{}", first.port);
        let mut first = sandbox(Some(&queue), first).await;
        assert_eq!(api(first.invoke(&good()).await), proxy);
        let mut second = sandbox(Some(&queue), second).await;
        let its = api(second.invoke(&good()).await);
        // Only the command can choose another port for its proxy.
        assert_eq!(its == second.service.address, layer == Layer::On, "{its}");
        assert_ne!(its, proxy);
        assert_eq!(api(first.invoke(&good()).await), proxy);
    }
}

/// An extension that ends takes the environment with it.
#[tokio::test]
async fn an_extensions_api_that_fails_is_asked_again() {
    for layer in [Layer::On, Layer::Run] {
        let queue = ReportsQueue::start(Mood::Takes).await;
        let options = Options { layer, ..Options::default() };
        let proxy = format!("127.0.0.1:{}", options.port);
        let mut sandbox = sandbox(Some(&queue), options).await;
        let odd = "{\"eventType\":\"ODD\",\"deadlineMs\":-1}";
        let faults = vec![(StatusCode::OK, odd), (StatusCode::OK, "nonsense"), (StatusCode::BAD_GATEWAY, "")];
        sandbox.service.change(|environment| environment.faults = faults);
        assert_eq!(api(sandbox.invoke(&good()).await), proxy);
        sandbox.service.until(|environment| environment.faults.is_empty().then_some(())).await;
        sandbox.invoke(&bad()).await;
        assert_eq!(queue.report().await.kind, ReportKind::Error);
        assert_eq!(api(sandbox.invoke(&good()).await), proxy);
    }
}

#[tokio::test]
async fn events_that_are_not_of_sqs_pass_and_are_not_reported() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut sandbox = sandbox(Some(&queue), Options::default()).await;
    // As large as Lambda allows, less what the response adds.
    let event = json!({"detail": format!("ä{}", "x".repeat(6_000_000)), "source": "aws:sqs"});
    let Ended::Posted(Posted::Response(response)) = sandbox.invoke(&event).await else { panic!("it passes") };
    assert_eq!(serde_json::from_str::<Value>(&response).expect("JSON"), event);
    sandbox.reset("spindown", None).await;
    assert_eq!(queue.calls(), 0);
}

#[tokio::test]
async fn wrong_settings_do_not_stop_the_function() {
    let mut sandbox = sandbox(None, Options::default()).await;
    sandbox.set("DLO_REPORTS", "not a url");
    assert_eq!(api(sandbox.invoke(&good()).await), sandbox.service.address);
    sandbox.wait_until_said("set DLO_REPORTS to the URL").await;
}

#[tokio::test]
async fn without_the_layer_nothing_is_different() {
    let mut without = sandbox(None, Options { layer: Layer::Off, ..Options::default() }).await;
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut with = sandbox(Some(&queue), Options::default()).await;
    for event in [bad(), json!({"no": "records"})] {
        let ended = (without.invoke(&event).await, with.invoke(&event).await);
        assert_eq!(ended.0, ended.1);
    }
}
