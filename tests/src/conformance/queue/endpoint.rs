//! The world of a real endpoint: it creates queues there, and lets time pass by waiting.

use super::{Kind, QueueWorld};
use async_trait::async_trait;
use domain::id::QueueArn;
use domain::time::Span;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::queue::QueueSettings;
use queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Queues at an endpoint that speaks SQS.
pub struct EndpointWorld {
    queue: SqsQueue,
    wait: Span,
}

impl EndpointWorld {
    /// Creates a world at an endpoint.
    pub async fn at(url: &str) -> Self {
        Self { queue: SqsQueue::new(&connect::to_endpoint(url).await), wait: Span::ZERO }
    }

    /// Makes receives wait for messages that the endpoint may return late.
    pub fn with_wait(self, wait: Span) -> Self {
        Self { wait, ..self }
    }
}

/// Returns the settings as attributes of SQS.
fn attributes(kind: Kind, settings: &QueueSettings) -> Vec<(&'static str, String)> {
    let seconds = |span: Span| span.as_secs_up().to_string();
    let mut attributes = vec![
        ("VisibilityTimeout", seconds(settings.visibility_timeout)),
        ("MessageRetentionPeriod", seconds(settings.retention)),
        ("DelaySeconds", seconds(settings.delay)),
        ("MaximumMessageSize", settings.message_bytes_max.to_string()),
    ];
    if let Some(redrive) = &settings.redrive {
        let policy = serde_json::json!({
            "deadLetterTargetArn": redrive.dlq.as_str(), "maxReceiveCount": redrive.receives_max,
        });
        attributes.push(("RedrivePolicy", policy.to_string()));
    }
    if kind == Kind::Fifo {
        attributes.push(("FifoQueue", "true".into()));
        attributes.push(("ContentBasedDeduplication", settings.content_based_deduplication.to_string()));
    }
    attributes
}

#[async_trait]
impl QueueWorld for EndpointWorld {
    fn port(&self) -> &dyn Queue {
        &self.queue
    }

    async fn make(&self, kind: Kind, settings: QueueSettings) -> QueueArn {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let suffix = if kind == Kind::Fifo { ".fifo" } else { "" };
        let name = format!("queue-{}{suffix}", MADE.fetch_add(1, Ordering::Relaxed));
        self.queue.create(&name, &attributes(kind, &settings)).await.expect("the settings are valid")
    }

    async fn advance(&self, span: Span) {
        tokio::time::sleep(Duration::from_millis(span.as_ms().max(0).cast_unsigned())).await;
    }

    fn patience(&self) -> Span {
        Span::from_secs(10)
    }

    fn wait(&self) -> Span {
        self.wait
    }
}
