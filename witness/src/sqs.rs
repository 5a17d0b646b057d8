//! Sends messages to one queue, in SQS's JSON protocol.

use crate::credentials::Credentials;
use crate::http;
use crate::settings::QueueUrl;
use crate::sign::{Signable, sign};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
const TARGET: &str = "AmazonSQS.SendMessageBatch";
/// How long an idle connection is used again. A frozen environment leaves it for longer, and SQS closes it then.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// How much of an answer an error repeats, bytes.
const SHOWN_BYTES_MAX: usize = 300;
/// How SQS names a call that it refuses because of its messages, at any time.
const OF_MESSAGES: [&str; 5] =
    ["InvalidMessageContents", "InvalidParameterValue", "BatchRequestTooLong", "BatchEntryId", "EntriesInBatch"];

/// Where messages are sent.
pub trait Queue: Send + Sync + 'static {
    /// The queue's URL.
    fn url(&self) -> &str;
    /// Sends messages in one call, ten at most.
    fn send(&self, bodies: &[String]) -> impl Future<Output = Result<(), SendError>> + Send;
}

/// A queue of SQS.
pub struct Sqs {
    url: QueueUrl,
    region: String,
    credentials: Credentials,
    connection: Mutex<Option<Connection>>,
}

/// The last connection that nobody uses, and when it was last used.
type Connection = (Instant, SendRequest<Full<Bytes>>);

/// Why messages were not sent. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The function's role gave no credentials.
    #[error("the environment has no AWS credentials; give the function a role")]
    NoCredentials,
    /// No connection, or one that ended too early.
    #[error("the queue's endpoint cannot be reached ({0}); in a VPC, add an endpoint for SQS")]
    Unreachable(String),
    /// No answer yet.
    #[error("the queue's endpoint did not answer within {} ms; in a VPC, add an endpoint for SQS", .0.as_millis())]
    Late(Duration),
    /// Something answered that is not SQS.
    #[error("the queue's endpoint answered {status}, but not as SQS does: {text}; check the URL of the receipts queue")]
    NotSqs {
        /// The status.
        status: u16,
        /// The beginning of the answer.
        text: String,
    },
    /// SQS refused all messages, or some.
    #[error("SQS answered {status}: {text}{}", advice(*.status, .text))]
    Refused {
        /// The status.
        status: u16,
        /// The beginning of the answer.
        text: String,
        /// What may be taken later.
        later: Later,
    },
}

/// Which messages of a call may be taken later, as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Later {
    /// All: the call failed, and not because of them.
    All,
    /// SQS names the messages as the reason, and not which.
    Unknown,
    /// Those at these positions. SQS has taken the others, or never will.
    Only(Vec<usize>),
}

impl SendError {
    /// Splits the messages of a call: returns those that may be taken later.
    pub fn later(&self, bodies: Vec<String>) -> Vec<String> {
        match self {
            Self::Refused { later: Later::Only(positions), .. } => {
                let bodies = bodies.into_iter().enumerate();
                bodies.filter(|(at, _)| positions.contains(at)).map(|(_, body)| body).collect()
            }
            _ => bodies,
        }
    }

    /// Whether the next call would fail, too.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Refused { later: Later::Only(positions), .. } => !positions.is_empty(),
            Self::Refused { later: Later::Unknown, .. } => false,
            _ => true,
        }
    }

    /// Whether SQS refused all messages because of some, without saying which.
    pub fn is_of_unknown(&self) -> bool {
        matches!(self, Self::Refused { later: Later::Unknown, .. })
    }
}

/// Returns what to do about a refusal, where it is known.
fn advice(status: u16, text: &str) -> &'static str {
    match status {
        403 => "; the function's role needs sqs:SendMessage on the queue",
        _ if text.contains("AccessDenied") => "; the function's role needs sqs:SendMessage on the queue",
        404 => "; check the URL of the receipts queue",
        _ if text.contains("NonExistentQueue") || text.contains("QueueDoesNotExist") => {
            "; check the URL of the receipts queue"
        }
        _ => "",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Batch<'a> {
    queue_url: &'a str,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry<'a> {
    id: String,
    message_body: &'a str,
}

/// The part of the answer that matters. SQS leaves an empty list away.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Answer {
    successful: Vec<Taken>,
    failed: Vec<Failed>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Taken {
    id: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Failed {
    id: String,
    code: String,
    message: String,
    sender_fault: bool,
}

impl Queue for Sqs {
    fn url(&self) -> &str {
        &self.url.url
    }

    fn send(&self, bodies: &[String]) -> impl Future<Output = Result<(), SendError>> + Send {
        self.send_all(bodies)
    }
}

impl Sqs {
    /// Returns a queue in the region of its URL, or else in the function's own.
    pub fn new(url: QueueUrl, region: Option<String>, credentials: Credentials) -> Self {
        let region = url.region().map(str::to_owned).or(region).unwrap_or_else(|| "us-east-1".to_owned());
        Self { url, region, credentials, connection: Mutex::new(None) }
    }

    async fn send_all(&self, bodies: &[String]) -> Result<(), SendError> {
        let entries = bodies.iter().enumerate();
        let entries = entries.map(|(at, body)| Entry { id: at.to_string(), message_body: body }).collect();
        let batch = Batch { queue_url: &self.url.url, entries };
        self.call(serde_json::to_vec(&batch).unwrap_or_default().into(), bodies.len()).await
    }

    async fn call(&self, body: Bytes, entries: usize) -> Result<(), SendError> {
        let answer = self.answer(body).await?;
        let status = answer.status();
        let text = http::read(answer.into_body()).await.unwrap_or_default();
        judge(status, &text, entries)
    }

    /// Calls on the connection of the last call where it still stands, or else on a new one.
    async fn answer(&self, body: Bytes) -> Result<Response<Incoming>, SendError> {
        // Taken out, so that a call that hangs keeps no other one waiting.
        let kept = self.connection().take().filter(|(used, sender)| used.elapsed() < IDLE_MAX && !sender.is_closed());
        if let Some((_, mut sender)) = kept
            && sender.ready().await.is_ok()
            && let Ok(answer) = sender.send_request(self.request(body.clone()).await?).await
        {
            *self.connection() = Some((Instant::now(), sender));
            return Ok(answer);
        }
        let unreachable = |error: &dyn std::error::Error| SendError::Unreachable(causes(error));
        let mut sender = http::connect(&self.url).await.map_err(|error| unreachable(&error))?;
        let request = self.request(body).await?;
        let answer = sender.send_request(request).await.map_err(|error| unreachable(&error))?;
        *self.connection() = Some((Instant::now(), sender));
        Ok(answer)
    }

    fn connection(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn request(&self, body: Bytes) -> Result<Request<Full<Bytes>>, SendError> {
        let keys = self.credentials.keys().await.ok_or(SendError::NoCredentials)?;
        let host = self.url.authority();
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let signable = Signable {
            host: &host,
            target: TARGET,
            content_type: CONTENT_TYPE,
            body: &body,
            region: &self.region,
            now_s,
        };
        let signature = sign(&signable, &keys);
        let mut request = Request::post("/")
            .header(header::HOST, &host)
            .header(header::CONTENT_TYPE, CONTENT_TYPE)
            .header("x-amz-target", TARGET)
            .header("x-amz-date", signature.date)
            .header(header::AUTHORIZATION, signature.authorization);
        if let Some(token) = &keys.token {
            request = request.header("x-amz-security-token", token);
        }
        // Fails only if the credentials contain characters that no header may have.
        request.body(Full::new(body)).map_err(|_| SendError::NoCredentials)
    }
}

/// Returns whether an answer says that all entries of a batch were taken. A proxy's sign-in page has status 200, too.
fn judge(status: StatusCode, body: &[u8], entries: usize) -> Result<(), SendError> {
    let shown = |text: &str| domain::text::head(text.trim(), SHOWN_BYTES_MAX).to_owned();
    let text = || shown(&String::from_utf8_lossy(body));
    let status_code = status.as_u16();
    if !status.is_success() {
        let text = text();
        let is_of_messages = OF_MESSAGES.iter().any(|name| text.contains(name));
        let later = if status == StatusCode::BAD_REQUEST && is_of_messages { Later::Unknown } else { Later::All };
        return Err(SendError::Refused { status: status_code, text, later });
    }
    let answer: Answer = serde_json::from_slice(body).unwrap_or_default();
    if let Some(Failed { code, message, .. }) = answer.failed.first() {
        let faults = answer.failed.iter().filter(|failed| failed.sender_fault).map(|failed| failed.id.as_str());
        let over: BTreeSet<&str> = faults.chain(answer.successful.iter().map(|taken| taken.id.as_str())).collect();
        let later = Later::Only((0..entries).filter(|at| !over.contains(at.to_string().as_str())).collect());
        let text = shown(&format!("{code} {message}"));
        return Err(SendError::Refused { status: status_code, text, later });
    }
    if answer.successful.len() != entries {
        return Err(SendError::NotSqs { status: status_code, text: text() });
    }
    Ok(())
}

/// Returns an error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_of_sqs_that_names_every_entry_counts_as_sent() {
        use Later::{All, Only, Unknown};
        let taken = r#"{"Successful":[{"Id":"0"},{"Id":"1"}]}"#;
        let failed = |code: &str, fault: bool| {
            let failed = format!(r#"{{"Id":"1","Code":"{code}","Message":"m","SenderFault":{fault}}}"#);
            format!(r#"{{"Successful":[{{"Id":"0"}}],"Failed":[{failed}]}}"#)
        };
        let refused = |name: &str| format!(r#"{{"__type":"com.amazonaws.sqs#{name}"}}"#);
        // The status, the answer, what the error says, and what may be taken later.
        let rows = [
            (200, taken.to_owned(), "", All),
            (200, r#"{"Successful":[{"Id":"0"},{"Id":"1"}],"Failed":[]}"#.into(), "", All),
            (200, failed("InternalError", false), "SQS answered 200: InternalError m", Only(vec![1])),
            (200, failed("InvalidMessageContents", true), "InvalidMessageContents", Only(vec![])),
            (200, r#"{"Failed":[{"Id":"0","Code":"InternalError"}]}"#.into(), "InternalError", Only(vec![0, 1])),
            (200, r#"{"Successful":[{"Id":"0"}]}"#.into(), "not as SQS does", All),
            (200, "<html>Sign in</html>".into(), "not as SQS does: <html>Sign in</html>", All),
            (200, String::new(), "not as SQS does", All),
            (403, refused("RequestExpired"), "needs sqs:SendMessage", All),
            (302, String::new(), "SQS answered 302", All),
            (400, refused("RequestThrottled"), "SQS answered 400", All),
            (400, refused("QueueDoesNotExist"), "check the URL", All),
            (400, refused("BatchRequestTooLong"), "SQS answered 400", Unknown),
            (429, String::new(), "SQS answered 429", All),
            (503, String::new(), "SQS answered 503", All),
        ];
        let bodies = || vec!["a".to_owned(), "b".to_owned()];
        for (status, body, wanted, later) in rows {
            let judged = judge(StatusCode::from_u16(status).expect("a status"), body.as_bytes(), 2);
            let Err(error) = judged else {
                assert_eq!(wanted, "", "{status} {body}");
                continue;
            };
            let said = error.to_string();
            assert!(!wanted.is_empty() && said.contains(wanted), "{status} {body}: {said}");
            assert_eq!(error.is_outage(), !matches!(later, Unknown) && later != Only(vec![]), "{status} {body}");
            let kept = match later {
                All | Unknown => bodies(),
                Only(positions) => positions.iter().map(|at| bodies()[*at].clone()).collect(),
            };
            assert_eq!(error.later(bodies()), kept, "{status} {body}");
        }
    }
}
