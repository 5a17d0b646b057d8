//! The policy: what applies, a check of another one, and its versions.

use alloc::string::String;
#[cfg(feature = "schema")]
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::id::Actor;
#[cfg(feature = "schema")]
use domain::limits::REASON_CHARS_MAX;
use domain::policy::{Policy, PolicyChange, QueuePolicy};
#[cfg(feature = "schema")]
use domain::text::LINES_PATTERN;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The policy that applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyAnswer {
    /// Its version. 0 is the deployment's policy: the template's parameter, or the file on one machine.
    pub version: u64,
    /// Who wrote it; `None` for the deployment's.
    pub by: Option<Actor>,
    /// When it was written; `None` for the deployment's.
    pub at: Option<Timestamp>,
    /// The reason that the person gave; `None` for the deployment's.
    pub reason: Option<String>,
    /// The policy, every setting with its value.
    pub policy: Policy,
    /// The main queues that the deployment names. They are added to those of every policy.
    pub named: QueuePolicy,
}

/// Replace the policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyRequest {
    /// The whole policy. A setting that is absent gets its default.
    #[cfg_attr(feature = "schema", schemars(with = "Policy"))]
    pub policy: Value,
    /// The version that the change is based on. If another one applies now, nothing is changed.
    pub version: u64,
    /// Why it is changed.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
}

/// Check a policy without changing anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckPolicyRequest {
    /// The whole policy. A setting that is absent gets its default.
    #[cfg_attr(feature = "schema", schemars(with = "Policy"))]
    pub policy: Value,
}

/// What a policy would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyCheckAnswer {
    /// The version that applies now, which the policy is compared with.
    pub version: u64,
    /// Why the policy would be refused, in sentences; empty if it would be accepted.
    pub problems: Vec<String>,
    /// The settings that would change.
    pub changes: Vec<PolicyChange>,
    /// The changes that remove a protection or delete letters earlier, in sentences.
    pub warnings: Vec<String>,
}

/// Versions of the policy, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyHistoryAnswer {
    /// The versions.
    pub versions: Vec<PolicyRow>,
    /// The `before` of the next page; `None` on the last page.
    pub next: Option<u64>,
}

/// A version of the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyRow {
    /// Its number, from 1.
    pub version: u64,
    /// Who wrote it.
    pub by: Actor,
    /// When it was written.
    pub at: Timestamp,
    /// The reason that the person gave.
    pub reason: String,
    /// The settings that it changed.
    pub changes: Vec<PolicyChange>,
    /// The policy, every setting with its value.
    pub policy: Policy,
}
