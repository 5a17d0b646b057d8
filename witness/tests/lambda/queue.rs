//! The receipts queue: an endpoint that speaks SQS's JSON protocol, and can be out of order.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use domain::replay::Receipt;
use domain::report::Report;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::service::PATIENCE;

/// What arrives on the receipts queue.
#[derive(Debug)]
pub enum Evidence {
    Report(Box<Report>),
    Receipt(Receipt),
}

impl Evidence {
    fn parse(text: &str) -> Option<Self> {
        Report::parse(text).map(Box::new).map(Self::Report).or_else(|| Receipt::parse(text).map(Self::Receipt))
    }
}

/// How the queue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Takes,
    Denies,
    Hangs,
    /// Is out of order.
    Fails,
}

pub struct ReportsQueue {
    pub url: String,
    mood: Mutex<Mood>,
    calls: Mutex<usize>,
    bodies: Mutex<Vec<String>>,
    changed: Notify,
}

impl ReportsQueue {
    pub async fn start(mood: Mood) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/111122223333/reports", listener.local_addr().expect("an address"));
        let queue = Arc::new(Self {
            url,
            mood: Mutex::new(mood),
            calls: Mutex::default(),
            bodies: Mutex::default(),
            changed: Notify::new(),
        });
        let router = Router::new().route("/", post(send)).fallback(count).with_state(Arc::clone(&queue));
        tokio::spawn(async move { axum::serve(listener, router).await });
        queue
    }

    /// Answers otherwise from now on.
    pub fn turn(&self, mood: Mood) {
        *self.mood.lock().expect("no test panics with it") = mood;
    }

    pub fn calls(&self) -> usize {
        *self.calls.lock().expect("no test panics with it")
    }

    pub fn bodies(&self) -> Vec<String> {
        self.bodies.lock().expect("no test panics with it").clone()
    }

    /// Waits for so many messages, and returns all that came.
    pub async fn wait_for(&self, count: usize) -> Vec<Evidence> {
        let waited = async {
            loop {
                let changed = self.changed.notified();
                let bodies = self.bodies();
                if bodies.len() >= count {
                    return bodies;
                }
                changed.await;
            }
        };
        let bodies = timeout(PATIENCE, waited).await.unwrap_or_else(|_| panic!("only {:?}", self.bodies()));
        bodies.iter().map(|body| Evidence::parse(body).unwrap_or_else(|| panic!("not evidence: {body}"))).collect()
    }

    /// Waits for the only report.
    pub async fn report(&self) -> Report {
        let mut evidence = self.wait_for(1).await;
        assert_eq!(evidence.len(), 1, "{evidence:?}");
        match evidence.remove(0) {
            Evidence::Report(report) => *report,
            Evidence::Receipt(receipt) => panic!("a receipt: {receipt:?}"),
        }
    }

    /// Waits for so many receipts.
    pub async fn receipts(&self, count: usize) -> Vec<Receipt> {
        let evidence = self.wait_for(count).await.into_iter();
        evidence
            .filter_map(|evidence| match evidence {
                Evidence::Receipt(receipt) => Some(receipt),
                Evidence::Report(_) => None,
            })
            .collect()
    }
}

/// The number of messages, for a function that waits for one.
async fn count(State(queue): State<Arc<ReportsQueue>>) -> String {
    queue.bodies().len().to_string()
}

async fn send(State(queue): State<Arc<ReportsQueue>>, headers: HeaderMap, body: Bytes) -> (StatusCode, String) {
    *queue.calls.lock().expect("no test panics with it") += 1;
    let mood = *queue.mood.lock().expect("no test panics with it");
    match mood {
        Mood::Takes => {}
        Mood::Denies => return (StatusCode::FORBIDDEN, json!({"__type": "AccessDenied"}).to_string()),
        Mood::Hangs => std::future::pending().await,
        Mood::Fails => return (StatusCode::SERVICE_UNAVAILABLE, "later".to_owned()),
    }
    let authorization = headers["authorization"].to_str().expect("text");
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{authorization}");
    assert_eq!(headers["x-amz-security-token"], "a-token");
    let batch: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(batch["QueueUrl"], queue.url);
    if headers["x-amz-target"] == "AmazonSQS.SendMessage" {
        let body = batch["MessageBody"].as_str().expect("a body");
        let md5 = Md5::digest(body).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        queue.bodies.lock().expect("no test panics with it").push(body.to_owned());
        queue.changed.notify_waiters();
        return (StatusCode::OK, json!({"MessageId": "m", "MD5OfMessageBody": md5}).to_string());
    }
    assert_eq!(headers["x-amz-target"], "AmazonSQS.SendMessageBatch");
    let entries = batch["Entries"].as_array().expect("entries");
    assert!((1..=10).contains(&entries.len()));
    let taken = entries.iter().map(|entry| entry["MessageBody"].as_str().expect("a body").to_owned());
    queue.bodies.lock().expect("no test panics with it").extend(taken);
    queue.changed.notify_waiters();
    let successful: Vec<Value> = entries.iter().map(|entry| json!({"Id": entry["Id"]})).collect();
    (StatusCode::OK, json!({"Successful": successful, "Failed": []}).to_string())
}
