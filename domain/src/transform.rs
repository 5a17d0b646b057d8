//! Payload transforms: versioned programs in the jq language that change what is sent, never what is kept.
//!
//! Nothing here runs a program: that is done outside, in a process of its own. Here are the facts about one, and what
//! a dry run says of it.

use crate::filter::LetterFilter;
use crate::id::{Actor, GroupId, LetterId, hash_hex};
use crate::limits::DRY_RUN_FAILURES_MAX;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One version of a group's program. Never changed once it is saved.
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
    /// When.
    pub saved_at: Timestamp,
}

impl Transform {
    /// What names exactly this program.
    pub fn named(&self) -> TransformRef {
        TransformRef { version: self.version, program_hash: program_hash(&self.program) }
    }
}

/// What names a program's text exactly.
pub fn program_hash(program: &str) -> String {
    hash_hex(&["program", "1", program])
}

/// What names a body exactly, so that a history can tell what was sent without keeping it twice.
pub fn body_hash(body: &str) -> String {
    hash_hex(&["body", "1", body])
}

/// A version and the hash of its program: what a fix, and so a plan and its approval, name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransformRef {
    /// The version.
    pub version: u32,
    /// The hash of its program.
    pub program_hash: String,
}

impl TransformRef {
    /// The version as people call it.
    pub fn label(&self) -> String {
        format!("transform v{}", self.version)
    }
}

/// How a letter was sent when a transform changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedBy {
    /// The version that changed it.
    pub version: u32,
    /// The hash of the body that was sent ([`body_hash`]).
    pub body_hash: String,
}

/// One field that a program changes. Values are JSON, with their digits as they stand, cut where they are long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldChange {
    /// Where: a JSON pointer; in the original for what is removed, else in what would be sent.
    pub pointer: String,
    /// The value before; none for a field that is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after; none for a field that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What is wrong with a program, and where.
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

/// A letter that a program fails on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterFailure {
    /// The letter.
    pub letter: LetterId,
    /// Why, in a sentence.
    pub reason: String,
}

/// How many letters a program changes, leaves as they are, and fails on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryCounts {
    /// Letters that it would change.
    pub changed: u64,
    /// Letters that it would leave as they are.
    pub unchanged: u64,
    /// Letters that it fails on: they would be skipped.
    pub failed: u64,
}

impl DryCounts {
    /// All letters that were tried.
    pub fn total(self) -> u64 {
        self.changed + self.unchanged + self.failed
    }
}

/// A dry run of one version over the letters that a plan would take: kept page by page, so that no call has to do all of
/// it, and so that the gate judges what the office itself has counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryRun {
    /// The group.
    pub group: GroupId,
    /// The version, and its program.
    pub transform: TransformRef,
    /// Which of the letters that wait; all when it asks for nothing.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// Grows by one with each page; what a conditional write compares.
    pub revision: u64,
    /// Who began it.
    pub by: Actor,
    /// When it began.
    pub began_at: Timestamp,
    /// When its latest page was done.
    pub at: Timestamp,
    /// What it has counted.
    pub counts: DryCounts,
    /// The first letters that it fails on.
    pub failures: Vec<LetterFailure>,
    /// Where it goes on; none when every letter was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl DryRun {
    /// A run that begins, or begins again: `revision` is what the stored one has, if there is one.
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

    /// With another page counted, one revision on.
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

    /// Whether it says something about a plan with this filter: it was over the same letters, or over all.
    pub fn is_about(&self, filter: &LetterFilter) -> bool {
        self.filter.is_none() || self.filter == *filter
    }

    /// Whether every letter was tried.
    pub fn is_whole(&self) -> bool {
        self.next.is_none()
    }
}
