//! One action of a DynamoDB transaction: a write or a check, with its condition.

use super::counts::{Extremes, Update};
use super::item::{Item, number};
use super::key::Key;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use domain::id::GroupId;
use office::port::Expect;
use std::collections::HashMap;

/// A condition that the store adds for its own bookkeeping. If it fails, the store learns something and tries again.
#[derive(Clone, Debug)]
pub(super) enum StoreCondition {
    /// The extremes move in the expected direction. Otherwise another process has written this shard.
    ExtremesMove { group: GroupId, shard: u8, written: Extremes },
    /// The customer is not counted yet.
    NewCustomer(Key),
    /// No newer deployment is stored.
    NewestReport,
    /// The record already names this content, so the content need not be written again. A record with another version
    /// is the caller's conflict instead.
    SameContent { hash: String, version: Expect },
}

/// A condition expression, and the values of its `:v…` placeholders.
pub(super) type Condition<'a> = (&'a str, Vec<(&'a str, AttributeValue)>);

/// The condition that no record has this key.
pub(super) const ABSENT: &str = "attribute_not_exists(pk)";

/// Returns the condition for what the caller expects to be stored.
pub(super) fn expected(expect: Expect) -> Condition<'static> {
    match expect {
        Expect::Absent => (ABSENT, Vec::new()),
        Expect::Version(version) => ("v = :v", vec![(":v", number(version))]),
    }
}

/// One action of a transaction.
#[derive(Debug)]
pub(super) struct Action {
    /// The index of the caller's write that this action belongs to.
    pub(super) write: usize,
    operation: Operation,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: Item,
    pub(super) store_condition: Option<StoreCondition>,
}

#[derive(Debug)]
enum Operation {
    Put(Item),
    Delete(Key),
    Check(Key),
    Update(Key, String),
}

impl Action {
    fn new(operation: Operation, condition: Option<Condition<'_>>) -> Self {
        let (condition, values) = condition.filter(|(text, _)| !text.is_empty()).unzip();
        let values: Vec<_> = values.unwrap_or_default();
        Self {
            write: 0,
            operation,
            condition: condition.map(Into::into),
            names: HashMap::new(),
            values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            store_condition: None,
        }
    }

    pub(super) fn put(item: Item, condition: Option<Condition<'_>>) -> Self {
        Self::new(Operation::Put(item), condition)
    }

    pub(super) fn delete(key: Key, condition: Condition<'_>) -> Self {
        Self::new(Operation::Delete(key), Some(condition))
    }

    pub(super) fn check(key: Key, condition: Condition<'_>) -> Self {
        Self::new(Operation::Check(key), Some(condition))
    }

    pub(super) fn update(update: Update) -> Self {
        let Update { key, expression, condition, names, values } = update;
        Self { condition, names, values, ..Self::new(Operation::Update(key, expression), None) }
    }

    /// Marks the action's condition as the store's own.
    pub(super) fn with_store_condition(self, condition: StoreCondition) -> Self {
        Self { store_condition: Some(condition), ..self }
    }

    /// Assigns the action to the caller's write with this index.
    pub(super) fn for_write(self, write: usize) -> Self {
        Self { write, ..self }
    }

    /// Converts the action for the SDK.
    pub(super) fn build(&self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let action = TransactWriteItem::builder();
        let condition = self.condition.clone();
        let names = (!self.names.is_empty()).then(|| self.names.clone());
        let values = (!self.values.is_empty()).then(|| self.values.clone());
        let return_old = self.store_condition.is_some().then_some(ReturnValuesOnConditionCheckFailure::AllOld);
        macro_rules! finished {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(return_old)
                    .build()?
            };
        }
        Ok(match &self.operation {
            Operation::Put(item) => action.put(finished!(Put::builder().set_item(Some(item.clone())))),
            Operation::Delete(key) => action.delete(finished!(Delete::builder().set_key(Some(key.item())))),
            Operation::Check(key) => {
                action.condition_check(finished!(ConditionCheck::builder().set_key(Some(key.item()))))
            }
            Operation::Update(key, expression) => action.update(finished!(
                aws_sdk_dynamodb::types::Update::builder()
                    .set_key(Some(key.item()))
                    .update_expression(expression.as_str())
            )),
        }
        .build())
    }
}
