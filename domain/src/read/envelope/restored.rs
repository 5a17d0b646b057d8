//! The original message as an envelope contains it, with a remark for each part that may differ from what was sent.

use super::unpack;
use crate::limits::ATTRIBUTES_MAX;
use crate::message::{Attribute, AttributeValue, Attributes};
use crate::read::json::{Index, Raw};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The original message inside an envelope.
pub struct Restored<'a> {
    /// Its body.
    pub body: Cow<'a, str>,
    /// Its attributes; `None` if the envelope does not record them.
    pub attributes: Option<Attributes>,
    /// Its message group.
    pub message_group_id: Option<String>,
    /// Its trace header.
    pub trace_header: Option<String>,
    /// What may differ from the message that was sent. Shown only if this message is sent back.
    pub remarks: Vec<String>,
}

const AS_JSON: &str = "The envelope holds the original body as JSON, not as text. Blanks and the spelling of numbers may differ from the body that was sent.";
const DAMAGED: &str = "The original body contains half a character (a lone surrogate). It was replaced by U+FFFD, because SQS rejects it.";
const UNTYPED: &str =
    "The envelope does not record the types of the original's attributes. Texts became String, numbers became Number.";
/// The remark on an original whose attributes are unknown.
pub const UNRECORDED: &str = "The envelope does not record the original's message attributes.";
const BASE64: &str = "The original body is base64 and is sent back as base64. If its consumer expects the decoded text, add a payload transform.";

impl<'a> Restored<'a> {
    /// Restores a body: the text of a string, or the JSON of any other value byte for byte. Returns `None` for `null`
    /// and for blank text, which cannot be a message.
    pub fn from_body(body: Raw<'a>) -> Option<Self> {
        Self::with_text(body, body.as_text())
    }

    /// The same, of a body whose text is known, if it is a string.
    pub fn with_text(body: Raw<'a>, text: Option<Cow<'a, str>>) -> Option<Self> {
        let (body, remark) = match text {
            Some(text) => {
                let replaced = replaced(&text);
                let damaged = replaced > 0 && replaced > written(body.text());
                (text, damaged.then_some(DAMAGED))
            }
            None => (Cow::Borrowed(body.text().trim_end()), Some(AS_JSON)),
        };
        if body.trim().is_empty() || body == "null" {
            return None;
        }
        let remarks = remark.into_iter().map(String::from).collect();
        Some(Self { body, attributes: None, message_group_id: None, trace_header: None, remarks })
    }

    /// Returns the same message, independent of the letter's text.
    pub fn into_owned(self) -> Restored<'static> {
        Restored { body: Cow::Owned(self.body.into_owned()), ..self }
    }

    /// Restores the attributes: typed as in SQS or SNS, or a plain map of texts and numbers.
    pub fn with_attributes(mut self, recorded: Raw<'_>) -> Self {
        let (mut attributes, mut lost, mut untyped) = (Attributes::new(), 0_usize, false);
        for (name, value) in recorded.members() {
            match attribute(value) {
                Some((attribute, typed)) if attributes.len() < ATTRIBUTES_MAX => {
                    untyped |= !typed;
                    attributes.insert(name.to_string(), attribute);
                }
                _ => lost += 1,
            }
        }
        self.attributes = Some(attributes);
        self.remarks.extend(untyped.then(|| UNTYPED.to_string()));
        if lost > 0 {
            self.remarks.push(format!("{lost} of the original's attributes could not be restored from the envelope."));
        }
        self
    }

    /// Decodes the body if the envelope states an encoding, and remarks on a body that stays encoded.
    pub fn decoded(mut self, encoding: Option<&str>) -> Self {
        let stated = encoding.filter(|name| !UNENCODED.iter().any(|plain| name.eq_ignore_ascii_case(plain)));
        match stated {
            Some(name) if name.eq_ignore_ascii_case("base64") => {
                match unpack::base64(&self.body).and_then(|bytes| String::from_utf8(bytes).ok()) {
                    Some(text) => self.body = Cow::Owned(text),
                    None => self.remarks.push(
                        "The envelope says that the original body is base64, but it is not base64 of a text. It is sent back as it stands.".into(),
                    ),
                }
            }
            Some(_) => self.remarks.push(
                "The envelope says that the original body is encoded. It is sent back encoded, as it stands.".into(),
            ),
            None => {
                let mut left_bytes = PEEKED_BYTES;
                self.remarks.extend(unpack::text(&self.body, &mut left_bytes).map(|_| String::from(BASE64)));
            }
        }
        self
    }
}

/// Bytes that are unpacked to see whether a body is packed.
const PEEKED_BYTES: usize = 1024;

/// Statements about an encoding that leave the text as it is.
const UNENCODED: [&str; 8] = ["", "utf-8", "utf8", "utf_8", "json", "application/json", "text", "none"];

/// Counts replacement characters.
fn replaced(text: &str) -> usize {
    text.matches(char::REPLACEMENT_CHARACTER).count()
}

/// Counts replacement characters that a string literal itself contains, escaped or not.
fn written(literal: &str) -> usize {
    let escaped = literal.matches("\\ufffd").count() + literal.matches("\\uFFFD").count();
    replaced(literal) + escaped
}

/// Reads one attribute, and whether its type was recorded. Returns `None` if SQS would reject it.
fn attribute(raw: Raw<'_>) -> Option<(Attribute, bool)> {
    if !raw.is_object() {
        let attribute = match raw.as_number() {
            Some(digits) => Attribute::number(digits),
            None => Attribute::text(raw.as_text().filter(|text| !text.is_empty())?),
        };
        return Some((attribute, false));
    }
    let fields = Index::new(raw);
    let stated = fields.scalar(&["dataType", "DataType", "Type"]);
    let typed = stated.is_some();
    let text = fields.scalar(&["stringValue", "StringValue"]);
    let bytes = fields.scalar(&["binaryValue", "BinaryValue"]);
    // SNS has one member for both.
    let value = fields.scalar(&["Value"]);
    let data_type = stated.unwrap_or_else(|| if bytes.is_some() { "Binary" } else { "String" }.to_string());
    let label = data_type.split('.').next().unwrap_or_default();
    let value = match label {
        "String" | "Number" => AttributeValue::Text(text.or(value)?),
        "Binary" => AttributeValue::Binary(bytes.or(value).filter(|text| unpack::base64(text).is_some())?),
        _ => return None,
    };
    Some((Attribute { data_type, value }, typed))
}
