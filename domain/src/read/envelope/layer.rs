//! One layer of a letter: a text, the members of its JSON object, and its headers.

use super::unpack;
use crate::id::QueueArn;
use crate::message::{Attribute, AttributeValue, Attributes, DeadMessage};
use crate::read::json::{Index, Raw, Sketch};
use crate::read::when;
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::string::String;

/// Where bridges put the source broker's headers if they do not map them to message attributes.
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
/// The attribute with NServiceBus's headers, next to a raw body (docs.particular.net, transports/sqs).
const NSERVICEBUS_HEADERS: &str = "NServiceBus.AmazonSQS.Headers";

/// The input for recognising and reading an envelope.
pub struct Layer<'a> {
    /// The text.
    pub text: &'a str,
    /// Its members, if it is a JSON object.
    pub body: Index<'a>,
    /// Its headers.
    pub headers: Headers<'a>,
    /// The dead-letter queue of the letter.
    pub dlq: &'a QueueArn,
    /// Whether this is the message itself rather than something inside it.
    pub outermost: bool,
    /// Whether the text is complete.
    pub whole: bool,
}

impl<'a> Layer<'a> {
    /// The message as it is in the queue.
    pub fn outermost(message: &'a DeadMessage) -> Self {
        let body = Index::new(Raw::new(&message.content.body));
        let attributes = &message.content.attributes;
        let mut headers = Headers::new(Some(attributes).filter(|a| !a.is_empty()), header_object(&body));
        if let Some(text) = attributes.get(NSERVICEBUS_HEADERS).and_then(Attribute::as_text) {
            headers.object = Index::new(Raw::new(text));
        }
        Self { text: &message.content.body, body, headers, dlq: &message.dlq, outermost: true, whole: true }
    }

    /// A layer inside another, with the headers that its wrapping provides.
    pub fn inside(text: &'a str, headers: Option<Raw<'a>>, outer: &Layer<'a>, whole: bool) -> Self {
        let body = Index::new(Raw::new(text));
        let object = headers.map_or_else(|| header_object(&body), Index::new);
        Self { text, body, headers: Headers::new(None, object), dlq: outer.dlq, outermost: false, whole }
    }
}

fn header_object<'a>(body: &Index<'a>) -> Index<'a> {
    let Some(found) = body.first(&HEADER_MEMBERS) else { return Index::default() };
    // RabbitMQ's management format: {"properties":{"headers":{...}}}.
    Index::new(found.get("headers").filter(|inner| inner.is_object()).unwrap_or(found))
}

/// Headers by name: message attributes, else an object in the body.
pub struct Headers<'a> {
    attributes: Option<&'a Attributes>,
    sketch: Sketch,
    object: Index<'a>,
}

impl<'a> Headers<'a> {
    fn new(attributes: Option<&'a Attributes>, object: Index<'a>) -> Self {
        let mut sketch = Sketch::default();
        attributes.into_iter().flat_map(Attributes::keys).for_each(|name| sketch.put(name));
        Self { attributes, sketch, object }
    }

    fn attribute(&self, name: &str) -> Option<&'a AttributeValue> {
        self.sketch.may_have(name).then_some(())?;
        self.attributes?.get(name).map(|attribute| &attribute.value)
    }

    /// Whether there are no headers.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_none() && self.object.is_empty()
    }

    /// The names of the headers.
    pub fn sketch(&self) -> Sketch {
        self.sketch.with(self.object.sketch())
    }

    /// Whether there is a header of this name.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some() || self.object.get(name).is_some()
    }

    /// Whether a message attribute has this name. Only who sends the message writes attributes; a body may quote anything.
    pub fn is_attribute(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Returns the value as text; bytes count if they are UTF-8.
    pub fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        match self.attribute(name) {
            Some(AttributeValue::Text(text)) => return Some(Cow::Borrowed(text)),
            Some(AttributeValue::Binary(b64)) => return String::from_utf8(unpack::base64(b64)?).ok().map(Cow::Owned),
            None => {}
        }
        let raw = self.object.get(name)?;
        // SNS uses {"Type","Value"}, the SQS API {"StringValue"}, a Lambda event {"stringValue"}.
        let raw = if raw.is_object() { Index::new(raw).first(&["Value", "StringValue", "stringValue"])? } else { raw };
        raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed)).or_else(|| Some(Cow::Borrowed(raw.text().trim())))
    }

    /// Returns the value as an owned, non-empty text.
    pub fn string(&self, name: &str) -> Option<String> {
        self.get(name).filter(|text| !text.is_empty()).map(Cow::into_owned)
    }

    /// Returns the first non-empty value among these names.
    pub fn first(&self, names: &[&str]) -> Option<String> {
        if self.is_empty() { None } else { names.iter().find_map(|name| self.string(name)) }
    }

    /// Returns a whole number: digits, or a bridge's encoding of a binary number: 4 or 8 big-endian bytes in base64.
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

    /// Returns a count that fits 32 bits.
    pub fn count(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    /// Returns a moment.
    pub fn moment(&self, name: &str) -> Option<Timestamp> {
        when::parse(&self.get(name)?)
    }
}
