//! Whether a letter can be sent back as it is, and why not.

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Whether the letter can be sent back as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Replayability {
    /// It can be sent back.
    Replayable,
    /// It cannot be sent back: it was truncated on the way.
    Truncated {
        /// The reason, a sentence.
        reason: String,
    },
    /// It cannot be sent back: only the message's position was kept, not the message.
    MetadataOnly {
        /// The reason, a sentence.
        reason: String,
    },
    /// It is only a pointer to its payload, which may be gone. The policy decides whether it is sent back.
    Pointer {
        /// The reason, a sentence.
        reason: String,
    },
    /// It cannot be sent back for another reason.
    NotReplayable {
        /// The reason, a sentence.
        reason: String,
    },
}

impl Replayability {
    /// Returns why it should not be sent back as it is; `None` if it can be sent back.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Replayable => None,
            Self::Truncated { reason }
            | Self::MetadataOnly { reason }
            | Self::Pointer { reason }
            | Self::NotReplayable { reason } => Some(reason),
        }
    }

    /// Returns the reason for shortening.
    pub(crate) fn reason_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Replayable => None,
            Self::Truncated { reason }
            | Self::MetadataOnly { reason }
            | Self::Pointer { reason }
            | Self::NotReplayable { reason } => Some(reason),
        }
    }

    /// Returns the reason for many letters at once, to follow their number in a plan's list of excluded letters. Names
    /// only the kind, so that a plan does not grow with the letters' own texts.
    pub fn left_out(&self) -> Option<&'static str> {
        match self {
            Self::Replayable => None,
            Self::Truncated { .. } => Some("truncated on the way"),
            Self::MetadataOnly { .. } => Some("with metadata only (the message itself is missing)"),
            Self::Pointer { .. } => Some("with a payload in S3 that may have expired"),
            Self::NotReplayable { .. } => Some("not replayable in their current form"),
        }
    }
}
