//! A fix: somebody's claim that the cause is gone.

use crate::id::Actor;
use crate::time::Timestamp;
use crate::transform::TransformRef;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What kind of fix it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// A new version of the consumer is running.
    Deploy,
    /// A setting was changed.
    Config,
    /// Data that was missing or wrong was put right.
    DataRepair,
    /// What the consumer depends on works again.
    DependencyRecovered,
    /// The letters are changed as they are sent ([`crate::transform`]).
    PayloadTransform,
}

impl FixKind {
    /// All kinds, in the order a person is asked.
    pub const ALL: [Self; 5] =
        [Self::Deploy, Self::Config, Self::DataRepair, Self::DependencyRecovered, Self::PayloadTransform];

    /// The kind in words.
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

/// The claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fix {
    /// What kind.
    pub kind: FixKind,
    /// A version, commit, ticket or link: what a colleague would look at.
    pub reference: String,
    /// What was done, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who says so.
    pub declared_by: Actor,
    /// When it was declared.
    pub declared_at: Timestamp,
    /// Since when it works: the deployment's time where one was reported, else when it was declared. What died
    /// before does not speak against it.
    pub effective_at: Timestamp,
    /// The program that changes the letters, where that is the fix: so a plan, its hash and its approval name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformRef>,
}
