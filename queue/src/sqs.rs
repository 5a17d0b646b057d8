//! The queue port over SQS (feature `sqs`).
//!
//! The SDK never retries a send. If the response is lost, SQS may have accepted the messages, so the adapter returns
//! [`QueueError::Unanswered`] and lets the caller decide. Only a throttled send is retried: SQS did not process it.

mod convert;
mod error;

use crate::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, MessageSystemAttributeName, QueueAttributeName, SendMessageBatchResultEntry,
};
use convert::seconds;
use domain::id::{MessageId, QueueArn};
use domain::time::Span;
use error::{entry_failure, is_throttled, queue_error};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Retries of a throttled send.
const RETRIES_MAX: u32 = 5;
/// The longest wait after the first throttled send, milliseconds. It doubles with each retry.
const BACKOFF_MS: u64 = 10;
/// The longest wait after any throttled send, milliseconds.
const BACKOFF_MS_MAX: u64 = 1_000;
/// The time limit for opening a connection of a [separate](Queue::separate) queue, if the client has none: the SDK's default.
const CONNECT_MAX: Duration = Duration::from_millis(3_100);

/// SQS. Callers name queues by their ARNs; the adapter looks each URL up once.
///
/// The role needs `sqs:GetQueueUrl`, `sqs:GetQueueAttributes`, `sqs:ReceiveMessage`, `sqs:DeleteMessage` and
/// `sqs:ChangeMessageVisibility` on the main queue, and `sqs:GetQueueUrl` and `sqs:SendMessage` where it sends.
///
/// ```no_run
/// use queue::{Queue, QueueError, sqs::SqsQueue};
///
/// async fn waiting(config: aws_sdk_sqs::Config) -> Result<u64, QueueError> {
///     let orders = "arn:aws:sqs:eu-west-1:111122223333:orders".into();
///     Ok(SqsQueue::with_config(config).attributes(&orders).await?.visible_count)
/// }
/// ```
pub struct SqsQueue {
    client: Client,
    urls: Mutex<HashMap<QueueArn, String>>,
}

impl SqsQueue {
    /// Calls SQS through this client. Its time limit per attempt must be longer than the wait of a receive, which SQS
    /// allows to be 20 s.
    ///
    /// ```no_run
    /// # use queue::sqs::SqsQueue;
    /// # fn example(client: aws_sdk_sqs::Client) -> SqsQueue {
    /// SqsQueue::new(client)
    /// # }
    /// ```
    pub fn new(client: Client) -> Self {
        Self { client, urls: Mutex::default() }
    }

    /// Calls SQS with this configuration of the SDK: SQS's own, or a reference to the shared one.
    ///
    /// ```no_run
    /// # use queue::sqs::SqsQueue;
    /// # fn example(config: aws_sdk_sqs::Config) -> SqsQueue {
    /// SqsQueue::with_config(config)
    /// # }
    /// ```
    pub fn with_config(config: impl Into<aws_sdk_sqs::Config>) -> Self {
        Self::new(Client::from_conf(config.into()))
    }

    /// Creates a queue on a local endpoint, with attributes as SQS names them. On AWS, a stack creates the queues.
    pub async fn create(&self, name: &str, attributes: &[(&str, String)]) -> Result<QueueArn, QueueError> {
        let queue = QueueArn::from(name);
        let mut request = self.client.create_queue().queue_name(name);
        for (attribute, value) in attributes {
            request = request.attributes(QueueAttributeName::from(*attribute), value);
        }
        let created = request.send().await.map_err(|error| queue_error(&queue, error))?;
        self.at(&created.queue_url.unwrap_or_default()).await
    }

    /// Returns the ARN of the queue with this URL.
    pub async fn at(&self, url: &str) -> Result<QueueArn, QueueError> {
        let queue = QueueArn::from(url);
        let request = self.client.get_queue_attributes().queue_url(url);
        let response = request.attribute_names(QueueAttributeName::QueueArn).send().await;
        let response = response.map_err(|error| queue_error(&queue, error).of_read())?;
        let arn = response.attributes.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
        let arn = arn.map(QueueArn::new);
        let arn = arn.ok_or_else(|| convert::unexpected(&queue, "SQS returned no ARN").of_read())?;
        if let Ok(mut urls) = self.urls.lock() {
            urls.insert(arn.clone(), url.to_owned());
        }
        Ok(arn)
    }

    /// Returns the KMS key that encrypts a queue: its id, ARN or alias. `None` if SQS encrypts with a key of its own.
    pub async fn key(&self, queue: &QueueArn) -> Result<Option<String>, QueueError> {
        let url = self.url(queue).await.map_err(QueueError::of_read)?;
        let request = self.client.get_queue_attributes().queue_url(url);
        let response = request.attribute_names(QueueAttributeName::KmsMasterKeyId).send().await;
        let attributes = response.map_err(|error| queue_error(queue, error).of_read())?.attributes;
        let key = attributes.and_then(|mut all| all.remove(&QueueAttributeName::KmsMasterKeyId));
        Ok(key.filter(|key| !key.is_empty()))
    }

    /// Returns the queues that name this one in their redrive policies, also those that may not be read themselves.
    pub async fn sources(&self, dlq: &QueueArn) -> Result<Vec<QueueArn>, QueueError> {
        let url = self.url(dlq).await.map_err(QueueError::of_read)?;
        let response = self.client.list_dead_letter_source_queues().queue_url(url).send().await;
        let response = response.map_err(|error| queue_error(dlq, error).of_read())?;
        let mut sources = Vec::with_capacity(response.queue_urls.len());
        for url in response.queue_urls {
            sources.push(match self.at(&url).await {
                Err(QueueError::Denied { .. }) => beside(dlq, &url),
                source => source?,
            });
        }
        Ok(sources)
    }

    /// Returns the URL of a queue.
    pub async fn url(&self, queue: &QueueArn) -> Result<String, QueueError> {
        if let Some(url) = self.urls.lock().ok().and_then(|urls| urls.get(queue).cloned()) {
            return Ok(url);
        }
        let owner = queue.as_str().rsplit(':').nth(1).filter(|account| !account.is_empty());
        let request =
            self.client.get_queue_url().queue_name(queue.name()).set_queue_owner_aws_account_id(owner.map(Into::into));
        let url = request.send().await.map_err(|error| queue_error(queue, error))?.queue_url;
        let url = url.ok_or_else(|| convert::unexpected(queue, "SQS returned no URL"))?;
        if let Ok(mut urls) = self.urls.lock() {
            urls.insert(queue.clone(), url.clone());
        }
        Ok(url)
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
        let request = self.client.receive_message().queue_url(self.url(queue).await?);
        let request = request.max_number_of_messages(i32::try_from(max).unwrap_or(i32::MAX));
        let request = request.wait_time_seconds(seconds(wait)).set_visibility_timeout(visibility.map(seconds));
        let request =
            request.message_attribute_names("All").message_system_attribute_names(MessageSystemAttributeName::All);
        let response = request.send().await.map_err(|error| queue_error(queue, error))?;
        let messages = response.messages.unwrap_or_default().into_iter();
        messages.map(|message| convert::received(queue, message)).collect()
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let url = self.url(queue).await?;
        let entries = messages.iter().enumerate().map(|(index, message)| convert::entry(queue, index, message));
        let entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        let no_retries = aws_sdk_sqs::config::Config::builder().retry_config(RetryConfig::disabled());
        let mut retries = 0;
        let response = loop {
            let request = self.client.send_message_batch().queue_url(&url).set_entries(Some(entries.clone()));
            match request.customize().config_override(no_retries.clone()).send().await {
                Ok(response) => break response,
                Err(error) if retries < RETRIES_MAX && is_throttled(&error) => back_off(retries).await,
                Err(error) => return Err(queue_error(queue, error)),
            }
            retries += 1;
        };
        let sent = |entry: &SendMessageBatchResultEntry| (entry.id.clone(), Ok(MessageId::new(&entry.message_id)));
        let results = response.successful.iter().map(sent).chain(response.failed.iter().map(entry_failure));
        in_order(queue, messages.len(), results.collect())
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        let entry = |(index, handle): (usize, &String)| {
            DeleteMessageBatchRequestEntry::builder().id(index.to_string()).receipt_handle(handle).build()
        };
        let entries: Result<Vec<_>, _> = receipt_handles.iter().enumerate().map(entry).collect();
        let entries = entries.map_err(|error| convert::unexpected(queue, &error.to_string()))?;
        let request = self.client.delete_message_batch().queue_url(self.url(queue).await?).set_entries(Some(entries));
        let response = request.send().await.map_err(|error| queue_error(queue, error))?;
        let deleted = response.successful.iter().map(|entry| (entry.id.clone(), Ok(())));
        in_order(queue, receipt_handles.len(), deleted.chain(response.failed.iter().map(entry_failure)).collect())
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        let request = self.client.change_message_visibility().queue_url(self.url(queue).await?);
        let request = request.receipt_handle(receipt_handle).visibility_timeout(seconds(visibility));
        request.send().await.map_err(|error| queue_error(queue, error))?;
        Ok(())
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        let url = self.url(queue).await.map_err(QueueError::of_read)?;
        let request = self.client.get_queue_attributes().queue_url(url);
        let response = request.attribute_names(QueueAttributeName::All).send().await;
        let response = response.map_err(|error| queue_error(queue, error).of_read())?;
        convert::attributes(queue, &response.attributes.unwrap_or_default()).map_err(QueueError::of_read)
    }

    fn separate(&self) -> Option<Arc<dyn Queue>> {
        let config = self.client.config();
        let timeouts = config.timeout_config().cloned().unwrap_or_else(|| TimeoutConfig::builder().build());
        // An HTTP client of the SDK has a pool of connections for each pair of these limits.
        let connect_max = timeouts.connect_timeout().unwrap_or(CONNECT_MAX) + Duration::from_millis(1);
        let timeouts = timeouts.to_builder().connect_timeout(connect_max).build();
        Some(Arc::new(Self::with_config(config.to_builder().timeout_config(timeouts).build())))
    }
}

/// Returns the ARN of the queue with this URL. SQS allows a redrive policy only within one account and region.
fn beside(dlq: &QueueArn, url: &str) -> QueueArn {
    let account = dlq.as_str().rsplit_once(':').map_or("", |(account, _)| account);
    let name = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    QueueArn::new(format!("{account}:{name}"))
}

/// Sorts the results of a batch by their entries' ids, which are the indexes of the entries.
fn in_order<T>(
    queue: &QueueArn,
    count: usize,
    mut results: HashMap<String, Result<T, EntryFailure>>,
) -> Result<Vec<Result<T, EntryFailure>>, QueueError> {
    let result = |index: usize| {
        let result = results.remove(&index.to_string());
        result.ok_or_else(|| convert::unexpected(queue, "SQS returned no result for a message of a batch"))
    };
    (0..count).map(result).collect()
}

/// Waits before the next attempt: exponential backoff with full jitter.
async fn back_off(retries: u32) {
    let ceiling = BACKOFF_MS.saturating_mul(1 << retries.min(16)).min(BACKOFF_MS_MAX);
    // Without random numbers from the system, waits half of the ceiling: jitter only spreads load.
    let random = getrandom::u64().unwrap_or(u64::MAX / 2);
    let wait_ms = u64::try_from((u128::from(random) * u128::from(ceiling + 1)) >> 64).unwrap_or(ceiling);
    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
}
