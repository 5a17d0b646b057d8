//! Records in DynamoDB's form: attributes by name.

use super::fault::Fault;
use super::key::Key;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use std::collections::HashMap;

/// A record's attributes by name.
pub(super) type Item = HashMap<String, AttributeValue>;

pub(super) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(super) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(super) fn bytes(value: Vec<u8>) -> AttributeValue {
    AttributeValue::B(Blob::new(value))
}

impl Key {
    /// Returns the key's attributes.
    pub(super) fn item(&self) -> Item {
        [("pk".to_owned(), text(&self.pk)), ("sk".to_owned(), text(&self.sk))].into()
    }

    /// Returns the key of a record.
    pub(super) fn from_item(item: &Item) -> Result<Self, Fault> {
        Ok(Self { pk: get_text(item, "pk")?.into(), sk: get_text(item, "sk")?.into() })
    }
}

pub(super) fn get_text<'a>(item: &'a Item, name: &'static str) -> Result<&'a str, Fault> {
    let value = item.get(name).and_then(|value| value.as_s().ok());
    value.map(String::as_str).ok_or(Fault::MissingAttribute(name))
}

pub(super) fn get_bytes<'a>(item: &'a Item, name: &'static str) -> Result<&'a [u8], Fault> {
    let value = item.get(name).and_then(|value| value.as_b().ok());
    value.map(AsRef::as_ref).ok_or(Fault::MissingAttribute(name))
}

pub(super) fn get_number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
