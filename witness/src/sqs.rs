//! Sends messages to one queue, in SQS's JSON protocol.

use crate::credentials::Credentials;
use crate::http;
use crate::settings::QueueUrl;
use crate::sign::{Signable, sign};
use domain::limits::BATCH_ENTRIES_MAX;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response, header};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
const TARGET: &str = "AmazonSQS.SendMessageBatch";
/// How long an idle connection is used again. A frozen environment leaves it for longer, and SQS closes it then.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// How much of an answer an error repeats, bytes.
const SHOWN_BYTES_MAX: usize = 300;

/// A queue that messages are sent to.
pub struct Sqs {
    url: QueueUrl,
    region: String,
    credentials: Credentials,
    /// The last connection, and when it was last used.
    connection: Mutex<Option<(Instant, SendRequest<Full<Bytes>>)>>,
}

/// Why messages were not sent. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The function's role gave no credentials.
    #[error("the environment has no AWS credentials; give the function a role")]
    NoCredentials,
    /// No connection, or one that ended too early.
    #[error("the queue's endpoint cannot be reached ({0}); in a VPC, add an endpoint for SQS")]
    Unreachable(String),
    /// SQS refused.
    #[error("SQS answered {status}: {text}; the function's role needs sqs:SendMessage on the queue")]
    Refused {
        /// The status.
        status: u16,
        /// The beginning of the answer.
        text: String,
    },
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

/// The part of the answer that matters.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Answer {
    failed: Vec<Failed>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Failed {
    code: String,
    message: String,
}

impl Sqs {
    /// Returns a queue in the region of its URL, or else in the function's own.
    pub fn new(url: QueueUrl, region: Option<String>, credentials: Credentials) -> Self {
        let region = url.region().map(str::to_owned).or(region).unwrap_or_else(|| "us-east-1".to_owned());
        Self { url, region, credentials, connection: Mutex::new(None) }
    }

    /// The queue's URL.
    pub fn url(&self) -> &str {
        &self.url.url
    }

    /// Sends messages in calls of ten. Stops at the first call that fails: the others would, too.
    pub async fn send(&self, bodies: &[String]) -> Result<(), SendError> {
        for bodies in bodies.chunks(BATCH_ENTRIES_MAX) {
            let entries = bodies.iter().enumerate();
            let entries = entries.map(|(at, body)| Entry { id: at.to_string(), message_body: body }).collect();
            let batch = Batch { queue_url: &self.url.url, entries };
            self.call(serde_json::to_vec(&batch).unwrap_or_default().into()).await?;
        }
        Ok(())
    }

    async fn call(&self, body: Bytes) -> Result<(), SendError> {
        let answer = self.answer(body).await?;
        let status = answer.status();
        let text = http::read(answer.into_body()).await.unwrap_or_default();
        if !status.is_success() {
            let text = String::from_utf8_lossy(&text);
            let text = domain::text::head(text.trim(), SHOWN_BYTES_MAX).to_owned();
            return Err(SendError::Refused { status: status.as_u16(), text });
        }
        let answer: Answer = serde_json::from_slice(&text).unwrap_or_default();
        match answer.failed.first() {
            None => Ok(()),
            Some(Failed { code, message }) => {
                Err(SendError::Refused { status: status.as_u16(), text: format!("{code} {message}") })
            }
        }
    }

    /// Calls on the connection of the last call where it still stands, or else on a new one.
    async fn answer(&self, body: Bytes) -> Result<Response<Incoming>, SendError> {
        let mut connection = self.connection.lock().await;
        let kept = connection.take().filter(|(used, sender)| used.elapsed() < IDLE_MAX && !sender.is_closed());
        if let Some((_, mut sender)) = kept
            && sender.ready().await.is_ok()
            && let Ok(answer) = sender.send_request(self.request(body.clone()).await?).await
        {
            *connection = Some((Instant::now(), sender));
            return Ok(answer);
        }
        let unreachable = |error: &dyn std::error::Error| SendError::Unreachable(causes(error));
        let mut sender = http::connect(&self.url).await.map_err(|error| unreachable(&error))?;
        let request = self.request(body).await?;
        let answer = sender.send_request(request).await.map_err(|error| unreachable(&error))?;
        *connection = Some((Instant::now(), sender));
        Ok(answer)
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
