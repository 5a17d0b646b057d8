//! The extension: Lambda starts it beside the function and tells it when the environment ends.

use crate::credentials::Credentials;
use crate::http;
use crate::logs::Logs;
use crate::outbox::Outbox;
use crate::proxy::Proxy;
use crate::settings::{self, Settings};
use crate::sqs::Sqs;
use crate::telemetry;
use crate::voice::say;
use crate::watch::Watch;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::{Method, Request, StatusCode, header};
use serde::Deserialize;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The extension's name: Lambda requires the name of its file in `/opt/extensions`.
pub const NAME: &str = "dlo-witness";
/// What an extension of its own process is told. Without `INVOKE`, no invocation ever waits for it.
const EXTERNAL: &str = r#"{"events":["SHUTDOWN"]}"#;
/// What the process of the runtime may ask for: only external extensions are told of the end.
const INTERNAL: &str = r#"{"events":["INVOKE"]}"#;
/// The time that is left of a shutdown when everything ends. Lambda kills what is still running.
const SHUTDOWN_SPARES: Duration = Duration::from_millis(200);
/// The time that Lambda gives an external extension at the end.
const SHUTDOWN: Duration = Duration::from_millis(2_000);
/// The pause after a question for the next event that failed.
const NEXT_PAUSE: Duration = Duration::from_millis(100);
/// How long `run` waits for Lambda to accept an extension. Emulators may not know the question.
const REGISTER_MAX: Duration = Duration::from_secs(2);

/// What the parts of a running witness share.
pub struct Witness {
    /// What is known of the invocations.
    pub watch: Arc<Watch>,
    logs: Arc<Logs>,
    settings: Settings,
}

/// An event of the Extensions API.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(default)]
    event_type: String,
    #[serde(default)]
    shutdown_reason: String,
    /// `null` or a number.
    #[serde(default)]
    deadline_ms: serde_json::Value,
}

impl Witness {
    /// Puts the parts together. Without a receipts queue nothing is watched, and nothing sent.
    pub fn new(settings: Settings) -> Self {
        let queue = settings.reports.clone();
        let sqs = queue.map(|url| Sqs::new(url, settings.region.clone(), Credentials::read(settings::of_process)));
        let logs = Arc::new(Logs::new(settings.is_concurrent));
        let watch = Watch::new(settings.clone(), Outbox::new(sqs), Arc::clone(&logs));
        Self { watch, logs, settings }
    }

    /// Starts the proxy at an address. Returns the address with its port, or `None` if the port is taken.
    pub async fn serve(&self, at: SocketAddr) -> Option<SocketAddr> {
        let listener = TcpListener::bind(at).await.ok()?;
        let at = listener.local_addr().ok()?;
        let proxy = Proxy::new(self.settings.upstream.clone(), Arc::clone(&self.watch));
        tokio::spawn(proxy.serve(listener));
        Some(at)
    }
}

/// Runs as an external extension until the environment ends.
pub async fn run(settings: Settings) -> ExitCode {
    let is_on = settings.reports.is_some();
    if !is_on {
        say("is off: set DLO_REPORTS to the URL of the receipts queue");
    }
    let witness = Witness::new(settings);
    // The port first: the wrapper looks for it as soon as all extensions are registered.
    let serves = is_on && witness.serve(witness.settings.proxy()).await.is_some();
    if is_on && !serves {
        say(&format!("is off: port {} is taken; set DLO_WITNESS_PORT to another", witness.settings.port));
    }
    match follow(&witness, EXTERNAL, serves).await {
        Some(()) => ExitCode::SUCCESS,
        None => {
            say("is off: Lambda does not accept it as an extension");
            ExitCode::FAILURE
        }
    }
}

/// Registers from the runtime's own process, for the log lines only. Leaves it where Lambda does not agree.
pub async fn follow_internally(witness: &Witness) {
    let _ = follow(witness, INTERNAL, true).await;
}

/// Registers, subscribes to log lines, and waits for the end. Returns `None` if the Extensions API does not work.
async fn follow(witness: &Witness, events: &'static str, wants_lines: bool) -> Option<()> {
    let upstream = &witness.settings.upstream;
    let Some((mut api, id)) = register(upstream, events).await else {
        witness.logs.switch_off();
        return None;
    };
    if wants_lines {
        let subscribed = timeout(REGISTER_MAX, subscribe(&mut api, upstream, &id, &witness.logs)).await;
        // Without lines, reports still have type, message and stack.
        if subscribed.ok().flatten().is_none() {
            witness.logs.switch_off();
        }
    }
    loop {
        let Some(event) = next(&mut api, upstream, &id).await else {
            // An extension that ends, or does not ask again, ends the environment or stops its invocations.
            tokio::time::sleep(NEXT_PAUSE).await;
            if let Some(again) = connect(upstream).await {
                api = again;
            }
            continue;
        };
        if event.event_type == "SHUTDOWN" {
            let limit =
                time_until(event.deadline_ms.as_u64().unwrap_or(0)).min(SHUTDOWN).saturating_sub(SHUTDOWN_SPARES);
            witness.watch.shut_down(&event.shutdown_reason, limit).await;
            return Some(());
        }
    }
}

/// Registers at Lambda itself: the proxy is for the runtime. Returns the connection and the extension's identifier.
async fn register(upstream: &str, events: &'static str) -> Option<(SendRequest<Full<Bytes>>, String)> {
    let mut api = connect(upstream).await?;
    let register = Request::builder()
        .method(Method::POST)
        .uri("/2020-01-01/extension/register")
        .header(header::HOST, upstream)
        .header("Lambda-Extension-Name", NAME)
        .body(Full::new(Bytes::from_static(events.as_bytes())))
        .ok()?;
    let answer = timeout(REGISTER_MAX, api.send_request(register)).await.ok()?.ok()?;
    let id = answer.headers().get("lambda-extension-identifier")?.to_str().ok()?.to_owned();
    if answer.status() != StatusCode::OK {
        return None;
    }
    let _ = http::read(answer.into_body()).await;
    Some((api, id))
}

async fn connect(upstream: &str) -> Option<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(upstream).await.ok()?;
    http::handshake(stream).await.ok()
}

async fn subscribe(api: &mut SendRequest<Full<Bytes>>, upstream: &str, id: &str, logs: &Arc<Logs>) -> Option<()> {
    let address = telemetry::receive(Arc::clone(logs)).await?;
    // The shortest buffering that Lambda allows: a report waits for these lines.
    let body = format!(
        r#"{{"schemaVersion":"2022-12-13","types":["platform","function"],"buffering":{{"maxItems":1000,"maxBytes":262144,"timeoutMs":25}},"destination":{{"protocol":"HTTP","URI":"{address}"}}}}"#
    );
    let request = Request::builder()
        .method(Method::PUT)
        .uri("/2022-07-01/telemetry")
        .header(header::HOST, upstream)
        .header(header::CONTENT_TYPE, "application/json")
        .header("Lambda-Extension-Identifier", id)
        .body(Full::new(Bytes::from(body)))
        .ok()?;
    api.ready().await.ok()?;
    let answer = api.send_request(request).await.ok()?;
    let is_accepted = answer.status().is_success();
    let _ = http::read(answer.into_body()).await;
    is_accepted.then_some(())
}

async fn next(api: &mut SendRequest<Full<Bytes>>, upstream: &str, id: &str) -> Option<Event> {
    let request = Request::builder()
        .uri("/2020-01-01/extension/event/next")
        .header(header::HOST, upstream)
        .header("Lambda-Extension-Identifier", id)
        .body(Full::new(Bytes::new()))
        .ok()?;
    if api.ready().await.is_err() {
        *api = connect(upstream).await?;
    }
    let answer = api.send_request(request).await.ok()?;
    let is_event = answer.status().is_success();
    let body = http::read(answer.into_body()).await?;
    serde_json::from_slice(&body).ok().filter(|_| is_event)
}

fn time_until(deadline_ms: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Without a deadline, Lambda's usual time.
    if deadline_ms == 0 { SHUTDOWN } else { Duration::from_millis(deadline_ms).saturating_sub(now) }
}
