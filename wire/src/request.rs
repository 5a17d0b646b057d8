//! The API's requests.

use alloc::string::String;
#[cfg(feature = "schema")]
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::LetterId;
#[cfg(feature = "schema")]
use domain::limits::{NAME_CHARS_MAX, NAMED_LETTERS_MAX, REASON_CHARS_MAX, TIME_MS_MAX};
use domain::replay::{PlanHash, PlanOptions};
#[cfg(feature = "schema")]
use domain::text::{BLANK_LINE_PATTERN, BLANK_LINES_PATTERN, LINE_PATTERN, LINES_PATTERN};
use domain::time::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Declare a fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeclareFixRequest {
    /// The kind of fix.
    pub kind: FixKind,
    /// A version (for a deployment: exactly as the deployment reports it), commit, ticket or link.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINE_PATTERN)))]
    pub reference: String,
    /// What was done, in words.
    #[cfg_attr(feature = "schema", schemars(length(max = REASON_CHARS_MAX), regex(pattern = BLANK_LINES_PATTERN)))]
    #[serde(default)]
    pub note: Option<String>,
    /// The version of the transform that letters are sent through, for a fix that is no transform itself.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = domain::limits::TRANSFORM_VERSIONS_MAX)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<u32>,
}

/// Save a group's note, or remove it if empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NoteRequest {
    /// The note, up to 2,000 characters. It may have several lines, but no control characters.
    #[cfg_attr(feature = "schema", schemars(length(max = REASON_CHARS_MAX), regex(pattern = BLANK_LINES_PATTERN)))]
    pub note: String,
}

/// Set who takes care of a group, or nobody if empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnerRequest {
    /// The owner: a person or a team, one line of up to 128 characters.
    #[cfg_attr(feature = "schema", schemars(length(max = NAME_CHARS_MAX), regex(pattern = BLANK_LINE_PATTERN)))]
    pub owner: String,
}

/// Look in the log of a group's consumer. Has no members.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LookInLogsRequest {}

/// Make a plan for the waiting letters of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanRequest {
    /// The chosen options.
    pub options: PlanOptions,
    /// The letters, 1 to 1,000. Without this member: all that match the filter.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = NAMED_LETTERS_MAX)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub letters: Vec<LetterId>,
    /// The filter over the waiting letters, if no letters are named; empty for all.
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
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
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
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
    /// Conditions to waive, each once.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Resume a paused replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// The reason.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
    /// The hash of the program that the person saw, if the fix is a payload transform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_hash: Option<String>,
    /// When the fix was declared that the person saw: `declared_at` of the group's fix. If another one is declared by now, the
    /// answer is `plan_changed`. Without this member the fix of now counts.
    #[cfg_attr(feature = "schema", schemars(with = "Option<i64>", range(min = 0, max = TIME_MS_MAX)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_declared_at: Option<Timestamp>,
    /// Conditions to waive, each once.
    #[serde(default)]
    pub waivers: Vec<WaiverRequest>,
}

/// Release letters from quarantine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReleaseRequest {
    /// The letters, 1 to 1,000. Without this member: all of the group.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = NAMED_LETTERS_MAX)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub letters: Vec<LetterId>,
    /// The reason.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
}

/// A reason, for actions without other parameters: pause, abort, withdraw a fix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReasonRequest {
    /// The reason.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINES_PATTERN)))]
    pub reason: String,
}

/// Report that a version of a consumer went live.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeploymentRequest {
    /// The service.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINE_PATTERN)))]
    pub service: String,
    /// The version.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = REASON_CHARS_MAX), regex(pattern = LINE_PATTERN)))]
    pub version: String,
    /// The commit, if known.
    #[cfg_attr(feature = "schema", schemars(length(max = REASON_CHARS_MAX), regex(pattern = BLANK_LINE_PATTERN)))]
    #[serde(default)]
    pub commit: Option<String>,
    /// When it went live, not in the future; now if missing.
    #[cfg_attr(feature = "schema", schemars(with = "Option<i64>", range(min = 0, max = TIME_MS_MAX)))]
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// Reads the names of letters. An empty list is refused: a caller whose selection is empty must not act on all letters.
pub(crate) fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<LetterId>, D::Error> {
    let letters = Vec::<LetterId>::deserialize(from)?;
    if letters.is_empty() {
        return Err(D::Error::custom("`letters` is empty: name at least one letter, or leave this member out"));
    }
    Ok(letters)
}
