//! The table: its calls, each measured, complete, and in bounds.

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
use domain::time::Span;
use futures_util::future::try_join_all;
use std::collections::HashMap;

/// Keys of one BatchGetItem (botocore).
const BATCH_KEYS_MAX: usize = 100;
/// Rounds of a batch of reads that is answered in part.
const ROUNDS_MAX: u32 = 10;
/// The one secondary index.
pub(super) const INDEX: &str = "list";

pub(super) struct Table {
    client: Client,
    name: String,
    pub(super) meter: Meter,
    /// Where large content goes, if there is one.
    pub(super) bucket: Option<Bucket>,
    /// How long delivered letters are kept; none for ever.
    pub(super) delivered_kept: Option<Span>,
}

/// A range of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    /// After this place.
    pub after: Option<String>,
    /// From this place on, where nothing is said about `after`.
    pub from: Option<String>,
    /// Up to this place.
    pub to: Option<String>,
    /// The newest first: then `after` means before.
    pub descending: bool,
}

/// Why a transaction was not done.
pub(super) enum Refused {
    /// It was cancelled; a reason for each of its actions.
    Cancelled(Vec<CancellationReason>),
    /// DynamoDB had no room for it.
    Throttled,
    /// Something else; whether it was done is not known.
    Failed(Fault),
}

impl Table {
    pub(super) fn new(client: Client, name: String) -> Self {
        Self { client, name, meter: Meter::default(), bucket: None, delivered_kept: None }
    }

    pub(super) async fn get(&self, key: &Key) -> Result<Option<Item>, Fault> {
        let asked = self.client.get_item().table_name(&self.name).set_key(Some(key.item())).consistent_read(true);
        let answer = asked.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let answer = answer.map_err(|error| Fault::call("get a record", error))?;
        self.meter.read(&answer.consumed_capacity);
        Ok(answer.item)
    }

    /// The records of these different keys, in no order; those that do not exist are left out. A read that need not
    /// be consistent costs half.
    pub(super) async fn get_all(&self, keys: Vec<Key>, consistent: bool) -> Result<Vec<Item>, Fault> {
        let chunks: Vec<Vec<Key>> = keys.chunks(BATCH_KEYS_MAX).map(<[Key]>::to_vec).collect();
        Ok(try_join_all(chunks.into_iter().map(|chunk| self.get_chunk(chunk, consistent))).await?.concat())
    }

    async fn get_chunk(&self, keys: Vec<Key>, consistent: bool) -> Result<Vec<Item>, Fault> {
        let mut wanted: Vec<Item> = keys.iter().map(Key::item).collect();
        let mut found = Vec::with_capacity(wanted.len());
        for round in 0..ROUNDS_MAX {
            let keys = KeysAndAttributes::builder().set_keys(Some(wanted)).consistent_read(consistent).build();
            let keys = keys.map_err(|error| Fault::call("ask for records", error))?;
            let asked = self.client.batch_get_item().request_items(&self.name, keys);
            let answer = asked.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
            let answer = answer.map_err(|error| Fault::call("get records", error))?;
            self.meter.read(answer.consumed_capacity());
            found.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
            wanted = answer.unprocessed_keys.into_iter().flat_map(HashMap::into_values).flat_map(|k| k.keys).collect();
            if wanted.is_empty() {
                return Ok(found);
            }
            back_off(round).await;
        }
        Err(Fault::Unprocessed)
    }

    /// A list by its primary key; strongly consistent.
    pub(super) async fn list(&self, pk: &str, range: &Range, limit: Option<usize>) -> Result<Vec<Item>, Fault> {
        self.query(None, pk, range, limit).await
    }

    /// A list of the index, which follows the records by moments.
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
        let (by, place) = if index.is_some() { ("lp", "ls") } else { ("pk", "sk") };
        let mut condition = "#by = :by".to_owned();
        let mut asked = self.client.query().table_name(&self.name).set_index_name(index.map(Into::into));
        asked = asked.expression_attribute_names("#by", by);
        asked = asked.expression_attribute_values(":by", AttributeValue::S(partition.into()));
        // One condition on the place is all that DynamoDB takes, and BETWEEN includes its ends.
        let from = range.after.as_ref().map(|after| format!("{after}\u{1}")).or_else(|| range.from.clone());
        let (low, high) = if range.descending { (None, range.after.clone()) } else { (from, range.to.clone()) };
        let part = match (&low, &high) {
            (Some(_), Some(_)) => " AND #place BETWEEN :low AND :high",
            (Some(_), None) => " AND #place >= :low",
            (None, Some(_)) => " AND #place < :high",
            (None, None) => "",
        };
        if !part.is_empty() {
            condition.push_str(part);
            asked = asked.expression_attribute_names("#place", place);
        }
        for (name, value) in [(":low", low), (":high", high)] {
            if let Some(value) = value {
                asked = asked.expression_attribute_values(name, AttributeValue::S(value));
            }
        }
        asked = asked.key_condition_expression(condition).scan_index_forward(!range.descending);
        asked = asked.consistent_read(index.is_none()).return_consumed_capacity(ReturnConsumedCapacity::Total);
        let mut found = Vec::new();
        loop {
            let rest = limit.map(|limit| limit.saturating_sub(found.len()) as i32);
            let answer = asked.clone().set_limit(rest).send().await;
            let answer = answer.map_err(|error| Fault::call("list records", error))?;
            self.meter.read(&answer.consumed_capacity);
            found.extend(answer.items.unwrap_or_default());
            match answer.last_evaluated_key {
                Some(last) if limit.is_none_or(|limit| found.len() < limit) => {
                    asked = asked.set_exclusive_start_key(Some(last));
                }
                _ => return Ok(found),
            }
        }
    }

    /// Writes a record, whatever was there.
    pub(super) async fn put(&self, item: Item) -> Result<(), Fault> {
        let asked = self.client.put_item().table_name(&self.name).set_item(Some(item));
        let answer = asked.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let answer = answer.map_err(|error| Fault::call("put a record", error))?;
        self.meter.wrote(&answer.consumed_capacity);
        Ok(())
    }

    /// Removes a record, if `name` still has this number in it where one is given; whether it did.
    pub(super) async fn delete(&self, key: &Key, only_if: Option<(&str, i64)>) -> Result<bool, Fault> {
        let mut asked = self.client.delete_item().table_name(&self.name).set_key(Some(key.item()));
        if let Some((name, number)) = only_if {
            asked = asked.condition_expression("#n = :n").expression_attribute_names("#n", name);
            asked = asked.expression_attribute_values(":n", AttributeValue::N(number.to_string()));
        }
        match asked.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(answer) => {
                self.meter.wrote(&answer.consumed_capacity);
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

    /// Does all actions or none. The SDK gives each call a token of its own and repeats a lost call under it, so that
    /// it is done once.
    pub(super) async fn transact(&self, actions: Vec<TransactWriteItem>) -> Result<(), Refused> {
        let asked = self.client.transact_write_items().set_transact_items(Some(actions));
        match asked.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(answer) => {
                self.meter.wrote(answer.consumed_capacity());
                Ok(())
            }
            Err(error) => Err(refused(error)),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the table as `infra/template.yaml` does: for endpoints on one machine.
    pub(super) async fn create(&self) -> Result<(), Fault> {
        let wrong = |error| Fault::call("describe the table", error);
        let mut asked = self.client.create_table().table_name(&self.name).billing_mode(BillingMode::PayPerRequest);
        for name in ["pk", "sk", "lp", "ls"] {
            let attribute = AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S);
            asked = asked.attribute_definitions(attribute.build().map_err(wrong)?);
        }
        let schema = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
        let projection = Projection::builder().projection_type(ProjectionType::Include).non_key_attributes("lo");
        let index = GlobalSecondaryIndex::builder()
            .index_name(INDEX)
            .key_schema(schema("lp", KeyType::Hash).map_err(wrong)?)
            .key_schema(schema("ls", KeyType::Range).map_err(wrong)?)
            .projection(projection.build());
        let asked = asked
            .key_schema(schema("pk", KeyType::Hash).map_err(wrong)?)
            .key_schema(schema("sk", KeyType::Range).map_err(wrong)?)
            .global_secondary_indexes(index.build().map_err(wrong)?);
        asked.send().await.map_err(|error| Fault::call("create the table", error))?;
        Ok(())
    }
}

fn refused(error: SdkError<TransactWriteItemsError>) -> Refused {
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
    if let SdkError::ServiceError(answer) = &error {
        if let TransactWriteItemsError::TransactionCanceledException(cancelled) = answer.err() {
            return Refused::Cancelled(cancelled.cancellation_reasons().to_vec());
        }
        if throttled(answer.err().meta().code()) {
            return Refused::Throttled;
        }
        if answer.err().meta().code() == Some("ValidationException") {
            return Refused::Failed(Fault::refused(error));
        }
    }
    Refused::Failed(Fault::call("write records", error))
}
