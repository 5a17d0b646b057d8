//! The audit log: who did what, when and why. Append-only.

use crate::id::{Actor, GroupId, ReplayId};
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What happened, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The first letter of a new group arrived.
    GroupOpened,
    /// A fix was declared.
    FixDeclared,
    /// A version of the payload transform was saved.
    TransformSaved,
    /// A version of the payload transform was tried on every waiting letter.
    TransformTried,
    /// A fix was withdrawn.
    FixWithdrawn,
    /// A note was written or removed.
    NoteChanged,
    /// An owner was set or removed.
    OwnerChanged,
    /// A person asked for a search in the consumer's log.
    LogsRequested,
    /// A plan was begun that is made in steps.
    PlanBegun,
    /// A person cancelled a plan that was being made.
    PlanCancelled,
    /// A plan that was being made ended by itself.
    PlanFailed,
    /// A plan was made.
    ReplayPlanned,
    /// A condition of the gate was waived.
    ConditionWaived,
    /// A plan was approved, which started its replay.
    ReplayApproved,
    /// A wave started.
    WaveStarted,
    /// The office sends the canary after a resumption.
    CanaryStarted,
    /// The outcome of a wave is known.
    WaveSettled,
    /// The office paused the replay.
    #[serde(alias = "replay_stopped_itself")]
    ReplayPausedItself,
    /// A person paused the replay.
    ReplayPaused,
    /// A person resumed the replay.
    ReplayResumed,
    /// A person aborted the replay.
    ReplayAborted,
    /// Every letter of the replay has its outcome.
    ReplayFinished,
    /// The group has no open letters left.
    GroupResolved,
    /// A letter of a resolved group died after the fix.
    GroupRegressed,
    /// A letter returned after its outcome was recorded: delivered, or skipped.
    LateReturn,
    /// A letter died again after the last replay that the policy allows.
    LetterQuarantined,
    /// A person released letters from quarantine.
    LettersReleased,
    /// A person decided to discard letters, in steps.
    DiscardBegun,
    /// Letters were discarded.
    LettersDiscarded,
    /// A person decided to take discarded letters back, in steps.
    UndoBegun,
    /// Discarded letters were taken back.
    DiscardUndone,
    /// The group has no open letters left, because people discarded them.
    GroupDiscarded,
    /// A discarded letter died again.
    DiscardedDiedAgain,
    /// Variants were merged because they share a cause.
    GroupsMerged,
    /// A variant was unmerged from its group.
    #[serde(alias = "groups_parted")]
    GroupsUnmerged,
    /// Merging was allowed again for an unmerged variant.
    MergeAllowed,
    /// A person saw the payload of a letter, or values of it. At most one record per person, letter and hour.
    PayloadViewed,
    /// A person saved a history as a file. At most one record per person, file and hour.
    HistoryExported,
    /// A person saved a list of letters as a file. At most one record per person, file and hour.
    LettersExported,
}

impl Act {
    /// Whether it only looked at something. A list of changes leaves it out.
    pub fn is_view(self) -> bool {
        matches!(self, Self::PayloadViewed | Self::HistoryExported | Self::LettersExported)
    }
}

/// One record of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRecord {
    /// When it happened.
    pub at: Timestamp,
    /// Who did it.
    pub actor: Actor,
    /// What was done.
    pub act: Act,
    /// The group that it was done to.
    pub group: GroupId,
    /// The replay, if it was part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayId>,
    /// Details, in one sentence.
    pub detail: String,
    /// The reason that the person gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
