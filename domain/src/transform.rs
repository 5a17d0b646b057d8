//! Payload transforms: versioned programs in the jq language that change what is sent, never what is stored.
//!
//! This module runs no programs; a separate process does. It defines the records of programs and dry runs.

use crate::filter::LetterFilter;
use crate::id::{Actor, GroupId, LetterId, hash_hex};
use crate::limits::DRY_RUN_FAILURES_MAX;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One version of a group's program. Immutable once saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transform {
    /// The group.
    pub group: GroupId,
    /// 1 for the first.
    pub version: u32,
    /// The program, in the jq language.
    pub program: String,
    /// What it is for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who saved it.
    pub saved_by: Actor,
    /// When it was saved.
    pub saved_at: Timestamp,
}

impl Transform {
    /// Returns the exact identity of this program.
    pub fn named(&self) -> TransformRef {
        TransformRef { version: self.version, program_hash: program_hash(&self.program) }
    }
}

/// Returns the hash that identifies a program's text.
pub fn program_hash(program: &str) -> String {
    hash_hex(&["program", "1", program])
}

/// Returns the hash that identifies a body, so that the history can record what was sent without storing it twice.
pub fn body_hash(body: &str) -> String {
    hash_hex(&["body", "1", body])
}

/// A version and the hash of its program: the identity that a fix, its plan and its approval refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformRef {
    /// The version.
    pub version: u32,
    /// The hash of its program.
    pub program_hash: String,
}

impl TransformRef {
    /// Returns the version's label for people.
    pub fn label(&self) -> String {
        format!("transform v{}", self.version)
    }
}

/// Records that a transform changed a letter on sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedBy {
    /// The version that changed it.
    pub version: u32,
    /// The hash of the body that was sent ([`body_hash`]).
    pub body_hash: String,
}

/// One field that a program changes. Values are JSON with their digits unchanged, shortened if long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldChange {
    /// The JSON pointer: into the original for a removed field, else into the result.
    pub pointer: String,
    /// The value before; `None` for an added field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after; `None` for a removed field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// An error in a program, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramFault {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What is wrong, and what to do.
    pub message: String,
}

/// A letter on which a program fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterFailure {
    /// The letter.
    pub letter: LetterId,
    /// The reason, in one sentence.
    pub reason: String,
}

/// How many letters a program changes, leaves unchanged, and fails on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryCounts {
    /// Letters that the program would change.
    pub changed: u64,
    /// Letters that it would leave unchanged.
    pub unchanged: u64,
    /// Letters that it fails on: a replay would skip them.
    pub failed: u64,
}

impl DryCounts {
    /// Returns the number of letters that were tried.
    pub fn total(self) -> u64 {
        self.changed + self.unchanged + self.failed
    }
}

/// A dry run of one version on the letters of a plan. Stored page by page, so that no call has to process all letters,
/// and so that the gate relies on the office's own counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryRun {
    /// The group.
    pub group: GroupId,
    /// The version and its program's hash.
    pub transform: TransformRef,
    /// The filter over the waiting letters; empty for all.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// Increments with each page; conditional writes compare it.
    pub revision: u64,
    /// Who started it.
    pub by: Actor,
    /// When it started.
    pub began_at: Timestamp,
    /// When its latest page was completed.
    pub at: Timestamp,
    /// The counts so far.
    pub counts: DryCounts,
    /// The first letters that the program fails on.
    pub failures: Vec<LetterFailure>,
    /// The cursor to continue from; `None` once every letter was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl DryRun {
    /// Starts or restarts a run. `revision` is the stored run's revision, if there is one.
    pub fn begun(transform: &Transform, filter: &LetterFilter, by: &Actor, at: Timestamp, revision: u64) -> Self {
        Self {
            group: transform.group.clone(),
            transform: transform.named(),
            filter: filter.clone(),
            revision,
            by: by.clone(),
            began_at: at,
            at,
            counts: DryCounts::default(),
            failures: Vec::new(),
            next: None,
        }
    }

    /// Returns the run with another page counted and the next revision.
    pub fn counted(self, page: DryCounts, failures: Vec<LetterFailure>, next: Option<String>, at: Timestamp) -> Self {
        let counts = DryCounts {
            changed: self.counts.changed + page.changed,
            unchanged: self.counts.unchanged + page.unchanged,
            failed: self.counts.failed + page.failed,
        };
        let mut all = self.failures;
        all.extend(failures);
        all.truncate(DRY_RUN_FAILURES_MAX);
        Self { revision: self.revision + 1, at, counts, failures: all, next, ..self }
    }

    /// Whether the run applies to a plan with this filter: it used the same filter, or none.
    pub fn is_about(&self, filter: &LetterFilter) -> bool {
        self.filter.is_none() || self.filter == *filter
    }

    /// Whether every letter was tried.
    pub fn is_whole(&self) -> bool {
        self.next.is_none()
    }
}
