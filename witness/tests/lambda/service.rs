//! Lambda's Runtime, Extensions and Telemetry APIs for one environment, as the Lambda developer guide describes them.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The function that all environments run.
pub const ARN: &str = "arn:aws:lambda:eu-west-1:111122223333:function:orders";
/// The deadline of every wait: generous, because a test fails by it only if something never happens.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The largest response that Lambda takes: 6 MB and a little.
const RESPONSE_BYTES_MAX: usize = 6 * 1024 * 1024 + 100;

/// An invocation that the runtime has not answered.
#[derive(Clone)]
pub struct Invocation {
    pub id: String,
    pub event: Bytes,
    pub deadline_ms: u128,
}

/// What the runtime posted.
#[derive(Clone, Debug, PartialEq)]
pub enum Posted {
    Response(String),
    Error(String),
}

#[derive(Default)]
pub struct Environment {
    pub queued: Option<Invocation>,
    pub running: Option<Invocation>,
    pub posted: Option<Posted>,
    pub init_error: Option<String>,
    /// Whether the runtime waits for an invocation.
    pub is_ready: bool,
    pub is_registered: bool,
    /// Whether the extension has asked for an event: its start is over.
    pub is_following: bool,
    pub shutdown: Option<&'static str>,
    pub refuses_telemetry: bool,
    pub telemetry: Option<String>,
    /// What the next questions of an extension for an event are answered with, in place of an event.
    pub faults: Vec<(StatusCode, &'static str)>,
}

pub struct Service {
    pub address: String,
    environment: Mutex<Environment>,
    changed: Notify,
}

impl Service {
    pub async fn start(refuses_telemetry: bool) -> Arc<Self> {
        // The client of `deliver` has no provider of its own where the whole workspace is built at once. An error
        // says that another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let environment = Mutex::new(Environment { refuses_telemetry, ..Environment::default() });
        let service = Arc::new(Self { address, environment, changed: Notify::new() });
        let runtime = "/2018-06-01/runtime";
        let router = Router::new()
            .route(&format!("{runtime}/invocation/next"), get(next))
            .route(&format!("{runtime}/invocation/{{id}}/response"), post(response))
            .route(&format!("{runtime}/invocation/{{id}}/error"), post(error))
            .route(&format!("{runtime}/init/error"), post(init_error))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(event))
            .route("/2022-07-01/telemetry", put(telemetry))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Arc::clone(&service));
        tokio::spawn(async move { axum::serve(listener, router).await });
        service
    }

    pub fn change<T>(&self, change: impl FnOnce(&mut Environment) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_waiters();
        result
    }

    fn lock(&self) -> MutexGuard<'_, Environment> {
        self.environment.lock().expect("no test panics with it")
    }

    /// Waits until a question about the environment has an answer.
    pub async fn until<T>(&self, question: impl Fn(&mut Environment) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(answer) = question(&mut self.lock()) {
                return answer;
            }
            changed.await;
        }
    }

    /// Delivers an event of the Telemetry API, if anybody subscribed.
    pub async fn deliver(&self, kind: &str, record: Value) {
        let Some(url) = self.lock().telemetry.clone() else { return };
        let events = json!([{"time": "2026-11-22T10:00:00.000Z", "type": kind, "record": record}]);
        // A subscriber that was killed is no fault of ours.
        let _ = reqwest::Client::new().post(url).body(events.to_string()).send().await;
    }
}

pub fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_millis()
}

async fn next(State(service): State<Arc<Service>>) -> impl IntoResponse {
    service.change(|environment| environment.is_ready = true);
    let invocation = service
        .until(|environment| {
            // Lambda invokes a function when its extensions have started, too.
            if environment.is_registered && !environment.is_following {
                return None;
            }
            let queued = environment.queued.take()?;
            environment.running = Some(queued.clone());
            environment.is_ready = false;
            Some(queued)
        })
        .await;
    service.deliver("platform.start", json!({"requestId": invocation.id, "version": "$LATEST"})).await;
    let headers = [
        ("lambda-runtime-aws-request-id", invocation.id),
        ("lambda-runtime-invoked-function-arn", ARN.to_owned()),
        ("lambda-runtime-deadline-ms", invocation.deadline_ms.to_string()),
        ("lambda-runtime-trace-id", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let headers =
        headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(&value).expect("a header")));
    (HeaderMap::from_iter(headers), invocation.event)
}

async fn response(State(service): State<Arc<Service>>, Path(id): Path<String>, body: String) -> StatusCode {
    if body.len() > RESPONSE_BYTES_MAX {
        let error = "{\"errorType\":\"Function.ResponseSizeTooLarge\"}".to_owned();
        end(&service, &id, Posted::Error(error));
        return StatusCode::PAYLOAD_TOO_LARGE;
    }
    end(&service, &id, Posted::Response(body))
}

async fn error(State(service): State<Arc<Service>>, Path(id): Path<String>, body: String) -> StatusCode {
    end(&service, &id, Posted::Error(body))
}

fn end(service: &Service, id: &str, posted: Posted) -> StatusCode {
    service.change(|environment| match environment.running.take_if(|running| running.id == id) {
        Some(_) => {
            environment.posted = Some(posted);
            StatusCode::ACCEPTED
        }
        None => StatusCode::BAD_REQUEST,
    })
}

async fn init_error(State(service): State<Arc<Service>>, body: String) -> StatusCode {
    service.change(|environment| environment.init_error = Some(body));
    StatusCode::ACCEPTED
}

async fn register(State(service): State<Arc<Service>>) -> impl IntoResponse {
    service.change(|environment| environment.is_registered = true);
    ([("lambda-extension-identifier", "the-extension")], "{\"functionName\":\"orders\"}")
}

async fn event(State(service): State<Arc<Service>>) -> (StatusCode, String) {
    let fault = service.change(|environment| {
        environment.is_following = true;
        environment.faults.pop()
    });
    if let Some((status, body)) = fault {
        return (status, body.to_owned());
    }
    let reason = service.until(|environment| environment.shutdown).await;
    let deadline_ms = u64::try_from(now_ms() + 2_000).expect("this century");
    let event = json!({"eventType": "SHUTDOWN", "shutdownReason": reason, "deadlineMs": deadline_ms});
    (StatusCode::OK, event.to_string())
}

async fn telemetry(State(service): State<Arc<Service>>, body: String) -> (StatusCode, &'static str) {
    let subscription: Value = serde_json::from_str(&body).expect("a subscription");
    let uri = subscription["destination"]["URI"].as_str().expect("an address").to_owned();
    service.change(|environment| {
        if environment.refuses_telemetry {
            return (StatusCode::INTERNAL_SERVER_ERROR, "{}");
        }
        // Lambda's name for the environment itself.
        environment.telemetry = Some(uri.replace("sandbox.localdomain", "127.0.0.1"));
        (StatusCode::OK, "\"OK\"")
    })
}
