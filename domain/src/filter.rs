//! A filter over the letters of a group. A list, a plan and therefore a replay all use this one type, so they cannot
//! select different letters.

use crate::letter::Letter;
use crate::limits::{FILTER_CHARS_MAX, TIME_MS_MAX};
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Selects the letters that match every given criterion; a missing criterion matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LetterFilter {
    /// The message type, exactly.
    #[cfg_attr(feature = "schema", schemars(length(max = FILTER_CHARS_MAX)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// The tenant, exactly.
    #[cfg_attr(feature = "schema", schemars(length(max = FILTER_CHARS_MAX)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The latest death was at this moment or later.
    #[cfg_attr(feature = "schema", schemars(with = "Option<i64>", range(min = 0, max = TIME_MS_MAX)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_from: Option<Timestamp>,
    /// The latest death was before this moment.
    #[cfg_attr(feature = "schema", schemars(with = "Option<i64>", range(min = 0, max = TIME_MS_MAX)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_before: Option<Timestamp>,
    /// Replayed at most this often; 0 for letters that were never replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replays_max: Option<u32>,
}

/// A criterion of a filter is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A text is too long.
    #[error("`{criterion}` of the filter is longer than {FILTER_CHARS_MAX} characters")]
    TooLong {
        /// The criterion.
        criterion: &'static str,
    },
    /// A time is out of range.
    #[error("`{criterion}` of the filter must be between 0 and {TIME_MS_MAX}, milliseconds since 1970")]
    Time {
        /// The criterion.
        criterion: &'static str,
    },
}

impl LetterFilter {
    /// Checks the ranges of the criteria. Texts may contain any characters, because letters do.
    pub fn check(&self) -> Result<(), FilterError> {
        for (criterion, text) in [("message_type", &self.message_type), ("tenant", &self.tenant)] {
            if text.as_ref().is_some_and(|text| text.chars().count() > FILTER_CHARS_MAX) {
                return Err(FilterError::TooLong { criterion });
            }
        }
        for (criterion, at) in [("died_from", self.died_from), ("died_before", self.died_before)] {
            if at.is_some_and(|at| !(0..=TIME_MS_MAX).contains(&at.as_ms())) {
                return Err(FilterError::Time { criterion });
            }
        }
        Ok(())
    }

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
