//! Idempotency keys and the log of attempts in DynamoDB (feature `dynamodb`).
//!
//! One item per key, one conditional write for its lease and one for its result. The table needs the partition key `key`
//! (string) and, so that items disappear, DynamoDB's time to live on `ttl_s`. Its deletes may be two days late, so every
//! condition compares `expires_at_ms` itself. [`DynamoAttempts`] needs the same table, or another one like it.

mod attempts;

pub use attempts::DynamoAttempts;

use crate::once::{Lease, Leasing, OnceStore, StoreError};
use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ReturnValuesOnConditionCheckFailure,
    ScalarAttributeType,
};
use domain::time::{Span, Timestamp};
use std::collections::HashMap;

/// The partition key's name.
pub const KEY: &str = "key";
/// The name of the attribute for DynamoDB's time to live, seconds.
pub const TTL: &str = "ttl_s";

/// A lease is granted on a free key, on an expired record, and on an ended lease without a result.
const LEASABLE: &str =
    "attribute_not_exists(#key) OR expires_at_ms <= :now OR (attribute_not_exists(#result) AND until_ms <= :now)";

/// A table of idempotency keys.
///
/// ```no_run
/// use consumer::dynamodb::DynamoStore;
/// use consumer::once::Once;
/// use consumer::Span;
/// use std::sync::Arc;
///
/// fn once(client: aws_sdk_dynamodb::Client) -> Once {
///     Once::new(Arc::new(DynamoStore::new(client, "orders-once")), Span::from_secs(30))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct DynamoStore {
    client: Client,
    table: String,
}

impl DynamoStore {
    /// Returns the store on this table. The client must retry lost answers, as the SDK's standard mode does: a lease
    /// whose answer was lost is found as its own.
    ///
    /// ```no_run
    /// # use consumer::dynamodb::DynamoStore;
    /// # fn example(client: aws_sdk_dynamodb::Client) -> DynamoStore {
    /// DynamoStore::new(client, "orders-once")
    /// # }
    /// ```
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }

    /// Returns the store on this table with a client of its own, from the SDK's shared configuration.
    ///
    /// ```no_run
    /// # use consumer::dynamodb::DynamoStore;
    /// # fn example(config: aws_sdk_dynamodb::Config) -> DynamoStore {
    /// DynamoStore::with_config(config, "orders-once")
    /// # }
    /// ```
    pub fn with_config(config: impl Into<aws_sdk_dynamodb::Config>, table: impl Into<String>) -> Self {
        Self::new(Client::from_conf(config.into()), table)
    }

    /// Reads the record that refused a lease. If it has gone meanwhile, the key is about to be free.
    async fn read(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError> {
        let request = self.client.get_item().table_name(&self.table).key(KEY, text(leasing.key)).consistent_read(true);
        let found = request.send().await.map_err(failed)?.item;
        Ok(found.map_or(Lease::InProgress { until: leasing.now }, |item| refused(&item, leasing.token)))
    }

    /// Creates the table, on demand and without time to live: for tests and trials. A deployed table belongs into the
    /// template of its stack; `infra/queues.yaml` has one.
    ///
    /// ```no_run
    /// # async fn example(store: consumer::dynamodb::DynamoStore) -> Result<(), consumer::once::StoreError> {
    /// store.create_table().await?;
    /// # Ok(()) }
    /// ```
    pub async fn create_table(&self) -> Result<(), StoreError> {
        let attribute = AttributeDefinition::builder().attribute_name(KEY).attribute_type(ScalarAttributeType::S);
        let key = KeySchemaElement::builder().attribute_name(KEY).key_type(KeyType::Hash);
        let request = self.client.create_table().table_name(&self.table).billing_mode(BillingMode::PayPerRequest);
        let request = request.attribute_definitions(attribute.build().map_err(StoreError::new)?);
        let request = request.key_schema(key.build().map_err(StoreError::new)?);
        request.send().await.map(|_| ()).map_err(failed)
    }
}

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

fn number(moment: Timestamp) -> AttributeValue {
    AttributeValue::N(moment.as_ms().to_string())
}

fn seconds(moment: Timestamp) -> AttributeValue {
    AttributeValue::N(Span::from_ms(moment.as_ms()).as_secs_up().to_string())
}

/// Reads the record that refused a lease.
fn refused(item: &HashMap<String, AttributeValue>, token: &str) -> Lease {
    let field = |name: &str| item.get(name);
    if let Some(result) = field("result").and_then(|value| value.as_s().ok()) {
        return Lease::Done { result: result.clone() };
    }
    // The lease had taken effect, and its answer was lost.
    if field("token").and_then(|value| value.as_s().ok()).is_some_and(|found| found == token) {
        return Lease::Granted;
    }
    let until = field("until_ms").and_then(|value| value.as_n().ok()).and_then(|ms| ms.parse().ok());
    Lease::InProgress { until: Timestamp::from_ms(until.unwrap_or(i64::MAX)) }
}

fn failed<E: std::error::Error + Send + Sync + 'static>(error: SdkError<E>) -> StoreError
where
    SdkError<E>: std::error::Error + Send + Sync + 'static,
{
    StoreError::new(error)
}

#[async_trait]
impl OnceStore for DynamoStore {
    async fn lease(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError> {
        let request = self.client.put_item().table_name(&self.table).condition_expression(LEASABLE);
        let request = request
            .expression_attribute_names("#key", KEY)
            .expression_attribute_names("#result", "result")
            .expression_attribute_values(":now", number(leasing.now))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .item(KEY, text(leasing.key))
            .item("token", text(leasing.token))
            .item("until_ms", number(leasing.until))
            .item("expires_at_ms", number(leasing.expires_at))
            .item(TTL, seconds(leasing.expires_at));
        let error = match request.send().await {
            Ok(_) => return Ok(Lease::Granted),
            Err(error) => error,
        };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(check)) => match check.item() {
                Some(item) => Ok(refused(item, leasing.token)),
                // An endpoint that does not return the old item.
                None => self.read(leasing).await,
            },
            _ => Err(failed(error)),
        }
    }

    async fn complete(&self, key: &str, token: &str, result: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        let request = self.client.update_item().table_name(&self.table).key(KEY, text(key));
        let request = request
            .condition_expression("#token = :token")
            .update_expression("SET #result = :result, expires_at_ms = :expires_at, #ttl = :ttl")
            .expression_attribute_names("#token", "token")
            .expression_attribute_names("#result", "result")
            .expression_attribute_names("#ttl", TTL)
            .expression_attribute_values(":token", text(token))
            .expression_attribute_values(":result", text(result))
            .expression_attribute_values(":expires_at", number(expires_at))
            .expression_attribute_values(":ttl", seconds(expires_at));
        match request.send().await {
            Ok(_) => Ok(true),
            Err(error) if is_refused(error.as_service_error().and_then(|error| error.meta().code())) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    async fn release(&self, key: &str, token: &str) -> Result<(), StoreError> {
        let request = self.client.delete_item().table_name(&self.table).key(KEY, text(key));
        let request = request
            .condition_expression("#token = :token AND attribute_not_exists(#result)")
            .expression_attribute_names("#token", "token")
            .expression_attribute_names("#result", "result")
            .expression_attribute_values(":token", text(token));
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) if is_refused(error.as_service_error().and_then(|error| error.meta().code())) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

fn is_refused(code: Option<&str>) -> bool {
    code == Some("ConditionalCheckFailedException")
}
