//! Identities: each kind of id is a type of its own, printed as lower-case hex or as AWS's own name.
//!
//! Ids made by the office are hashes of what they identify, never random. Two functions that receive the same dead
//! message compute the same [`LetterId`], so it is counted once without coordination.

use alloc::string::{String, ToString};
use core::fmt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text unchanged.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_string())
            }
        }
    };
}

text_id!(
    /// A letter: the first 128 bits of SHA-256 over main queue and original message id, in hex. See
    /// [`LetterId::from_dead_message`] for the exception.
    LetterId
);
text_id!(
    /// A death of a letter: a hash over the dead-letter queue and the id of the dead message.
    DeathId
);
text_id!(
    /// A variant: the fingerprint of its letters. Also identifies the group that it represents.
    GroupId
);
text_id!(
    /// A replay and its plan: a hash over group, author and time.
    ReplayId
);
text_id!(
    /// The ARN of a queue, for example `arn:aws:sqs:eu-west-1:111122223333:orders`.
    QueueArn
);
text_id!(
    /// The message id assigned by SQS. The move to a dead-letter queue keeps it (SQS developer guide, "Using
    /// dead-letter queues").
    MessageId
);
text_id!(
    /// A person, a policy rule, or the office itself (`office`), as shown in the audit log.
    Actor
);

impl Actor {
    /// The name of the office itself for intake, replays and sweeps.
    pub const OFFICE: &'static str = "office";

    /// Returns the office itself.
    pub fn office() -> Self {
        Self::from(Self::OFFICE)
    }

    /// The prefix of a policy rule's name.
    pub const RULE: &'static str = "rule ";

    /// Returns the actor for a policy rule, which acts in place of a person.
    pub fn rule(name: &str) -> Self {
        Self::new(alloc::format!("{}{name}", Self::RULE))
    }

    /// Whether the actor is a policy rule rather than a person.
    pub fn is_rule(&self) -> bool {
        self.as_str().starts_with(Self::RULE)
    }
}

impl QueueArn {
    /// Returns the queue's name: the text after the last colon.
    pub fn name(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or(&self.0)
    }

    /// Whether the queue is FIFO: AWS requires the suffix `.fifo` for FIFO queues and forbids it for others.
    pub fn is_fifo(&self) -> bool {
        self.0.ends_with(".fifo")
    }
}

impl LetterId {
    /// Returns the letter's id for a message of this main queue.
    pub fn from_message(main_queue: &QueueArn, original: &MessageId) -> Self {
        Self(hash_hex(&["letter", main_queue.as_str(), original.as_str()]))
    }

    /// Returns the id of a letter whose claimed identity belongs to another letter. It depends on the id that SQS gave
    /// the message in its dead-letter queue, so that no claim can lead to it.
    pub fn from_dead_message(dlq: &QueueArn, message: &MessageId) -> Self {
        Self(hash_hex(&["dead letter", dlq.as_str(), message.as_str()]))
    }
}

impl DeathId {
    /// Returns the death's id for this dead message.
    pub fn from_message(main_queue: &QueueArn, message: &MessageId) -> Self {
        Self(hash_hex(&["death", main_queue.as_str(), message.as_str()]))
    }
}

/// Returns 128 bits of SHA-256 over the parts, in hex. A length before each part distinguishes `ab|c` from `a|bc`.
pub fn hash_hex(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    to_hex(&hasher.finalize()[..16])
}

/// Returns bytes as lower-case hex.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).map(char::from).collect()
}
