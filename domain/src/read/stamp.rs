//! The consumer crate's stamp: the record that a consumer attaches to a message when it gives up on it.

use crate::id::{MessageId, QueueArn};
use crate::limits::STAMP_BYTES_MAX;
use crate::reading::Class;
use crate::text::{head, tail};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// The version of the stamp's format that this code writes.
pub const STAMP_VERSION: u8 = 1;

/// The longest short text (type, name, version) of a stamp, bytes: generous for every real name.
const NAME_BYTES_MAX: usize = 512;

/// Why and where a consumer gave up on a message. The value of the attribute `dlo.failure`, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The format's version, [`STAMP_VERSION`].
    pub v: u8,
    /// The error's type or code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The stack trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The class that the consumer claims: transient or permanent. Absent if it does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The service that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<String>,
    /// That service's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_version: Option<String>,
    /// The message's type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// The number of attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The message's id on the main queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_message_id: Option<MessageId>,
    /// The ARN of the main queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_queue: Option<QueueArn>,
    /// Time of the first send, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_sent_at: Option<Timestamp>,
    /// Time of the first receive, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_received_at: Option<Timestamp>,
    /// Time of the consumer's last failure, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<Timestamp>,
}

impl Stamp {
    /// Returns the stamp as JSON of at most [`STAMP_BYTES_MAX`] bytes, in characters that SQS accepts. A stamp that is
    /// too long is shortened: names first, then the middle of the stack, then the end of the message.
    pub fn print(&self) -> String {
        let mut stamp = self.clone();
        stamp.v = STAMP_VERSION;
        for name in [&mut stamp.error_type, &mut stamp.consumer, &mut stamp.consumer_version, &mut stamp.message_type] {
            *name = name.take().map(|text| head(&text, NAME_BYTES_MAX).to_string());
        }
        stamp.original_message_id = stamp.original_message_id.map(|id| head(id.as_str(), NAME_BYTES_MAX).into());
        stamp.main_queue = stamp.main_queue.map(|arn| head(arn.as_str(), NAME_BYTES_MAX).into());
        loop {
            let json = to_json(&stamp);
            // Escapes only lengthen text, so cutting the excess once or twice is enough.
            let Some(excess) = json.len().checked_sub(STAMP_BYTES_MAX + 1).map(|over| over + 1) else {
                return json;
            };
            if !shorten(&mut stamp.stack, excess, cut_middle) && !shorten(&mut stamp.message, excess, cut_end) {
                return to_json(&Self { v: STAMP_VERSION, class: stamp.class, ..Self::default() });
            }
        }
    }

    /// Parses the output of [`Stamp::print`]. Ignores unknown fields of later versions. Returns `None` for any other
    /// text.
    pub fn parse(text: &str) -> Option<Self> {
        // serde also reads a struct from an array, which no version ever wrote.
        text.trim_start().starts_with('{').then_some(())?;
        serde_json::from_str(text).ok().filter(|stamp: &Self| stamp.v >= 1)
    }
}

/// Returns the JSON without the two characters that JSON allows and SQS rejects.
fn to_json(stamp: &Stamp) -> String {
    let json = serde_json::to_string(stamp).unwrap_or_default();
    if json.contains(['\u{fffe}', '\u{ffff}']) { json.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}") } else { json }
}

/// Cuts `excess` bytes out of a text; returns false if there was no text.
fn shorten(text: &mut Option<String>, excess: usize, cut: fn(&str, usize) -> String) -> bool {
    let Some(whole) = text.take() else { return false };
    let keep = whole.len().saturating_sub(excess + MARK_BYTES);
    if keep >= MARK_BYTES {
        *text = Some(cut(&whole, keep));
    }
    true
}

/// Room for the mark at the cut.
const MARK_BYTES: usize = 40;

/// Both ends of a stack matter: the throwing frame and the root cause.
fn cut_middle(text: &str, keep: usize) -> String {
    let first = head(text, keep / 3 * 2);
    let last = tail(text, keep / 3);
    format!("{first}\n... {} bytes left out\n{last}", text.len() - first.len() - last.len())
}

fn cut_end(text: &str, keep: usize) -> String {
    format!("{}...", head(text, keep))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = Option<String>> {
        proptest::option::of("[^\u{fffe}\u{ffff}]{0,40}")
    }

    proptest! {
        #[test]
        fn parse_inverts_print(
            (error_type, message, stack, consumer) in (text(), text(), text(), text()),
            class in proptest::option::of(prop_oneof![Just(Class::Transient), Just(Class::Permanent)]),
            attempts in any::<Option<u32>>(), at in any::<Option<i64>>(),
        ) {
            let stamp = Stamp {
                v: STAMP_VERSION, error_type, message, stack, class, consumer, attempts,
                first_sent_at: at.map(Timestamp::from_ms), failed_at: at.map(Timestamp::from_ms),
                main_queue: Some("arn:aws:sqs:eu-west-1:111122223333:orders".into()),
                original_message_id: Some("m-1".into()), ..Stamp::default()
            };
            prop_assert_eq!(Stamp::parse(&stamp.print()), Some(stamp));
        }

        #[test]
        fn no_stamp_exceeds_its_maximum_length(unit in "\\PC|\u{1}|\"|€|\u{ffff}", stack in 0_usize..60_000, message in 0_usize..60_000) {
            let stamp = Stamp {
                message: Some(unit.repeat(message / unit.len())),
                stack: Some(unit.repeat(stack / unit.len())),
                error_type: Some(unit.repeat(2_000)),
                ..Stamp::default()
            };
            let printed = stamp.print();
            prop_assert!(printed.len() <= STAMP_BYTES_MAX);
            prop_assert!(Stamp::parse(&printed).is_some());
        }
    }

    #[test]
    fn a_long_stack_keeps_both_ends() {
        let stack = format!("first frame\n{}last cause", "middle\n".repeat(10_000));
        let read = Stamp::parse(&Stamp { stack: Some(stack), message: Some("m".into()), ..Stamp::default() }.print());
        let stack = read.and_then(|s| s.stack).unwrap_or_default();
        assert!(stack.starts_with("first frame") && stack.ends_with("last cause") && stack.contains("left out"));
    }

    #[test]
    fn other_texts_are_not_stamps() {
        for text in ["", "null", "{}", "{\"v\":0}", "{\"v\":\"1\"}", "[1]", "{\"v\":1"] {
            assert_eq!(Stamp::parse(text), None, "{text}");
        }
        assert!(Stamp::parse("{\"v\":2,\"message\":\"m\",\"new\":true}").is_some());
    }
}
