//! Searching in CloudWatch Logs: against MiniStack, which signs nothing off but keeps times and groups, and against a
//! server of the test that checks what is asked.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use dlo_tests::endpoint::Endpoint;
use domain::id::MessageId;
use domain::logs::TimeRange;
use domain::time::{Span, Timestamp};
use lambda::connect;
use lambda::logs::CloudWatchLogs;
use local::http::client;
use office::port::{LogQuery, Logged, Logs as _, LogsError};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);
const ID: &str = "11111111-aaaa-4bbb-8ccc-000000000001";

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    Timestamp::from_ms(i64::try_from(since.as_millis()).expect("a time in range"))
}

async fn find(url: &str, source: &str, ranges: &[TimeRange]) -> Result<Logged, LogsError> {
    let ids = [MessageId::from(ID)];
    let logs = CloudWatchLogs::new(&connect::to_endpoint(url).await).expect("a client");
    logs.find(LogQuery { source, ranges, ids: &ids }).await
}

async fn ask(action: &str, body: &Value) {
    connect::provide_tls();
    let request = client().no_proxy().build().expect("a client").post(&ENDPOINT.url);
    let request = request.header("x-amz-target", format!("Logs_20140328.{action}"));
    let request = request.header("content-type", "application/x-amz-json-1.1").body(body.to_string());
    let answer = request.send().await.expect("the endpoint answers");
    assert!(answer.status().is_success(), "{action}: {}", answer.text().await.unwrap_or_default());
}

#[tokio::test]
async fn errors_and_ids_are_found_in_their_time() {
    let (group, stream, now) = ("/aws/lambda/orders-logged", "one", now());
    ask("CreateLogGroup", &json!({ "logGroupName": group })).await;
    ask("CreateLogStream", &json!({ "logGroupName": group, "logStreamName": stream })).await;
    let at = |s: i64| now.minus(Span::from_secs(100 - s));
    let events = json!([
        { "timestamp": at(0).as_ms(), "message": "[ERROR] KeyError: early" },
        { "timestamp": at(20).as_ms(), "message": format!("INFO working on {ID}") },
        { "timestamp": at(21).as_ms(), "message": "INFO all is well" },
        { "timestamp": at(22).as_ms(), "message": "[ERROR] KeyError: 'price'" },
        { "timestamp": at(60).as_ms(), "message": "[ERROR] KeyError: late" },
    ]);
    ask("PutLogEvents", &json!({ "logGroupName": group, "logStreamName": stream, "logEvents": events })).await;
    let found = find(&ENDPOINT.url, group, &[TimeRange { from: at(10), to: at(30) }]).await.expect("the log");
    let texts: Vec<_> = found.lines.iter().map(|line| (line.at, line.text.as_str())).collect();
    let named = format!("INFO working on {ID}");
    assert_eq!(texts, [(at(20), named.as_str()), (at(22), "[ERROR] KeyError: 'price'")]);
    assert!(!found.cut);
    let missing = find(&ENDPOINT.url, "/aws/lambda/none", &[TimeRange { from: at(10), to: at(30) }]).await.unwrap_err();
    assert!(missing.0.starts_with("The log group /aws/lambda/none does not exist."), "{missing}");
}

/// What a server was asked, and what it answers next.
#[derive(Clone, Default)]
struct Script {
    asked: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    answers: Arc<Mutex<VecDeque<(StatusCode, Value)>>>,
}

impl Script {
    async fn serve(answers: impl IntoIterator<Item = (StatusCode, Value)>) -> (Self, String) {
        let script = Self::default();
        script.answers.lock().unwrap().extend(answers);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(answer).with_state(script.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (script, url)
    }
}

async fn answer(State(script): State<Script>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    script.asked.lock().unwrap().push((headers, serde_json::from_str(&body).unwrap_or_default()));
    let (status, answer) = script.answers.lock().unwrap().pop_front().expect("no further call");
    (status, answer.to_string())
}

fn event(text: &str) -> Value {
    json!({ "timestamp": 5, "message": text, "logStreamName": "s", "eventId": "1" })
}

const RANGES: [TimeRange; 2] = [
    TimeRange { from: Timestamp::from_ms(2_000), to: Timestamp::from_ms(3_000) },
    TimeRange { from: Timestamp::from_ms(0), to: Timestamp::from_ms(1_000) },
];

#[tokio::test]
async fn pages_are_followed_even_if_they_are_empty_and_are_signed() {
    let page = |events: &[&str], token: Option<&str>| {
        let events: Vec<_> = events.iter().map(|text| event(text)).collect();
        (StatusCode::OK, json!({ "events": events, "nextToken": token }))
    };
    let answers =
        [page(&[], Some("t1")), page(&["[ERROR] KeyError: a", "fine"], None), page(&["[ERROR] KeyError: b"], None)];
    let (script, url) = Script::serve(answers).await;
    let found = find(&url, "orders", &RANGES).await.expect("the log");
    let texts: Vec<_> = found.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!((texts.as_slice(), found.cut), (&["[ERROR] KeyError: a", "[ERROR] KeyError: b"][..], false));
    let asked = script.asked.lock().unwrap();
    let calls: Vec<_> = asked.iter().map(|(_, body)| (body["startTime"].clone(), body["nextToken"].clone())).collect();
    assert_eq!(calls, [(json!(2_000), Value::Null), (json!(2_000), json!("t1")), (json!(0), Value::Null)]);
    for (headers, body) in asked.iter() {
        let header = |name: &str| headers[name].to_str().expect("a text").to_owned();
        assert_eq!(header("x-amz-target"), "Logs_20140328.FilterLogEvents");
        let signed = header("authorization");
        assert!(signed.contains("/logs/aws4_request") && signed.contains("x-amz-target"), "{signed}");
        assert_eq!(body["logGroupName"], "orders");
    }
}

#[tokio::test]
async fn pages_without_end_are_not_followed_for_ever() {
    let more = || (StatusCode::OK, json!({ "events": [event("[ERROR] KeyError: a")], "nextToken": "t" }));
    let (script, url) = Script::serve((0..8).map(|_| more())).await;
    let found = find(&url, "orders", &RANGES).await.expect("the log");
    assert_eq!((found.lines.len(), found.cut, script.asked.lock().unwrap().len()), (8, true, 8));
}

#[tokio::test]
async fn a_refusal_is_said_and_what_was_found_before_counts() {
    let denied = || (StatusCode::BAD_REQUEST, json!({ "__type": "com.amazon#AccessDeniedException", "message": "no" }));
    let (_, url) = Script::serve([denied()]).await;
    let error = find(&url, "orders", &RANGES).await.unwrap_err();
    assert!(error.0.contains("ConsumerLogGroupArns"), "{error}");
    let found = (StatusCode::OK, json!({ "events": [event("[ERROR] KeyError: a")] }));
    let (_, url) = Script::serve([found, denied()]).await;
    let found = find(&url, "orders", &RANGES).await.expect("the first window");
    assert_eq!((found.lines.len(), found.cut), (1, true));
    let (_, url) = Script::serve([(StatusCode::INTERNAL_SERVER_ERROR, json!({}))]).await;
    assert!(find(&url, "orders", &RANGES).await.is_err());
}
