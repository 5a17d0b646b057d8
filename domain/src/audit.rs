//! The audit: who did what, when and why. Append-only.

use crate::id::{Actor, GroupId, ReplayId};
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What happened, in a closed set of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The first letter of a cause arrived.
    GroupOpened,
    /// A fix was declared.
    FixDeclared,
    /// A version of the payload transform was saved.
    TransformSaved,
    /// A version of the payload transform was tried over every letter that waits.
    TransformTried,
    /// A fix was withdrawn.
    FixWithdrawn,
    /// A note was written or removed.
    NoteChanged,
    /// A plan was made.
    ReplayPlanned,
    /// A condition of the gate was waived.
    ConditionWaived,
    /// A plan was approved and its replay started.
    ReplayApproved,
    /// A wave began.
    WaveStarted,
    /// A wave's outcome is known.
    WaveSettled,
    /// The replay stopped by itself.
    #[serde(alias = "replay_stopped_itself")]
    ReplayPausedItself,
    /// A person paused it.
    ReplayPaused,
    /// A person let it go on.
    ReplayResumed,
    /// A person ended it.
    ReplayAborted,
    /// Every letter of the replay has its outcome.
    ReplayFinished,
    /// The group has no open letter left.
    GroupResolved,
    /// A letter died of a resolved cause after its fix.
    GroupRegressed,
    /// A letter came back after it had been counted as delivered.
    LateReturn,
    /// A letter died again after its last replay that the policy allows.
    LetterQuarantined,
    /// A person let letters out of quarantine.
    LettersReleased,
    /// Groups were found to be one cause.
    GroupsMerged,
    /// A group was taken out of a merge.
    #[serde(alias = "groups_parted")]
    GroupsUnmerged,
    /// A group that was taken out may be merged again.
    MergeAllowed,
}

/// One entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRecord {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What.
    pub act: Act,
    /// On which group.
    pub group: GroupId,
    /// In which replay, where it was in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayId>,
    /// The particulars, in a sentence.
    pub detail: String,
    /// The reason that the person gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
