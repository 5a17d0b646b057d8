//! Checks messages as SQS does, with the same error codes and messages.
//!
//! Codes and messages come from recorded responses of SQS where available, otherwise from its API reference.

use super::request::{Fault, QueueRow};
use super::settings::within;
use domain::limits::{ATTRIBUTES_MAX, BATCH_ENTRIES_MAX, DELAY_S_MAX, MESSAGE_BYTES_MAX};
use domain::message::{Attribute, AttributeValue};
use domain::time::Span;
use queue::{EntryFailure, Outgoing};

/// The longest name and the longest data type of a message attribute (SQS quotas).
const ATTRIBUTE_CHARS_MAX: usize = 256;
/// The longest group and deduplication ids (botocore, SendMessage).
const ID_CHARS_MAX: usize = 128;

/// Returns a failure that is the message's own fault.
pub(super) fn sender_fault(code: &str, reason: impl Into<String>) -> EntryFailure {
    EntryFailure { code: code.into(), reason: reason.into(), sender_fault: true }
}

fn invalid(reason: impl Into<String>) -> EntryFailure {
    sender_fault("InvalidParameterValue", reason)
}

/// Refuses a batch that is empty or larger than SQS accepts.
pub(super) fn count(queue: &QueueRow, entries: usize) -> Result<(), Fault> {
    match entries {
        0 => Err(queue.refuse("EmptyBatchRequest: there should be at least one entry in the request")),
        1..=BATCH_ENTRIES_MAX => Ok(()),
        _ => Err(queue.refuse(format!(
            "TooManyEntriesInBatchRequest: maximum number of entries per request are {BATCH_ENTRIES_MAX}, \
             you have sent {entries}"
        ))),
    }
}

/// Refuses a batch as a whole, as SQS does: for its size, or for missing FIFO parameters.
pub(super) fn batch(queue: &QueueRow, messages: &[Outgoing]) -> Result<(), Fault> {
    count(queue, messages.len())?;
    let bytes: usize = messages.iter().map(|message| message.content.size_bytes()).sum();
    if bytes > MESSAGE_BYTES_MAX {
        return Err(queue.refuse(format!(
            "BatchRequestTooLong: batch requests cannot be longer than {MESSAGE_BYTES_MAX} bytes, \
             you have sent {bytes} bytes"
        )));
    }
    if !queue.arn.is_fifo() {
        return Ok(());
    }
    if messages.iter().any(|message| message.content.message_group_id.is_none()) {
        return Err(queue.refuse("the request must contain the parameter MessageGroupId"));
    }
    if !queue.settings.content_based_deduplication && messages.iter().any(|message| message.deduplication_id.is_none())
    {
        return Err(queue.refuse(
            "the queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
             provided explicitly",
        ));
    }
    Ok(())
}

/// Refuses one message of a batch, as SQS does while it accepts the others.
pub(super) fn entry(queue: &QueueRow, message: &Outgoing) -> Result<(), EntryFailure> {
    let content = &message.content;
    if content.body.is_empty() {
        return Err(sender_fault("MissingParameter", "The request must contain the parameter MessageBody."));
    }
    if !content.body.chars().all(is_allowed) {
        let reason = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | \
                      #xE000 to #xFFFD | #x10000 to #x10FFFF";
        return Err(sender_fault("InvalidMessageContents", reason));
    }
    let most = queue.settings.message_bytes_max;
    if content.size_bytes() > most {
        return Err(invalid(format!(
            "One or more parameters are invalid. Reason: Message must be shorter than {most} bytes."
        )));
    }
    delay(queue, message.delay)?;
    let ids = [("MessageGroupId", &content.message_group_id), ("MessageDeduplicationId", &message.deduplication_id)];
    for (parameter, id) in ids {
        if id.as_deref().is_some_and(|id| !is_id(id)) {
            let reason = "can only include alphanumeric and punctuation characters, 1 to 128 in length";
            return Err(invalid(format!("Value for parameter {parameter} is invalid. Reason: {parameter} {reason}.")));
        }
    }
    if message.deduplication_id.is_some() && !queue.arn.is_fifo() {
        return Err(wrong_type("MessageDeduplicationId", message.deduplication_id.as_deref().unwrap_or_default()));
    }
    let attributes = content.attributes.len();
    if attributes > ATTRIBUTES_MAX {
        let reason =
            format!("Number of message attributes [{attributes}] exceeds the allowed maximum [{ATTRIBUTES_MAX}].");
        return Err(invalid(reason));
    }
    content.attributes.iter().try_for_each(|(name, value)| attribute(name, value))
}

fn delay(queue: &QueueRow, delay: Span) -> Result<(), EntryFailure> {
    let seconds = delay.as_ms().div_euclid(1000);
    if !within(delay, 0, DELAY_S_MAX) {
        let reason = format!("DelaySeconds must be >= 0 and <= {DELAY_S_MAX}");
        return Err(invalid(format!("Value {seconds} for parameter DelaySeconds is invalid. Reason: {reason}.")));
    }
    if delay != Span::ZERO && queue.arn.is_fifo() {
        return Err(wrong_type("DelaySeconds", &seconds.to_string()));
    }
    Ok(())
}

fn wrong_type(parameter: &str, value: &str) -> EntryFailure {
    let reason = "The request include parameter that is not valid for this queue type.";
    invalid(format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}"))
}

/// Returns whether a body or string value may contain the character: those of XML 1.0. A Rust string has no surrogates.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

fn is_id(id: &str) -> bool {
    (1..=ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
}

fn attribute(name: &str, attribute: &Attribute) -> Result<(), EntryFailure> {
    if !is_attribute_name(name) {
        return Err(invalid(format!("The message attribute name '{name}' is invalid.")));
    }
    let data_type = attribute.data_type.as_str();
    let base = data_type.split_once('.').map_or(data_type, |(base, _)| base);
    if data_type.len() > ATTRIBUTE_CHARS_MAX || !matches!(base, "String" | "Number" | "Binary") {
        return Err(invalid(format!(
            "The type of message (user) attribute '{name}' is invalid. You must use only the \
             following supported type prefixes: Binary, Number, String."
        )));
    }
    let (AttributeValue::Text(value) | AttributeValue::Binary(value)) = &attribute.value;
    if value.is_empty() {
        let reason = format!("Message (user) attribute '{name}' must contain a non-empty value of type '{base}'.");
        return Err(invalid(reason));
    }
    let fits = match &attribute.value {
        AttributeValue::Text(text) if base == "Number" => is_number(text),
        AttributeValue::Text(text) => base == "String" && text.chars().all(is_allowed),
        AttributeValue::Binary(base64) => base == "Binary" && is_base64(base64),
    };
    if fits { Ok(()) } else { Err(invalid(format!("The value of message (user) attribute '{name}' is not a {base}."))) }
}

/// Returns whether a name is valid. The API reference allows only ASCII letters, but SQS was observed to accept
/// `attr.1øßä`.
fn is_attribute_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.is_empty()
        && name.chars().count() <= ATTRIBUTE_CHARS_MAX
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && !lower.starts_with("aws.")
        && !lower.starts_with("amazon.")
}

fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let unsigned = |text: &'_ str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    let (mantissa, exponent) = (unsigned(mantissa), unsigned(exponent));
    let digits = mantissa.replacen('.', "", 1);
    [digits, exponent].iter().all(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns whether a text is canonical base64 (standard alphabet, padded), so that decoding and encoding returns the same
/// text.
fn is_base64(text: &str) -> bool {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    // The unused bits of the last digit must be zero.
    let spare_mask = match text.len() - digits.len() {
        0 => 0,
        1 => 0b11,
        _ => 0b1111,
    };
    text.len().is_multiple_of(4)
        && digits.bytes().all(|byte| value(byte).is_some())
        && digits.bytes().last().and_then(value).is_some_and(|last| last & spare_mask == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinguished_from_text() {
        let good = ["0", "-1", "+1.5", "1.", ".5", "1e10", "-2.50E-3", "00012345678901234567890123456789"];
        let bad = ["", "-", ".", "1.2.3", "1e", "e5", "0x10", "1 ", "NaN", "1,5"];
        good.iter().for_each(|text| assert!(is_number(text), "{text}"));
        bad.iter().for_each(|text| assert!(!is_number(text), "{text}"));
    }

    #[test]
    fn only_canonical_base64_is_accepted() {
        let good = ["AA==", "AAA=", "AAAA", "/+8=", "3q2+7w=="];
        let bad = ["", "=", "==", "A===", "AAA", "AB==", "AAB=", "AA-_", "AA==AAAA", "A A="];
        good.iter().for_each(|text| assert!(is_base64(text), "{text}"));
        bad.iter().for_each(|text| assert!(!is_base64(text), "{text}"));
    }

    #[test]
    fn allowed_characters_are_those_of_xml() {
        let good = ['\t', '\n', '\r', ' ', '\u{7f}', '\u{D7FF}', '\u{E000}', '\u{FFFD}', '\u{10000}', '\u{10FFFF}'];
        let bad = ['\0', '\u{8}', '\u{b}', '\u{1f}', '\u{FFFE}', '\u{FFFF}'];
        good.iter().for_each(|c| assert!(is_allowed(*c), "{c:?}"));
        bad.iter().for_each(|c| assert!(!is_allowed(*c), "{c:?}"));
    }

    #[test]
    fn attribute_names_follow_the_rules_of_sqs() {
        let longest = "n".repeat(256);
        let good = ["a", "A-b_c.9", "attr.1øßä", "awsome", "dlo-replay", longest.as_str()];
        let bad = ["", ".a", "a.", "a..b", "aWs.x", "AMAZON.x", "a b", "a!", "a/b", &"n".repeat(257)];
        good.iter().for_each(|name| assert!(is_attribute_name(name), "{name}"));
        bad.iter().for_each(|name| assert!(!is_attribute_name(name), "{name}"));
    }
}
