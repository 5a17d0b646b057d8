//! The log of attempts in DynamoDB.

use super::{KEY, TTL, seconds, text};
use crate::attempts::{AGE_MAX, ATTEMPTS_KEPT, Attempt, AttemptLog, LogError};
use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use domain::id::MessageId;

/// The name of the attribute with the attempts: a list of texts, oldest first.
const ATTEMPTS: &str = "attempts";
/// Tells the items of attempts from those of idempotency keys in the same table.
const PREFIX: &str = "attempts of ";
/// Attempts in an item before the oldest are cut off: cutting costs a write, so half of the writes need none. About
/// 12 KB, far below DynamoDB's 400 KB.
const ATTEMPTS_STORED_MAX: usize = 2 * ATTEMPTS_KEPT;

/// The log of attempts on a table with the partition key `key` (string), such as that of
/// [`DynamoStore`](super::DynamoStore). One item per message; one write per failed attempt.
///
/// ```no_run
/// use consumer::ConsumerConfig;
/// use consumer::dynamodb::DynamoAttempts;
/// use std::sync::Arc;
///
/// fn with_a_shared_log(config: ConsumerConfig, client: aws_sdk_dynamodb::Client) -> ConsumerConfig {
///     ConsumerConfig { attempt_log: Arc::new(DynamoAttempts::new(client, "orders-once")), ..config }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct DynamoAttempts {
    client: Client,
    table: String,
}

impl DynamoAttempts {
    /// Returns the log on this table.
    ///
    /// ```no_run
    /// # use consumer::dynamodb::DynamoAttempts;
    /// # fn example(client: aws_sdk_dynamodb::Client) -> DynamoAttempts {
    /// DynamoAttempts::new(client, "orders-once")
    /// # }
    /// ```
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }

    /// Returns the log on this table with a client of its own, from the SDK's shared configuration.
    ///
    /// ```no_run
    /// # use consumer::dynamodb::DynamoAttempts;
    /// # fn example(config: aws_sdk_dynamodb::Config) -> DynamoAttempts {
    /// DynamoAttempts::with_config(config, "orders-once")
    /// # }
    /// ```
    pub fn with_config(config: impl Into<aws_sdk_dynamodb::Config>, table: impl Into<String>) -> Self {
        Self::new(Client::from_conf(config.into()), table)
    }

    /// Cuts off the oldest attempts of a list that has `stored`. Two consumers that do so at once cut only once: the
    /// second one's list has another length.
    async fn trim(&self, key: String, stored: usize) -> Result<(), LogError> {
        // The last first: DynamoDB removes all at once, but MiniStack one after the other, which moves those behind it.
        let oldest: Vec<String> =
            (0..stored.saturating_sub(ATTEMPTS_KEPT)).rev().map(|n| format!("{ATTEMPTS}[{n}]")).collect();
        let request = self.client.update_item().table_name(&self.table).key(KEY, AttributeValue::S(key));
        let request = request
            .update_expression(format!("REMOVE {}", oldest.join(", ")))
            .condition_expression(format!("size({ATTEMPTS}) = :stored"))
            .expression_attribute_values(":stored", AttributeValue::N(stored.to_string()));
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) if super::is_refused(error.as_service_error().and_then(|error| error.meta().code())) => Ok(()),
            Err(error) => Err(LogError::new(error)),
        }
    }
}

fn key(message: &MessageId) -> String {
    format!("{PREFIX}{message}")
}

fn list(attributes: Option<&std::collections::HashMap<String, AttributeValue>>) -> &[AttributeValue] {
    attributes.and_then(|item| item.get(ATTEMPTS)?.as_l().ok()).map_or(&[], Vec::as_slice)
}

#[async_trait]
impl AttemptLog for DynamoAttempts {
    async fn load(&self, message: &MessageId) -> Result<Vec<Attempt>, LogError> {
        let request = self.client.get_item().table_name(&self.table).key(KEY, AttributeValue::S(key(message)));
        let found = request.consistent_read(true).send().await.map_err(LogError::new)?;
        let all = list(found.item());
        let newest = all.iter().skip(all.len().saturating_sub(ATTEMPTS_KEPT));
        let texts = newest.filter_map(|attempt| attempt.as_s().ok());
        texts.map(|json| serde_json::from_str(json).map_err(LogError::new)).collect()
    }

    async fn append(&self, message: &MessageId, attempt: Attempt) -> Result<(), LogError> {
        let json = serde_json::to_string(&attempt).map_err(LogError::new)?;
        let request = self.client.update_item().table_name(&self.table).key(KEY, AttributeValue::S(key(message)));
        let request = request
            .update_expression(format!(
                "SET {ATTEMPTS} = list_append(if_not_exists({ATTEMPTS}, :none), :one), #ttl = :ttl"
            ))
            .expression_attribute_names("#ttl", TTL)
            .expression_attribute_values(":none", AttributeValue::L(Vec::new()))
            .expression_attribute_values(":one", AttributeValue::L(vec![text(&json)]))
            .expression_attribute_values(":ttl", seconds(attempt.at.plus(AGE_MAX)))
            .return_values(ReturnValue::UpdatedNew);
        let written = request.send().await.map_err(LogError::new)?;
        match list(written.attributes()).len() {
            stored if stored > ATTEMPTS_STORED_MAX => self.trim(key(message), stored).await,
            _ => Ok(()),
        }
    }

    async fn forget(&self, message: &MessageId) -> Result<(), LogError> {
        let request = self.client.delete_item().table_name(&self.table).key(KEY, AttributeValue::S(key(message)));
        request.send().await.map(|_| ()).map_err(LogError::new)
    }
}
