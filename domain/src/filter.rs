//! Which letters of a group: what a list shows, what a plan freezes, and so what is sent. One type for all three, so that
//! they cannot differ.

use crate::letter::Letter;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Letters that fit everything that is asked for; what is not given fits all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LetterFilter {
    /// The kind of message, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// Whose message it is, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Died last at this moment or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_from: Option<Timestamp>,
    /// Died last before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_before: Option<Timestamp>,
    /// Replayed this often at most; 0 for letters that were never replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays_max: Option<u32>,
}

impl LetterFilter {
    /// Whether it asks for anything.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a letter fits.
    pub fn fits(&self, letter: &Letter) -> bool {
        let is = |asked: &Option<String>, has: &Option<String>| asked.is_none() || asked == has;
        is(&self.message_type, &letter.diagnosis.message_type)
            && is(&self.tenant, &letter.diagnosis.tenant)
            && self.died_from.is_none_or(|from| letter.died_at >= from)
            && self.died_before.is_none_or(|before| letter.died_at < before)
            && self.replays_max.is_none_or(|max| letter.replays <= max)
    }
}
