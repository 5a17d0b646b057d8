//! Payload transforms in the API.

use alloc::string::String;
#[cfg(feature = "schema")]
use alloc::string::ToString;
use alloc::vec::Vec;
use domain::filter::LetterFilter;
use domain::id::LetterId;
use domain::transform::{DryCounts, DryRun, FieldChange, ProgramFault, Transform};
use serde::{Deserialize, Serialize};

/// A saved version with its latest dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformView {
    /// The version.
    pub transform: Transform,
    /// Its latest dry run, completed or in progress.
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
    /// The program, in the jq language, up to 4 KiB, without control characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = domain::limits::PROGRAM_BYTES_MAX), regex(pattern = domain::text::LINES_PATTERN)))]
    pub program: String,
    /// What it is for, in words.
    #[cfg_attr(feature = "schema", schemars(length(max = domain::limits::REASON_CHARS_MAX), regex(pattern = domain::text::BLANK_LINES_PATTERN)))]
    #[serde(default)]
    pub note: Option<String>,
}

/// Preview a program on waiting letters. Changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewTransformRequest {
    /// The program, in the jq language.
    pub program: String,
    /// The number of letters, 1 to 50; 50 if missing.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = domain::limits::PREVIEW_LETTERS_MAX)))]
    #[serde(default)]
    pub letters_max: Option<usize>,
    /// The filter over the waiting letters; empty for all.
    #[serde(default)]
    pub filter: LetterFilter,
}

/// The effect of a program on one letter. Without changes and without a failure, the letter stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterPreview {
    /// The letter.
    pub letter: LetterId,
    /// The fields that the program would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// Why the program fails on it, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The effect of a program on a sample of the waiting letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformPreviewAnswer {
    /// The error in the program; then no letter was tried.
    pub faults: Vec<ProgramFault>,
    /// The tried letters: failures first, then changes.
    pub letters: Vec<LetterPreview>,
    /// The totals.
    pub counts: DryCounts,
    /// Whether the sample was cut short because the program is slow.
    pub cut: bool,
}

/// Try a saved version on the letters of a plan, one page per call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DryRunRequest {
    /// The version.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = domain::limits::TRANSFORM_VERSIONS_MAX)))]
    pub version: u32,
    /// The `revision` of the run to continue; a new run starts if missing.
    #[serde(default)]
    pub go_on: Option<u64>,
    /// The filter of a new run; empty for all waiting letters. A continued run keeps its own filter.
    #[serde(default)]
    pub filter: LetterFilter,
}
