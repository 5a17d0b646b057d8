//! The queue port over SQS, with what only CloudWatch knows about a queue.

mod age;

use age::Ages;
use async_trait::async_trait;
use aws_config::SdkConfig;
use domain::id::{MessageId, QueueArn};
use domain::time::{Span, Timestamp};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received, sqs};

/// Queue adapter for SQS. Callers name queues by their ARNs; the adapter looks each URL up once.
pub struct SqsQueue {
    sqs: sqs::SqsQueue,
    ages: Option<Ages>,
}

impl SqsQueue {
    /// Creates an adapter that calls SQS with this configuration.
    pub fn new(config: &SdkConfig) -> Self {
        Self { sqs: sqs::SqsQueue::with_config(config), ages: None }
    }

    /// Also asks CloudWatch, for queues of the same account and region as `own`: for the age of a queue's oldest message
    /// (`cloudwatch:GetMetricData`; without that right the counts have to do) and for the alarms that watch it
    /// (`cloudwatch:DescribeAlarmsForMetric`).
    pub fn with_ages(self, config: &SdkConfig, own: QueueArn) -> Self {
        Self { ages: Some(Ages::new(config, own)), ..self }
    }

    /// Creates a queue on a local endpoint, with attributes as SQS names them. On AWS, a stack creates the queues.
    pub async fn create(&self, name: &str, attributes: &[(&str, String)]) -> Result<QueueArn, QueueError> {
        self.sqs.create(name, attributes).await
    }

    /// Returns the ARN of the queue with this URL.
    pub async fn at(&self, url: &str) -> Result<QueueArn, QueueError> {
        self.sqs.at(url).await
    }

    /// Returns the KMS key that encrypts a queue: its id, ARN or alias. `None` if SQS encrypts with a key of its own.
    pub async fn key(&self, queue: &QueueArn) -> Result<Option<String>, QueueError> {
        self.sqs.key(queue).await
    }

    /// Returns the queues that name this one in their redrive policies.
    pub async fn sources(&self, dlq: &QueueArn) -> Result<Vec<QueueArn>, QueueError> {
        self.sqs.sources(dlq).await
    }

    /// Returns the URL of a queue.
    pub async fn url(&self, queue: &QueueArn) -> Result<String, QueueError> {
        self.sqs.url(queue).await
    }
}

#[async_trait]
impl Queue for SqsQueue {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        self.sqs.receive(queue, max, wait, visibility).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        self.sqs.send_batch(queue, messages).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.sqs.delete_batch(queue, receipt_handles).await
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        self.sqs.change_visibility(queue, receipt_handle, visibility).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.sqs.attributes(queue).await
    }

    async fn cleared_before(&self, queue: &QueueArn) -> Result<Option<Timestamp>, QueueError> {
        match &self.ages {
            Some(ages) => Ok(ages.cleared_before(queue).await),
            None => Ok(None),
        }
    }

    async fn alarms(&self, queue: &QueueArn) -> Result<Option<usize>, QueueError> {
        match &self.ages {
            Some(ages) => Ok(ages.alarms(queue).await),
            None => Ok(None),
        }
    }
}
