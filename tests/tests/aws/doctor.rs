//! `dlo doctor` where a right is missing or nothing answers. A front passes calls on to LocalStack, and denies some.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dlo_tests::endpoint::{Endpoint, new_name};
use domain::doctor::{Check, Checkup};
use domain::id::QueueArn;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::doctor;
use local::http;
use office::error::chain;
use reqwest::Client;
use serde_json::json;
use std::sync::LazyLock;
use tokio::net::TcpListener;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::localstack);

/// What a front denies: an action, and a text in its request.
type Denied = (&'static str, String);

/// Starts a front. Returns its URL.
async fn denying(denied: Denied) -> String {
    let client = http::client().no_proxy().build().expect("a client");
    let front = Router::new().fallback(answer).with_state((client, denied));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, front).await });
    url
}

async fn answer(State((client, denied)): State<(Client, Denied)>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default().to_owned();
    if target.ends_with(denied.0) && String::from_utf8_lossy(&body).contains(&denied.1) {
        let reason = json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "message": "no right" });
        return (StatusCode::BAD_REQUEST, reason.to_string()).into_response();
    }
    let mut call = client.post(&ENDPOINT.url).body(body);
    for name in ["x-amz-target", "content-type", "authorization"] {
        call = headers.get(name).into_iter().fold(call, |call, value| call.header(name, value));
    }
    let answer = call.send().await.expect("LocalStack");
    let status = StatusCode::from_u16(answer.status().as_u16()).expect("a status");
    let headers = [("content-type", "application/x-amz-json-1.0")];
    (status, headers, answer.bytes().await.expect("LocalStack")).into_response()
}

/// Creates a main queue with a dead-letter queue. Returns both.
async fn queues() -> (QueueArn, QueueArn) {
    connect::provide_tls();
    let queue = SqsQueue::new(&connect::to_endpoint(&ENDPOINT.url).await);
    let name = new_name("examined");
    let dlq = queue.create(&format!("{name}-dlq"), &[]).await.expect("a queue");
    let redrive = json!({ "deadLetterTargetArn": dlq, "maxReceiveCount": 5 }).to_string();
    (queue.create(&name, &[("RedrivePolicy", redrive)]).await.expect("a queue"), dlq)
}

/// Examines a queue at an endpoint. Returns the results and the report.
async fn examined(endpoint: &str, queue: &QueueArn) -> (Vec<Checkup>, String) {
    let aws = connect::to_endpoint(endpoint).await;
    let url = SqsQueue::new(&connect::to_endpoint(&ENDPOINT.url).await).url(queue).await.expect("a URL");
    let checkups = doctor::run(&aws, &url).await.expect("a result");
    let report = doctor::report(&checkups);
    (checkups, report)
}

#[tokio::test]
async fn a_queue_of_unknown_kind_is_not_said_to_lack_a_dead_letter_queue() {
    let (main, dlq) = queues().await;
    let front = denying(("ListDeadLetterSourceQueues", String::new())).await;
    let (checkups, report) = examined(&front, &dlq).await;
    assert!(checkups.iter().all(|checkup| checkup.findings.is_empty()), "{report}");
    assert!(checkups[0].unchecked.iter().any(|unchecked| unchecked.check == Check::DeadLetterQueue), "{report}");
    let wanted = format!(
        "{} -> dead-letter queue not checked\n  Nothing is wrong in what was checked.\n  Not checked: Cannot tell whether {0} \
         is a dead-letter queue: no permission to read which queues name it (sqs:ListDeadLetterSourceQueues).\n",
        dlq.name()
    );
    assert!(report.starts_with(&wanted), "{report}");

    // A redrive policy is known, whatever names the queue.
    let (_, report) = examined(&front, &main).await;
    assert!(report.starts_with(&format!("{} -> {}\n", main.name(), dlq.name())), "{report}");
    let unknown = format!("  Not checked: Cannot tell whether {} is a dead-letter queue: ", main.name());
    assert_eq!(report.matches(&unknown).count(), 1, "{report}");
}

#[tokio::test]
async fn a_dead_letter_queue_is_known_though_its_main_queue_may_not_be_read() {
    let (main, dlq) = queues().await;
    let front = denying(("GetQueueAttributes", format!("/{}\"", main.name()))).await;
    let (checkups, report) = examined(&front, &dlq).await;
    assert_eq!(checkups.iter().map(|checkup| &checkup.queue).collect::<Vec<_>>(), [&main], "{report}");
    assert!(report.starts_with(&format!("{} -> dead-letter queue not checked\n", main.name())), "{report}");
    let reason =
        format!("Not checked: No permission to read the settings of {} (sqs:GetQueueAttributes).", main.name());
    assert!(report.contains(&reason), "{report}");
}

#[tokio::test]
async fn without_an_answer_nothing_was_changed() {
    connect::provide_tls();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    // Nothing accepts connections there any more.
    drop(listener);
    let aws = connect::to_endpoint(&endpoint).await;
    let error = doctor::run(&aws, &format!("{endpoint}/000000000000/orders")).await.expect_err("nothing answers");
    let error = chain(&error);
    assert!(error.contains("could not be read; nothing was changed"), "{error}");
    assert!(!error.contains("may have taken effect") && !error.contains(" { "), "{error}");
}
