//! Plans, replays and the audit log as the dashboard shows them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::audit::AuditRecord;
use domain::fix::Fix;
use domain::id::{GroupId, ReplayId};
use domain::impact::Impact;
use domain::replay::{Approval, Backlog, Entry, Ledger, Plan, PlanHash, Replay, ReplayState, Resumed, WaveLedger};
use domain::time::{Span, Timestamp};
use domain::transform::TransformRef;
use serde::{Deserialize, Serialize};

/// A plan that awaits approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanAnswer {
    /// The plan.
    pub plan: Plan,
    /// The hash that an approval must name.
    pub hash: PlanHash,
    /// The expected duration if nothing returns.
    pub duration_ms: Span,
    /// Letters of the group that died after the plan was made; they are not included.
    pub arrived_since: u64,
}

/// A replay for display: without the lease of its executor and the pace's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayInfo {
    /// Increments with each change.
    pub version: u64,
    /// The approved plan.
    pub plan: Plan,
    /// The approval.
    pub approval: Approval,
    /// Time of the last send.
    pub last_sent_at: Option<Timestamp>,
    /// The main queue's backlog, as measured since the last send.
    #[serde(default)]
    pub backlog: Option<Backlog>,
    /// The state at the last resumption, if the replay was resumed.
    pub resumed: Option<Resumed>,
    /// The program that changes letters on sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformRef>,
    /// The state.
    #[serde(flatten)]
    pub state: ReplayState,
}

impl From<&Replay> for ReplayInfo {
    fn from(replay: &Replay) -> Self {
        Self {
            version: replay.version(),
            plan: replay.plan().clone(),
            approval: replay.approval().clone(),
            last_sent_at: replay.last_sent_at(),
            backlog: replay.backlog(),
            resumed: replay.resumed(),
            transform: replay.transform().cloned(),
            state: replay.state().clone(),
        }
    }
}

impl ReplayInfo {
    /// Returns its id.
    pub fn id(&self) -> &ReplayId {
        &self.plan.id
    }

    /// Returns its group.
    pub fn group(&self) -> &GroupId {
        &self.plan.group
    }

    /// Whether it is finished.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ReplayState::Finished { .. })
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        matches!(self.state, ReplayState::Paused { .. })
    }

    /// Returns the current wave, or the wave in which it was paused.
    pub fn wave(&self) -> Option<u32> {
        match self.state {
            ReplayState::Running { wave, .. } | ReplayState::Paused { wave, .. } => Some(wave),
            _ => None,
        }
    }
}

/// A replay with its ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayAnswer {
    /// The replay.
    pub replay: ReplayInfo,
    /// The title of its group.
    pub group_title: String,
    /// The fix that counts for this replay now, if it is under way, paused or has resolved the group. A replay that was
    /// resumed has another fix than its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// The columns of each wave.
    pub ledger: Ledger,
    /// The sums over all waves.
    pub total: WaveLedger,
    /// When the window of the letters in flight ends, if there are any.
    pub observed_until: Option<Timestamp>,
}

/// The list of replays, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplaysAnswer {
    /// The replays.
    pub replays: Vec<ReplayAnswer>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A letter of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryRow {
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// The message type; `None` if the letter is gone or has no type.
    pub message_type: Option<String>,
    /// The impact.
    pub impact: Option<Impact>,
}

/// A page of a replay's letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntriesAnswer {
    /// The letters.
    pub entries: Vec<EntryRow>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A page of the audit log, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditAnswer {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}
