//! The queue on AWS: SQS.
//!
//! A send is never repeated by the SDK: an answer that was lost is the caller's to judge, because the messages may
//! have gone out (the port's `Unanswered`). Only a send that SQS says it has not looked at is tried again.

mod convert;
mod refusal;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, MessageSystemAttributeName, QueueAttributeName, SendMessageBatchResultEntry,
};
use domain::id::{MessageId, QueueArn};
use domain::time::Span;
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use refusal::{Throttled, failure, refusal};
use std::collections::HashMap;
use std::sync::Mutex;

/// Tries of a send that SQS has no room for.
const SENDS_MAX: u32 = 5;

/// SQS. Queues are named by their ARN; their addresses are asked for once.
pub struct SqsQueue {
    client: Client,
    urls: Mutex<HashMap<QueueArn, String>>,
}

impl SqsQueue {
    /// Over SQS as it is reached by this configuration.
    pub fn new(config: &SdkConfig) -> Self {
        Self { client: Client::new(config), urls: Mutex::default() }
    }

    /// Makes a queue with attributes in SQS's own words, for endpoints on one machine; on AWS a stack makes it.
    pub async fn create(&self, name: &str, attributes: &[(&str, String)]) -> Result<QueueArn, QueueError> {
        let queue = QueueArn::from(name);
        let mut asked = self.client.create_queue().queue_name(name);
        for (attribute, value) in attributes {
            asked = asked.attributes(QueueAttributeName::from(*attribute), value);
        }
        let made = asked.send().await.map_err(|error| refusal(&queue, error))?;
        self.at(&made.queue_url.unwrap_or_default()).await
    }

    /// The queue at an address.
    pub async fn at(&self, url: &str) -> Result<QueueArn, QueueError> {
        let queue = QueueArn::from(url);
        let asked = self.client.get_queue_attributes().queue_url(url);
        let about = asked.attribute_names(QueueAttributeName::QueueArn).send().await;
        let about = about.map_err(|error| refusal(&queue, error))?;
        let arn = about.attributes.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
        let arn = arn.map(QueueArn::new).ok_or_else(|| convert::senseless(&queue, "it gave no ARN"))?;
        if let Ok(mut urls) = self.urls.lock() {
            urls.insert(arn.clone(), url.to_owned());
        }
        Ok(arn)
    }

    /// The queues whose redrive policies name this one.
    pub async fn sources(&self, dlq: &QueueArn) -> Result<Vec<QueueArn>, QueueError> {
        let asked = self.client.list_dead_letter_source_queues().queue_url(self.url(dlq).await?);
        let answer = asked.send().await.map_err(|error| refusal(dlq, error))?;
        let mut sources = Vec::with_capacity(answer.queue_urls.len());
        for url in answer.queue_urls {
            sources.push(self.at(&url).await?);
        }
        Ok(sources)
    }

    /// The address of a queue.
    pub async fn url(&self, queue: &QueueArn) -> Result<String, QueueError> {
        if let Some(url) = self.urls.lock().ok().and_then(|urls| urls.get(queue).cloned()) {
            return Ok(url);
        }
        let owner = queue.as_str().rsplit(':').nth(1).filter(|account| !account.is_empty());
        let asked =
            self.client.get_queue_url().queue_name(queue.name()).set_queue_owner_aws_account_id(owner.map(Into::into));
        let url = asked.send().await.map_err(|error| refusal(queue, error))?.queue_url;
        let url = url.ok_or_else(|| convert::senseless(queue, "it gave no address"))?;
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
        let asked = self.client.receive_message().queue_url(self.url(queue).await?);
        let asked = asked.max_number_of_messages(i32::try_from(max).unwrap_or(i32::MAX));
        let asked = asked.wait_time_seconds(seconds(wait)).set_visibility_timeout(visibility.map(seconds));
        let asked =
            asked.message_attribute_names("All").message_system_attribute_names(MessageSystemAttributeName::All);
        let answer = asked.send().await.map_err(|error| refusal(queue, error))?;
        let messages = answer.messages.unwrap_or_default().into_iter();
        messages.map(|message| convert::received(queue, message)).collect()
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let url = self.url(queue).await?;
        let entries = messages.iter().enumerate().map(|(at, message)| convert::entry(queue, at, message));
        let entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        let once = aws_sdk_sqs::config::Config::builder().retry_config(RetryConfig::disabled());
        let mut tries = 0;
        let answer = loop {
            let asked = self.client.send_message_batch().queue_url(&url).set_entries(Some(entries.clone()));
            match asked.customize().config_override(once.clone()).send().await {
                Ok(answer) => break answer,
                Err(error) if tries < SENDS_MAX && Throttled::is(&error) => super::retry::back_off(tries).await,
                Err(error) => return Err(refusal(queue, error)),
            }
            tries += 1;
        };
        let sent = |done: &SendMessageBatchResultEntry| (done.id.clone(), Ok(MessageId::new(&done.message_id)));
        let results = answer.successful.iter().map(sent).chain(answer.failed.iter().map(failure));
        in_order(queue, messages.len(), results.collect())
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        let entry = |(at, handle): (usize, &String)| {
            DeleteMessageBatchRequestEntry::builder().id(at.to_string()).receipt_handle(handle).build()
        };
        let entries: Result<Vec<_>, _> = receipt_handles.iter().enumerate().map(entry).collect();
        let entries = entries.map_err(|error| convert::senseless(queue, &error.to_string()))?;
        let asked = self.client.delete_message_batch().queue_url(self.url(queue).await?).set_entries(Some(entries));
        let answer = asked.send().await.map_err(|error| refusal(queue, error))?;
        let deleted = answer.successful.iter().map(|done| (done.id.clone(), Ok(())));
        in_order(queue, receipt_handles.len(), deleted.chain(answer.failed.iter().map(failure)).collect())
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        let asked = self.client.change_message_visibility().queue_url(self.url(queue).await?);
        let asked = asked.receipt_handle(receipt_handle).visibility_timeout(seconds(visibility));
        asked.send().await.map_err(|error| refusal(queue, error))?;
        Ok(())
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        let asked = self.client.get_queue_attributes().queue_url(self.url(queue).await?);
        let answer = asked.attribute_names(QueueAttributeName::All).send().await;
        let answer = answer.map_err(|error| refusal(queue, error))?;
        convert::attributes(queue, &answer.attributes.unwrap_or_default())
    }
}

/// Whole seconds as SQS takes them. Spans below zero stay below, for SQS to refuse.
fn seconds(span: Span) -> i32 {
    let whole = if span < Span::ZERO { span.as_ms().div_euclid(1000) } else { span.as_secs_up() };
    i32::try_from(whole).unwrap_or(i32::MAX)
}

/// Results by their entries' ids, which are their places in the batch.
fn in_order<T>(
    queue: &QueueArn,
    count: usize,
    mut results: HashMap<String, Result<T, EntryFailure>>,
) -> Result<Vec<Result<T, EntryFailure>>, QueueError> {
    let result = |at: usize| {
        results.remove(&at.to_string()).ok_or_else(|| convert::senseless(queue, "a message of a batch has no result"))
    };
    (0..count).map(result).collect()
}
