//! A proxy between the functions and the endpoint. It forwards every call except those that a test selects, which it
//! refuses as AWS does, cuts off, or holds until the test releases them.

use dlo_tests::processes::Process;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// A function's call as the proxy received it.
#[derive(Clone)]
pub struct Call {
    /// `TransactWriteItems`, `SendMessageBatch`, …
    pub operation: String,
    pub body: String,
    /// The body as it was sent: CloudWatch's is CBOR.
    pub raw: Bytes,
    /// `GET`, `PUT`, …
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// The function that calls, if its settings name it ([`super::calls::APP`]).
    pub function: Option<String>,
    /// The service as the signature names it: `dynamodb`, `sqs`, …
    pub service: String,
    /// The caller's port, which identifies its process.
    port: u16,
    pub at: Instant,
}

/// What happens to a call.
#[derive(Clone, Copy)]
pub enum Fault {
    /// The call fails with an error of AWS and has no effect.
    Refuse(Refusal),
    /// The connection ends without an answer.
    Cut(Moment),
    /// The call or its answer waits until the test releases it.
    Hold(Moment),
}

/// Whether the fault comes before or after the call takes effect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    After,
}

/// An error of AWS.
#[derive(Clone, Copy)]
pub enum Refusal {
    /// DynamoDB: `ThrottlingException`.
    Throttled,
    /// DynamoDB: another transaction writes one of the records.
    Conflict,
    /// DynamoDB: `ValidationException`, which no retry changes.
    Invalid,
    /// SQS: `RequestThrottled`.
    SqsThrottled,
    /// CloudWatch: 503.
    Unavailable,
}

/// A call that met its fault.
pub struct Struck {
    pub call: Call,
    go: Option<oneshot::Sender<()>>,
}

impl Struck {
    /// Releases a held call. Dropping this instead loses the call: one held before it takes effect never does.
    pub fn release(mut self) {
        if let Some(go) = self.go.take() {
            let _ = go.send(());
        }
    }
}

/// A fault that waits for its calls until this is dropped.
pub struct Armed {
    rule: Arc<Rule>,
    shared: Arc<Shared>,
    struck: mpsc::UnboundedReceiver<Struck>,
}

impl Armed {
    /// Waits for the next call that meets the fault.
    pub async fn strikes(&mut self) -> Struck {
        self.struck.recv().await.expect("the rule lives until this is dropped")
    }

    /// Returns whether a call met the fault that [`Armed::strikes`] has not returned yet.
    pub fn has_struck(&mut self) -> bool {
        self.struck.try_recv().is_ok()
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        locked(&self.shared.rules).retain(|rule| !Arc::ptr_eq(rule, &self.rule));
    }
}

struct Rule {
    is_selected: Box<dyn Fn(&Call) -> bool + Send + Sync>,
    fault: Fault,
    remaining: Mutex<u32>,
    report: mpsc::UnboundedSender<Struck>,
}

impl Rule {
    fn applies(&self, call: &Call) -> bool {
        let mut remaining = locked(&self.remaining);
        let applies = *remaining > 0 && (self.is_selected)(call);
        *remaining -= u32::from(applies);
        applies
    }

    fn strikes(&self, call: &Call) -> oneshot::Receiver<()> {
        let (go, going) = oneshot::channel();
        // The test may no longer listen.
        let _ = self.report.send(Struck { call: call.clone(), go: Some(go) });
        going
    }
}

/// The proxy. It runs until the process ends.
#[derive(Clone)]
pub struct Proxy {
    pub url: String,
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: String,
    client: reqwest::Client,
    rules: Mutex<Vec<Arc<Rule>>>,
    calls: Mutex<Vec<Call>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Starts a proxy in front of an endpoint.
    pub async fn start(endpoint: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let client = local::http::client().no_proxy().build().expect("a client");
        let (rules, calls) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { endpoint: endpoint.into(), client, rules, calls });
        tokio::spawn(serve(listener, shared.clone()));
        Self { url: format!("http://{address}"), port: address.port(), shared }
    }

    /// Makes the next `times` selected calls meet a fault.
    pub fn arm(&self, fault: Fault, times: u32, is_selected: impl Fn(&Call) -> bool + Send + Sync + 'static) -> Armed {
        let (report, struck) = mpsc::unbounded_channel();
        let rule = Arc::new(Rule { is_selected: Box::new(is_selected), fault, remaining: Mutex::new(times), report });
        locked(&self.shared.rules).push(rule.clone());
        Armed { rule, shared: self.shared.clone(), struck }
    }

    /// Returns the process of this test run that holds the calling end of a call's connection.
    pub fn caller(&self, call: &Call) -> Option<Process> {
        Process::at_connection(call.port, self.port)
    }

    /// Returns the selected calls so far, in order.
    pub fn calls(&self, is_selected: impl Fn(&Call) -> bool) -> Vec<Call> {
        locked(&self.shared.calls).iter().filter(|call| is_selected(call)).cloned().collect()
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(connection(stream, shared.clone()));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(port) = stream.peer_addr().map(|peer| peer.port()) else { return };
    let answers = service_fn(|request| {
        // In a task of its own: a call on its way arrives even if its sender dies.
        let answer = tokio::spawn(answer(shared.clone(), port, request));
        async move { answer.await.unwrap_or(Err(CutOff)) }
    });
    // Callers are expected to die in the middle of a call.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answers).await;
}

/// No answer: the server drops the connection.
#[derive(Debug)]
struct CutOff;

impl std::fmt::Display for CutOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the test cut the connection")
    }
}

impl std::error::Error for CutOff {}

type Answer = Result<Response<Full<Bytes>>, CutOff>;

async fn answer(shared: Arc<Shared>, port: u16, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| CutOff)?.to_bytes();
    let call = Call {
        operation: operation(&head.headers, &head.uri),
        body: String::from_utf8_lossy(&body).into_owned(),
        raw: body.clone(),
        method: head.method.clone(),
        uri: head.uri.clone(),
        function: super::calls::function(&head.headers),
        service: super::calls::service(&head.headers),
        port,
        at: Instant::now(),
    };
    let rule = locked(&shared.rules).iter().find(|rule| rule.applies(&call)).cloned();
    locked(&shared.calls).push(call.clone());
    let forward = || forward(&shared, head.method.clone(), &head.uri, &head.headers, body.clone());
    let Some(rule) = rule else { return forward().await };
    match rule.fault {
        Fault::Refuse(refusal) => {
            rule.strikes(&call);
            Ok(refusal.answer(&call))
        }
        Fault::Cut(moment) => {
            if moment == Moment::After {
                forward().await?;
            }
            rule.strikes(&call);
            Err(CutOff)
        }
        Fault::Hold(Moment::Before) => match rule.strikes(&call).await {
            Ok(()) => forward().await,
            Err(_) => Err(CutOff),
        },
        Fault::Hold(Moment::After) => {
            let answer = forward().await?;
            rule.strikes(&call).await.map_err(|_| CutOff)?;
            Ok(answer)
        }
    }
}

/// Returns the operation: JSON services name it in a header, CBOR services in the path.
fn operation(headers: &HeaderMap, uri: &Uri) -> String {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let (text, separator) = target.map_or((uri.path(), '/'), |target| (target, '.'));
    text.rsplit(separator).next().unwrap_or_default().to_owned()
}

async fn forward(shared: &Shared, method: Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Answer {
    let url = format!("{}{uri}", shared.endpoint);
    let mut request = shared.client.request(method, url).body(body);
    for (name, value) in headers.iter().filter(|(name, _)| !matches!(name.as_str(), "host" | "content-length")) {
        request = request.header(name, value);
    }
    let answer = request.send().await.map_err(|_| CutOff)?;
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers().iter().filter(|(name, _)| *name != "transfer-encoding") {
        response = response.header(name, value);
    }
    response.body(Full::new(answer.bytes().await.map_err(|_| CutOff)?)).map_err(|_| CutOff)
}

impl Refusal {
    fn answer(self, call: &Call) -> Response<Full<Bytes>> {
        let json = |body: serde_json::Value| {
            (StatusCode::BAD_REQUEST, "application/x-amz-json-1.0", Bytes::from(body.to_string()))
        };
        let (status, kind, body) = match self {
            Self::Throttled => json(serde_json::json!({
                "__type": "com.amazon.coral.availability#ThrottlingException", "message": "Rate exceeded",
            })),
            Self::Conflict => json(conflict(call)),
            Self::Invalid => json(serde_json::json!({
                "__type": "com.amazon.coral.validate#ValidationException",
                "message": "Item size has exceeded the maximum allowed size",
            })),
            Self::SqsThrottled => json(serde_json::json!({
                "__type": "com.amazonaws.sqs#RequestThrottled", "message": "Rate exceeded",
            })),
            // An empty map in CBOR.
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "application/cbor", Bytes::from_static(&[0xa0])),
        };
        let answer = Response::builder().status(status).header("content-type", kind);
        answer.body(Full::new(body)).expect("a well-formed answer")
    }
}

/// A reason for each action of the transaction; the last action is the one in conflict.
fn conflict(call: &Call) -> serde_json::Value {
    let request: serde_json::Value = serde_json::from_str(&call.body).unwrap_or_default();
    let count = request["TransactItems"].as_array().map_or(1, Vec::len);
    let mut reasons = vec![serde_json::json!({ "Code": "None" }); count];
    reasons[count - 1] =
        serde_json::json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" });
    serde_json::json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    })
}
