//! One layer of a letter: a text, the members of its JSON object, and the headers that belong to it.

use super::unpack;
use crate::id::QueueArn;
use crate::message::{Attribute, AttributeValue, Attributes, DeadMessage};
use crate::read::json::{Index, Raw, Sketch};
use crate::read::when;
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::string::String;

/// Where bridges put the headers of the broker that they read from, when they do not make them message attributes.
const HEADER_MEMBERS: [&str; 8] = [
    "headers",
    "Headers",
    "ApplicationProperties",
    "applicationProperties",
    "application_properties",
    "properties",
    "MessageAttributes",
    "messageAttributes",
];
/// The attribute in which NServiceBus keeps its headers beside a raw body (docs.particular.net, transports/sqs).
const NSERVICEBUS_HEADERS: &str = "NServiceBus.AmazonSQS.Headers";

/// What an envelope is recognised by and read from.
pub struct Layer<'a> {
    /// The text.
    pub text: &'a str,
    /// Its members, where it is a JSON object.
    pub body: Index<'a>,
    /// Its headers.
    pub headers: Headers<'a>,
    /// The queue that the letter lies in.
    pub dlq: &'a QueueArn,
    /// Whether it is what the message itself was, not something inside it.
    pub outermost: bool,
    /// Whether its text is all there is of it.
    pub whole: bool,
}

impl<'a> Layer<'a> {
    /// The message as it lies in the queue.
    pub fn outermost(message: &'a DeadMessage) -> Self {
        let body = Index::of(Raw::of(&message.content.body));
        let attributes = &message.content.attributes;
        let mut headers = Headers::of(Some(attributes).filter(|a| !a.is_empty()), header_object(&body));
        if let Some(text) = attributes.get(NSERVICEBUS_HEADERS).and_then(Attribute::as_text) {
            headers.object = Index::of(Raw::of(text));
        }
        Self { text: &message.content.body, body, headers, dlq: &message.dlq, outermost: true, whole: true }
    }

    /// A text inside, with the headers that its wrapping has for it.
    pub fn inside(text: &'a str, headers: Option<Raw<'a>>, outer: &Layer<'a>, whole: bool) -> Self {
        let body = Index::of(Raw::of(text));
        let object = headers.map_or_else(|| header_object(&body), Index::of);
        Self { text, body, headers: Headers::of(None, object), dlq: outer.dlq, outermost: false, whole }
    }
}

fn header_object<'a>(body: &Index<'a>) -> Index<'a> {
    let Some(found) = body.first(&HEADER_MEMBERS) else { return Index::default() };
    // RabbitMQ's management format: {"properties":{"headers":{...}}}.
    Index::of(found.get("headers").filter(|inner| inner.is_object()).unwrap_or(found))
}

/// Headers by name: message attributes, else an object of the body.
pub struct Headers<'a> {
    attributes: Option<&'a Attributes>,
    sketch: Sketch,
    object: Index<'a>,
}

impl<'a> Headers<'a> {
    fn of(attributes: Option<&'a Attributes>, object: Index<'a>) -> Self {
        let mut sketch = Sketch::default();
        attributes.into_iter().flat_map(Attributes::keys).for_each(|name| sketch.put(name));
        Self { attributes, sketch, object }
    }

    fn attribute(&self, name: &str) -> Option<&'a AttributeValue> {
        self.sketch.may_have(name).then_some(())?;
        self.attributes?.get(name).map(|attribute| &attribute.value)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_none() && self.object.is_empty()
    }

    /// Whether there is one of this name.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some() || self.object.get(name).is_some()
    }

    /// The value as text; bytes count where they are UTF-8.
    pub fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        match self.attribute(name) {
            Some(AttributeValue::Text(text)) => return Some(Cow::Borrowed(text)),
            Some(AttributeValue::Binary(b64)) => return String::from_utf8(unpack::base64(b64)?).ok().map(Cow::Owned),
            None => {}
        }
        let raw = self.object.get(name)?;
        // SNS has {"Type","Value"}, the SQS API {"StringValue"}, a Lambda event {"stringValue"}.
        let raw = if raw.is_object() { Index::of(raw).first(&["Value", "StringValue", "stringValue"])? } else { raw };
        raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed)).or_else(|| Some(Cow::Borrowed(raw.text().trim())))
    }

    /// The value as a text of its own, where it is not empty.
    pub fn string(&self, name: &str) -> Option<String> {
        self.get(name).filter(|text| !text.is_empty()).map(Cow::into_owned)
    }

    /// The value of the first of these names that is there and not empty.
    pub fn first(&self, names: &[&str]) -> Option<String> {
        if self.is_empty() { None } else { names.iter().find_map(|name| self.string(name)) }
    }

    /// A whole number: digits, or what bridges make of a number in bytes: 4 or 8 of them, big-endian, in base64.
    pub fn number(&self, name: &str) -> Option<i64> {
        let bytes = match self.attribute(name) {
            Some(AttributeValue::Binary(b64)) => unpack::base64(b64)?,
            _ => {
                let text = self.get(name)?;
                if let Ok(number) = text.trim().parse() {
                    return Some(number);
                }
                unpack::base64(&text)?
            }
        };
        match (core::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok()), bytes.len()) {
            (Some(number), _) => Some(number),
            (None, 4) => Some(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            (None, 8) => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// A count that fits.
    pub fn count(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    /// A moment.
    pub fn moment(&self, name: &str) -> Option<Timestamp> {
        when::parse(&self.get(name)?)
    }
}
