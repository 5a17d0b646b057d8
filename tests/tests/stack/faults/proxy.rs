//! What goes wrong between functions and AWS: a server on loopback that passes every call on to the endpoint, but for
//! those that a test names. They are refused in AWS's own words, cut off, or held until the test lets them go.

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

/// A call of a function, as it came.
#[derive(Clone)]
pub struct Call {
    /// `TransactWriteItems`, `SendMessageBatch`, …
    pub operation: String,
    pub body: String,
    /// The caller's port: its process is at the other end.
    pub port: u16,
    pub at: Instant,
}

/// What happens to a call.
#[derive(Clone, Copy)]
pub enum Fault {
    /// AWS does not do it, and says why.
    Refuse(Refusal),
    /// The connection ends without an answer, and the call was done or not.
    Cut(Moment),
    /// It, or its answer, goes on when the test says so.
    Hold(Moment),
}

/// When it happens: before the call takes effect, or after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    After,
}

/// AWS's words.
#[derive(Clone, Copy)]
pub enum Refusal {
    /// DynamoDB has no room for it.
    Throttled,
    /// DynamoDB: another transaction is at work on a record of this one.
    Conflict,
    /// DynamoDB will not take it, however often it is asked.
    Invalid,
    /// SQS has no room for it.
    SqsThrottled,
    /// CloudWatch does not work.
    Unavailable,
}

/// A call that a fault has struck.
pub struct Struck {
    pub call: Call,
    go: Option<oneshot::Sender<()>>,
}

impl Struck {
    /// Lets a held call go on. One that is dropped is lost: a call that was held before does not take effect.
    pub fn goes_on(mut self) {
        if let Some(go) = self.go.take() {
            let _ = go.send(());
        }
    }
}

/// Faults that wait for their calls, until this is dropped.
pub struct Armed {
    rule: Arc<Rule>,
    shared: Arc<Shared>,
    struck: mpsc::UnboundedReceiver<Struck>,
}

impl Armed {
    /// The next call that is struck.
    pub async fn strikes(&mut self) -> Struck {
        self.struck.recv().await.expect("the rule tells until this is dropped")
    }

    /// Whether a call was struck that was not asked for with [`Armed::strikes`].
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
    is_meant: Box<dyn Fn(&Call) -> bool + Send + Sync>,
    fault: Fault,
    left: Mutex<u32>,
    tell: mpsc::UnboundedSender<Struck>,
}

impl Rule {
    fn takes(&self, call: &Call) -> bool {
        let mut left = locked(&self.left);
        let takes = *left > 0 && (self.is_meant)(call);
        *left -= u32::from(takes);
        takes
    }

    fn strikes(&self, call: &Call) -> oneshot::Receiver<()> {
        let (go, going) = oneshot::channel();
        // The test may have seen enough.
        let _ = self.tell.send(Struck { call: call.clone(), go: Some(go) });
        going
    }
}

/// The server. It ends with the process.
#[derive(Clone)]
pub struct Proxy {
    pub url: String,
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
    /// In front of this endpoint.
    pub async fn start(endpoint: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let (rules, calls) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { endpoint: endpoint.into(), client, rules, calls });
        tokio::spawn(serve(listener, shared.clone()));
        Self { url, shared }
    }

    /// The next calls that are meant, so many, go wrong.
    pub fn arm(&self, fault: Fault, times: u32, is_meant: impl Fn(&Call) -> bool + Send + Sync + 'static) -> Armed {
        let (tell, struck) = mpsc::unbounded_channel();
        let rule = Arc::new(Rule { is_meant: Box::new(is_meant), fault, left: Mutex::new(times), tell });
        locked(&self.shared.rules).push(rule.clone());
        Armed { rule, shared: self.shared.clone(), struck }
    }

    /// The calls so far that are meant, in order.
    pub fn calls(&self, is_meant: impl Fn(&Call) -> bool) -> Vec<Call> {
        locked(&self.shared.calls).iter().filter(|call| is_meant(call)).cloned().collect()
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
        // In a task of its own: what was on its way arrives, though its sender has died.
        let answer = tokio::spawn(answer(shared.clone(), port, request));
        async move { answer.await.unwrap_or(Err(CutOff)) }
    });
    // A caller that dies in the middle of a call is what this is for.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answers).await;
}

/// No answer: the server drops the connection.
#[derive(Debug)]
struct CutOff;

impl std::fmt::Display for CutOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut off, as the test wants it")
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
        port,
        at: Instant::now(),
    };
    let rule = locked(&shared.rules).iter().find(|rule| rule.takes(&call)).cloned();
    locked(&shared.calls).push(call.clone());
    let pass = || pass(&shared, head.method.clone(), &head.uri, &head.headers, body.clone());
    let Some(rule) = rule else { return pass().await };
    match rule.fault {
        Fault::Refuse(refusal) => {
            rule.strikes(&call);
            Ok(refusal.answer(&call))
        }
        Fault::Cut(moment) => {
            if moment == Moment::After {
                pass().await?;
            }
            rule.strikes(&call);
            Err(CutOff)
        }
        Fault::Hold(Moment::Before) => match rule.strikes(&call).await {
            Ok(()) => pass().await,
            Err(_) => Err(CutOff),
        },
        Fault::Hold(Moment::After) => {
            let answer = pass().await?;
            rule.strikes(&call).await.map_err(|_| CutOff)?;
            Ok(answer)
        }
    }
}

/// As JSON services say it in a header, and the ones that speak CBOR in the path.
fn operation(headers: &HeaderMap, uri: &Uri) -> String {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let (named, separator) = target.map_or((uri.path(), '/'), |target| (target, '.'));
    named.rsplit(separator).next().unwrap_or_default().to_owned()
}

async fn pass(shared: &Shared, method: Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Answer {
    let url = format!("{}{uri}", shared.endpoint);
    let mut asked = shared.client.request(method, url).body(body);
    for (name, value) in headers.iter().filter(|(name, _)| !matches!(name.as_str(), "host" | "content-length")) {
        asked = asked.header(name, value);
    }
    let answer = asked.send().await.map_err(|_| CutOff)?;
    let mut made = Response::builder().status(answer.status());
    for (name, value) in answer.headers().iter().filter(|(name, _)| *name != "transfer-encoding") {
        made = made.header(name, value);
    }
    made.body(Full::new(answer.bytes().await.map_err(|_| CutOff)?)).map_err(|_| CutOff)
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

/// A reason for each action; the last is the one that met another.
fn conflict(call: &Call) -> serde_json::Value {
    let asked: serde_json::Value = serde_json::from_str(&call.body).unwrap_or_default();
    let count = asked["TransactItems"].as_array().map_or(1, Vec::len);
    let mut reasons = vec![serde_json::json!({ "Code": "None" }); count];
    reasons[count - 1] =
        serde_json::json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" });
    serde_json::json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    })
}

/// The process whose end of a connection of loopback has this port.
pub fn process_at(port: u16) -> Option<u32> {
    let end = format!("0100007F:{port:04X}");
    let connections = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let fields = connections.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours = fields.into_iter().find(|fields| fields.get(1) == Some(&end.as_str()))?;
    let socket = format!("socket:[{}]", ours.get(9)?);
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).find(|pid| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|link| link.to_str() == Some(&socket))
    })
}
