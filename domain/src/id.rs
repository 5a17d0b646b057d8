//! Identities: every id is a type of its own, printed as lower-case hex or as the name AWS gave it.
//!
//! Ids that the office makes are hashes of what they identify, never random: two functions that meet the same
//! dead message give it the same [`LetterId`], which is what makes "counted once" hold without coordination.

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
            /// Takes the text as it is.
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
    /// One letter: the first 128 bits of SHA-256 over main queue and original message id, in hex.
    LetterId
);
text_id!(
    /// One death of a letter: hash over the dead-letter queue and the id of the dead message.
    DeathId
);
text_id!(
    /// One error group: the fingerprint of its first letters. See [`crate::read`].
    GroupId
);
text_id!(
    /// One replay (and its plan): hash over group, maker and moment.
    ReplayId
);
text_id!(
    /// The ARN of a queue, for example `arn:aws:sqs:eu-west-1:111122223333:orders`.
    QueueArn
);
text_id!(
    /// The id that SQS gave a message. Kept when SQS moves it to the dead-letter queue (facts.md 1.1).
    MessageId
);
text_id!(
    /// A person, or the office itself (`office`), as the audit shows it.
    Actor
);

impl Actor {
    /// The name under which the office itself acts (intake, replay, sweep).
    pub const OFFICE: &'static str = "office";

    /// The office itself.
    pub fn office() -> Self {
        Self::from(Self::OFFICE)
    }

    /// What a rule of the policy's name begins with.
    const RULE: &'static str = "rule ";

    /// A rule of the policy, under which nobody in person acts.
    pub fn rule(name: &str) -> Self {
        Self::new(alloc::format!("{}{name}", Self::RULE))
    }

    /// Whether a rule acts, and not a person.
    pub fn is_rule(&self) -> bool {
        self.as_str().starts_with(Self::RULE)
    }
}

impl QueueArn {
    /// The queue's name: what stands after the last colon.
    pub fn name(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or(&self.0)
    }

    /// Whether the name says FIFO: AWS requires the suffix `.fifo` for FIFO queues and forbids it for others.
    pub fn is_fifo(&self) -> bool {
        self.0.ends_with(".fifo")
    }
}

impl LetterId {
    /// The letter that a message of this main queue becomes.
    pub fn of(main_queue: &QueueArn, original: &MessageId) -> Self {
        Self(hash_hex(&["letter", main_queue.as_str(), original.as_str()]))
    }
}

impl DeathId {
    /// The death that this dead message is.
    pub fn of(main_queue: &QueueArn, message: &MessageId) -> Self {
        Self(hash_hex(&["death", main_queue.as_str(), message.as_str()]))
    }
}

/// 128 bits of SHA-256 over the parts, in hex; a length before each part keeps `ab|c` and `a|bc` apart.
pub fn hash_hex(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    to_hex(&hasher.finalize()[..16])
}

/// Lower-case hex of some bytes.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).map(char::from).collect()
}
