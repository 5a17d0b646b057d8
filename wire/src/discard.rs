//! Discarding letters, and undoing it.

use crate::request::named;
use alloc::string::String;
#[cfg(feature = "schema")]
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::discard::DiscardReason;
use domain::filter::LetterFilter;
use domain::group::Tally;
use domain::id::LetterId;
#[cfg(feature = "schema")]
use domain::limits::{NAMED_LETTERS_MAX, REASON_CHARS_MAX, TIME_MS_MAX};
use domain::replay::LeftOut;
#[cfg(feature = "schema")]
use domain::text::{BLANK_LINES_PATTERN, LINES_PATTERN};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Preview a discard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DiscardPreviewRequest {
    /// The letters, 1 to 1,000. Without this member: all that match the filter.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = NAMED_LETTERS_MAX)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub letters: Vec<LetterId>,
    /// The filter, if no letters are named; empty for all of the group.
    pub filter: LetterFilter,
}

/// What a discard would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardPreviewAnswer {
    /// The letters that would be discarded, and their money.
    pub letters: Tally,
    /// Letters that would not be, with the reason, for example the replay that they are in.
    pub left_out: Vec<LeftOut>,
    /// The time of this preview. A discard names it, so that it takes no letter that arrived later.
    pub seen_at: Timestamp,
    /// When the letters would be deleted; until then the discard can be undone. `None` for never.
    pub kept_until: Option<Timestamp>,
}

/// Discard letters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DiscardRequest {
    /// The letters, 1 to 1,000. Without this member: all that match the filter.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = NAMED_LETTERS_MAX)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub letters: Vec<LetterId>,
    /// The filter, if no letters are named; empty for all of the group.
    #[serde(default)]
    pub filter: LetterFilter,
    /// The time of the preview that the person saw, at most one hour ago.
    #[cfg_attr(feature = "schema", schemars(with = "i64", range(min = 0, max = TIME_MS_MAX)))]
    pub seen_at: Timestamp,
    /// The reason.
    pub reason: DiscardReason,
    /// The reason in words; required if the reason is `other`.
    #[cfg_attr(feature = "schema", schemars(length(max = REASON_CHARS_MAX), regex(pattern = BLANK_LINES_PATTERN)))]
    #[serde(default)]
    pub note: Option<String>,
}

/// Take discarded letters back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoDiscardRequest {
    /// The letters, 1 to 1,000. Without this member: all that match the filter.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = NAMED_LETTERS_MAX)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub letters: Vec<LetterId>,
    /// The filter, if no letters are named; empty for all of the group.
    #[serde(default)]
    pub filter: LetterFilter,
    /// Only letters of the discard of this time; all if missing.
    #[cfg_attr(feature = "schema", schemars(with = "Option<i64>", range(min = 0, max = TIME_MS_MAX)))]
    #[serde(default)]
    pub discarded_at: Option<Timestamp>,
    /// The reason.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
}
