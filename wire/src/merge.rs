//! Groups that are one cause, and what a change of the policy would do to them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::id::GroupId;
use domain::policy::GroupRule;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A fingerprint that is merged into a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedVariant {
    /// The fingerprint.
    pub id: GroupId,
    /// Its own title.
    pub title: String,
    /// Its letters that are not delivered.
    pub open_letters: i64,
    /// When the first of them died.
    pub first_died_at: Timestamp,
    /// When one of them died last.
    pub last_died_at: Option<Timestamp>,
}

/// Take a fingerprint out of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnmergeRequest {
    /// The fingerprint.
    pub fingerprint: GroupId,
    /// Why it is another cause.
    pub reason: String,
}

/// Rules about groups that are not in the policy yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewRulesRequest {
    /// The rules, all of them: what the policy has now does not count.
    pub groups: Vec<GroupRule>,
}
