//! A fix: a person's claim that the cause is removed.

use crate::id::Actor;
use crate::person::PersonId;
use crate::time::Timestamp;
use crate::transform::TransformRef;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The kind of a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// A new version of the consumer is running.
    Deploy,
    /// A setting was changed.
    Config,
    /// Missing or wrong data was corrected.
    DataRepair,
    /// A dependency of the consumer has recovered.
    DependencyRecovered,
    /// The letters are changed on sending ([`crate::transform`]).
    PayloadTransform,
}

impl FixKind {
    /// All kinds, in the order of the form.
    pub const ALL: [Self; 5] =
        [Self::Deploy, Self::Config, Self::DataRepair, Self::DependencyRecovered, Self::PayloadTransform];

    /// Returns the kind in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Deploy => "Deploy",
            Self::Config => "Configuration change",
            Self::DataRepair => "Data repair",
            Self::DependencyRecovered => "Dependency recovered",
            Self::PayloadTransform => "Payload transform",
        }
    }
}

/// A declared fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fix {
    /// The kind.
    pub kind: FixKind,
    /// A version, commit, ticket or link for colleagues to look at.
    pub reference: String,
    /// What was done, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who declared it.
    pub declared_by: Actor,
    /// Their identity, which the approver's is compared with. `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_by_id: Option<PersonId>,
    /// When it was declared.
    pub declared_at: Timestamp,
    /// When it took effect: the deployment's time if one was reported, else the time of declaration. Failures before
    /// this moment do not count against the fix.
    pub effective_at: Timestamp,
    /// The program that changes the letters on sending: of a fix that is a transform, and of any other fix that needs one.
    /// The plan, its hash and its approval refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformRef>,
}

impl Fix {
    /// Returns the fix in words: `Deploy v2`, `Deploy v2 with transform v1`.
    pub fn label(&self) -> String {
        let words = format!("{} {}", self.kind.label(), self.reference);
        match &self.transform {
            Some(transform) if self.kind != FixKind::PayloadTransform => format!("{words} with {}", transform.label()),
            _ => words,
        }
    }
}
