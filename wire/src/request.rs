//! The API's requests.

use alloc::string::String;
use alloc::vec::Vec;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::LetterId;
use domain::replay::{PlanHash, PlanOptions};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Declare a fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeclareFixRequest {
    /// The kind of fix.
    pub kind: FixKind,
    /// A version (for a deployment: exactly as the deployment reports it), commit, ticket or link.
    pub reference: String,
    /// What was done, in words.
    #[serde(default)]
    pub note: Option<String>,
}

/// Save a group's note, or remove it if empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NoteRequest {
    /// The note.
    pub note: String,
}

/// Make a plan for the waiting letters of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanRequest {
    /// The chosen options.
    pub options: PlanOptions,
    /// The filter over the waiting letters; empty for all.
    pub filter: LetterFilter,
}

/// Waive a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WaiverRequest {
    /// The condition.
    pub condition: ConditionKind,
    /// The reason.
    pub reason: String,
}

/// Approve a plan and start its replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest {
    /// The hash of the plan that the approver saw.
    pub plan_hash: PlanHash,
    /// The reason.
    pub reason: String,
    /// Conditions to waive.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Resume a paused replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// The reason.
    pub reason: String,
    /// The hash of the program that the person saw, if the fix is a payload transform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_hash: Option<String>,
    /// Conditions to waive.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Release letters from quarantine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReleaseRequest {
    /// The letters; empty for all of the group.
    #[serde(default)]
    pub letters: Vec<LetterId>,
    /// The reason.
    pub reason: String,
}

/// A reason, for actions without other parameters: pause, abort, withdraw a fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReasonRequest {
    /// The reason.
    pub reason: String,
}

/// Report that a version of a consumer went live.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeploymentRequest {
    /// The service.
    pub service: String,
    /// The version.
    pub version: String,
    /// The commit, if known.
    #[serde(default)]
    pub commit: Option<String>,
    /// When it went live; now if missing.
    #[serde(default)]
    pub at: Option<Timestamp>,
}
