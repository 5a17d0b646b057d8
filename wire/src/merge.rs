//! Merged variants, and previews of merge rules.

use alloc::string::String;
#[cfg(feature = "schema")]
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::id::GroupId;
use domain::policy::GroupRule;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A variant that is merged into a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedVariant {
    /// The fingerprint.
    pub id: GroupId,
    /// Its own title.
    pub title: String,
    /// Its letters that are not delivered.
    pub open_letters: i64,
    /// Time of its first death.
    pub first_died_at: Timestamp,
    /// Time of its latest death.
    pub last_died_at: Option<Timestamp>,
}

/// Unmerge a variant from its group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnmergeRequest {
    /// The fingerprint.
    pub fingerprint: GroupId,
    /// Why it has another cause.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = domain::limits::REASON_CHARS_MAX), regex(pattern = domain::text::LINES_PATTERN)))]
    pub reason: String,
}

/// Preview group rules that are not in the policy yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewRulesRequest {
    /// The complete list of rules; the current policy's rules are ignored.
    pub groups: Vec<GroupRule>,
}
