//! A filter over the letters of a group. A list, a plan and therefore a replay all use this one type, so they cannot
//! select different letters.

use crate::letter::Letter;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Selects the letters that match every given criterion; a missing criterion matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LetterFilter {
    /// The message type, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// The tenant, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The latest death was at this moment or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_from: Option<Timestamp>,
    /// The latest death was before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_before: Option<Timestamp>,
    /// Replayed at most this often; 0 for letters that were never replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays_max: Option<u32>,
}

impl LetterFilter {
    /// Whether the filter has no criteria, so that it matches every letter.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a letter matches the filter.
    pub fn fits(&self, letter: &Letter) -> bool {
        let is = |asked: &Option<String>, has: &Option<String>| asked.is_none() || asked == has;
        is(&self.message_type, &letter.diagnosis.message_type)
            && is(&self.tenant, &letter.diagnosis.tenant)
            && self.died_from.is_none_or(|from| letter.died_at >= from)
            && self.died_before.is_none_or(|before| letter.died_at < before)
            && self.replays_max.is_none_or(|max| letter.replays <= max)
    }
}
