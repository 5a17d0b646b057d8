//! What people ask the API to do.

use alloc::string::String;
use alloc::vec::Vec;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::LetterId;
use domain::replay::{PlanHash, PlanOptions};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Say that the cause is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeclareFixRequest {
    /// What kind of fix.
    pub kind: FixKind,
    /// A version (for a deploy: exactly as the deployment reports it), commit, ticket or link.
    pub reference: String,
    /// What was done, in words.
    #[serde(default)]
    pub note: Option<String>,
}

/// Write or (empty) remove a group's note.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The note.
    pub note: String,
}

/// Make a plan of the letters that wait in a group now.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanRequest {
    /// What the person chose.
    pub options: PlanOptions,
    /// Which of the letters; all that wait when nothing is asked for.
    pub filter: LetterFilter,
}

/// Set a condition aside.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WaiverRequest {
    /// Which.
    pub condition: ConditionKind,
    /// Why.
    pub reason: String,
}

/// Approve a plan and start its replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest {
    /// The hash of the plan that the person saw.
    pub plan_hash: PlanHash,
    /// Why.
    pub reason: String,
    /// Conditions to set aside.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Let a paused replay go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// Why.
    pub reason: String,
    /// Where the fix is a payload transform: the hash of the program that the person saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_hash: Option<String>,
    /// Conditions to set aside.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Let letters out of quarantine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReleaseRequest {
    /// Which; all of the group's when none is named.
    #[serde(default)]
    pub letters: Vec<LetterId>,
    /// Why.
    pub reason: String,
}

/// A reason, for what needs nothing else (pause, abort, withdraw a fix).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReasonRequest {
    /// Why.
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
    /// The commit.
    #[serde(default)]
    pub commit: Option<String>,
    /// When; now when it is not given.
    #[serde(default)]
    pub at: Option<Timestamp>,
}
