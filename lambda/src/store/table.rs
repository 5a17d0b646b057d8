//! Calls to the DynamoDB table. They meter their usage, follow pagination, and respect DynamoDB's limits.

use super::bucket::Bucket;
use super::fault::Fault;
use super::item::Item;
use super::key::Key;
use super::meter::Meter;
use crate::retry::back_off;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, CancellationReason, GlobalSecondaryIndex, KeySchemaElement,
    KeyType, KeysAndAttributes, Projection, ProjectionType, ReturnConsumedCapacity, ScalarAttributeType,
    TransactWriteItem,
};
use domain::discard::Closed;
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Keys per `BatchGetItem` call (limit in botocore's service model).
const BATCH_KEYS_MAX: usize = 100;
/// Rounds of a batch read that DynamoDB answers only in part.
const ROUNDS_MAX: u32 = 10;
/// The secondary index.
pub(super) const INDEX: &str = "list";

/// The table, and the bucket beside it.
pub(super) struct Table {
    client: Client,
    name: String,
    pub(super) meter: Meter,
    /// The bucket for large blobs, if one is configured.
    pub(super) bucket: Option<Bucket>,
    kept: RwLock<Kept>,
    /// The clock of the notes of changed groups.
    pub(super) clock: Clock,
}

/// Returns the current time.
pub(super) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(since.as_millis() as i64)
}

/// How long closed letters are kept. `None` keeps them forever.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    pub delivered: Option<Span>,
    pub discarded: Option<Span>,
}

impl Kept {
    /// Returns how long letters are kept that were closed in this way.
    pub(super) fn span_for(self, closed: Closed) -> Option<Span> {
        match closed {
            Closed::Delivered => self.delivered,
            Closed::Discarded => self.discarded,
        }
    }
}

/// A range of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    /// Excludes this position and those before it; if `descending`, this position and those after it.
    pub after: Option<String>,
    /// Starts at this position. Ignored if `after` is set.
    pub from: Option<String>,
    /// Ends at this position. Ignored if `descending`.
    pub to: Option<String>,
    /// Lists the highest position first.
    pub descending: bool,
    /// May lag behind the records by moments, like the index, at half the price.
    pub lagging: bool,
}

/// Why a transaction failed.
pub(super) enum TransactionError {
    /// DynamoDB cancelled the transaction. There is one reason for each action.
    Cancelled(Vec<CancellationReason>),
    /// DynamoDB throttled the transaction.
    Throttled,
    /// Another error. The transaction may have been committed.
    Failed(Fault),
}

impl Table {
    pub(super) fn new(client: Client, name: String) -> Self {
        Self {
            client,
            name,
            meter: Meter::default(),
            bucket: None,
            kept: RwLock::default(),
            clock: Arc::new(system_time),
        }
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Returns how long closed letters are kept.
    pub(super) fn kept(&self) -> Kept {
        *self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets how long letters are kept that are closed from now on.
    pub(super) fn keep(&self, kept: Kept) {
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    pub(super) async fn get(&self, key: &Key) -> Result<Option<Item>, Fault> {
        let request = self.client.get_item().table_name(&self.name).set_key(Some(key.item())).consistent_read(true);
        let response = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let response = response.map_err(|error| Fault::call("get a record", error))?;
        self.meter.read(&response.consumed_capacity);
        Ok(response.item)
    }

    /// Reads the records with these keys, which must differ, in any order. Missing records are omitted. An eventually
    /// consistent read costs half.
    pub(super) async fn get_all(&self, keys: Vec<Key>, consistent: bool) -> Result<Vec<Item>, Fault> {
        let chunks: Vec<Vec<Key>> = keys.chunks(BATCH_KEYS_MAX).map(<[Key]>::to_vec).collect();
        Ok(try_join_all(chunks.into_iter().map(|chunk| self.get_chunk(chunk, consistent))).await?.concat())
    }

    async fn get_chunk(&self, keys: Vec<Key>, consistent: bool) -> Result<Vec<Item>, Fault> {
        let mut wanted: Vec<Item> = keys.iter().map(Key::item).collect();
        let mut found = Vec::with_capacity(wanted.len());
        for round in 0..ROUNDS_MAX {
            let keys = KeysAndAttributes::builder().set_keys(Some(wanted)).consistent_read(consistent).build();
            let keys = keys.map_err(|error| Fault::call("get records", error))?;
            let request = self.client.batch_get_item().request_items(&self.name, keys);
            let response = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
            let response = response.map_err(|error| Fault::call("get records", error))?;
            self.meter.read(response.consumed_capacity());
            found.extend(response.responses.into_iter().flat_map(HashMap::into_values).flatten());
            wanted =
                response.unprocessed_keys.into_iter().flat_map(HashMap::into_values).flat_map(|k| k.keys).collect();
            if wanted.is_empty() {
                return Ok(found);
            }
            back_off(round).await;
        }
        Err(Fault::Unprocessed)
    }

    /// Lists the records of a partition. The read is strongly consistent, unless the range may lag.
    pub(super) async fn list(&self, pk: &str, range: &Range, limit: Option<usize>) -> Result<Vec<Item>, Fault> {
        self.query(None, pk, range, limit).await
    }

    /// Lists a partition of the index, which lags behind the records by moments.
    pub(super) async fn indexed(&self, lp: &str, range: &Range, limit: Option<usize>) -> Result<Vec<Item>, Fault> {
        self.query(Some(INDEX), lp, range, limit).await
    }

    async fn query(
        &self,
        index: Option<&str>,
        partition: &str,
        range: &Range,
        limit: Option<usize>,
    ) -> Result<Vec<Item>, Fault> {
        let (by, position) = if index.is_some() { ("lp", "ls") } else { ("pk", "sk") };
        let mut condition = "#by = :by".to_owned();
        let mut request = self.client.query().table_name(&self.name).set_index_name(index.map(Into::into));
        request = request.expression_attribute_names("#by", by);
        request = request.expression_attribute_values(":by", AttributeValue::S(partition.into()));
        // DynamoDB accepts one condition on the sort key, and BETWEEN includes both bounds. Appending U+0001 excludes
        // `after`.
        let from = range.after.as_ref().map(|after| format!("{after}\u{1}")).or_else(|| range.from.clone());
        let (low, high) = if range.descending { (None, range.after.clone()) } else { (from, range.to.clone()) };
        let bounds = match (&low, &high) {
            (Some(_), Some(_)) => " AND #position BETWEEN :low AND :high",
            (Some(_), None) => " AND #position >= :low",
            (None, Some(_)) => " AND #position < :high",
            (None, None) => "",
        };
        if !bounds.is_empty() {
            condition.push_str(bounds);
            request = request.expression_attribute_names("#position", position);
        }
        for (name, value) in [(":low", low), (":high", high)] {
            if let Some(value) = value {
                request = request.expression_attribute_values(name, AttributeValue::S(value));
            }
        }
        request = request.key_condition_expression(condition).scan_index_forward(!range.descending);
        request = request
            .consistent_read(index.is_none() && !range.lagging)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let mut found = Vec::new();
        loop {
            let remaining = limit.map(|limit| limit.saturating_sub(found.len()) as i32);
            let response = request.clone().set_limit(remaining).send().await;
            let response = response.map_err(|error| Fault::call("list records", error))?;
            self.meter.read(&response.consumed_capacity);
            found.extend(response.items.unwrap_or_default());
            match response.last_evaluated_key {
                Some(last) if limit.is_none_or(|limit| found.len() < limit) => {
                    request = request.set_exclusive_start_key(Some(last));
                }
                _ => return Ok(found),
            }
        }
    }

    /// Writes a record, and replaces any record with the same key.
    pub(super) async fn put(&self, item: Item) -> Result<(), Fault> {
        let request = self.client.put_item().table_name(&self.name).set_item(Some(item));
        let response = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let response = response.map_err(|error| Fault::call("put a record", error))?;
        self.meter.wrote(&response.consumed_capacity);
        Ok(())
    }

    /// Deletes a record. `only_if` names an attribute and its required value. Returns whether the condition held.
    pub(super) async fn delete(&self, key: &Key, only_if: Option<(&str, i64)>) -> Result<bool, Fault> {
        let mut request = self.client.delete_item().table_name(&self.name).set_key(Some(key.item()));
        if let Some((name, number)) = only_if {
            request = request.condition_expression("#n = :n").expression_attribute_names("#n", name);
            request = request.expression_attribute_values(":n", AttributeValue::N(number.to_string()));
        }
        match request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(response) => {
                self.meter.wrote(&response.consumed_capacity);
                Ok(true)
            }
            Err(error)
                if error.as_service_error().is_some_and(|error| error.is_conditional_check_failed_exception()) =>
            {
                Ok(false)
            }
            Err(error) => Err(Fault::call("delete a record", error)),
        }
    }

    /// Performs all actions or none. The SDK gives each call an idempotency token, so that a retried call takes effect
    /// once.
    pub(super) async fn transact(&self, actions: Vec<TransactWriteItem>) -> Result<(), TransactionError> {
        let request = self.client.transact_write_items().set_transact_items(Some(actions));
        match request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(response) => {
                self.meter.wrote(response.consumed_capacity());
                Ok(())
            }
            Err(error) => Err(transaction_error(error)),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Creates the table as `infra/template.yaml` defines it, for local endpoints.
    pub(super) async fn create(&self) -> Result<(), Fault> {
        let invalid = |error| Fault::call("describe the table", error);
        let mut request = self.client.create_table().table_name(&self.name).billing_mode(BillingMode::PayPerRequest);
        for name in ["pk", "sk", "lp", "ls"] {
            let attribute = AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S);
            request = request.attribute_definitions(attribute.build().map_err(invalid)?);
        }
        let schema = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
        let projection = Projection::builder().projection_type(ProjectionType::Include).non_key_attributes("lo");
        let index = GlobalSecondaryIndex::builder()
            .index_name(INDEX)
            .key_schema(schema("lp", KeyType::Hash).map_err(invalid)?)
            .key_schema(schema("ls", KeyType::Range).map_err(invalid)?)
            .projection(projection.build());
        let request = request
            .key_schema(schema("pk", KeyType::Hash).map_err(invalid)?)
            .key_schema(schema("sk", KeyType::Range).map_err(invalid)?)
            .global_secondary_indexes(index.build().map_err(invalid)?);
        request.send().await.map_err(|error| Fault::call("create the table", error))?;
        Ok(())
    }
}

fn transaction_error(error: SdkError<TransactWriteItemsError>) -> TransactionError {
    let throttled = |code: Option<&str>| {
        matches!(
            code,
            Some(
                "ProvisionedThroughputExceededException"
                    | "RequestLimitExceeded"
                    | "ThrottlingException"
                    | "TransactionInProgressException"
            )
        )
    };
    if let SdkError::ServiceError(response) = &error {
        if let TransactWriteItemsError::TransactionCanceledException(cancelled) = response.err() {
            return TransactionError::Cancelled(cancelled.cancellation_reasons().to_vec());
        }
        if throttled(response.err().meta().code()) {
            return TransactionError::Throttled;
        }
        if response.err().meta().code() == Some("ValidationException") {
            return TransactionError::Failed(Fault::rejected(error));
        }
    }
    TransactionError::Failed(Fault::call("write records", error))
}
