//! Payload transforms as the dashboard shows and asks for them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::filter::LetterFilter;
use domain::id::LetterId;
use domain::transform::{DryCounts, DryRun, FieldChange, ProgramFault, Transform};
use serde::{Deserialize, Serialize};

/// A saved version, and what its latest dry run says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformView {
    /// The version.
    pub transform: Transform,
    /// Its latest dry run, done or under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
}

/// The versions of a group's transform, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformsAnswer {
    /// The versions.
    pub versions: Vec<TransformView>,
}

/// Save another version of a group's transform.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SaveTransformRequest {
    /// The program, in the jq language.
    pub program: String,
    /// What it is for, in words.
    #[serde(default)]
    pub note: Option<String>,
}

/// See what a program would change, on letters that wait; nothing is changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewTransformRequest {
    /// The program, in the jq language.
    pub program: String,
    /// How many letters, 1 to 50; 50 when not given.
    #[serde(default)]
    pub letters_max: Option<usize>,
    /// Which letters; any that wait when nothing is asked for.
    #[serde(default)]
    pub filter: LetterFilter,
}

/// What a program would do with one letter. One without changes and without a failure stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterPreview {
    /// The letter.
    pub letter: LetterId,
    /// The fields that it would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// Why it fails on it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What a program would do with a sample of the letters that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformPreview {
    /// What is wrong with the program; then no letter was tried.
    pub faults: Vec<ProgramFault>,
    /// The letters that were tried: failures first, then changes.
    pub letters: Vec<LetterPreview>,
    /// How many of each.
    pub counts: DryCounts,
    /// Whether the sample was cut short because the program is slow.
    pub cut: bool,
}

/// Try a saved version over the letters that a plan would take, a page at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DryRunRequest {
    /// The version.
    pub version: u32,
    /// The `revision` of the run to go on with; a new run begins when it is not given.
    #[serde(default)]
    pub go_on: Option<u64>,
    /// Which letters a new run is over; all that wait when nothing is asked for. One that goes on keeps its own.
    #[serde(default)]
    pub filter: LetterFilter,
}
