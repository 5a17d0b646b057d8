//! Plans, replays and the audit as the dashboard shows them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::audit::AuditRecord;
use domain::id::{GroupId, ReplayId};
use domain::impact::Impact;
use domain::replay::{Approval, Backlog, Entry, Ledger, Plan, PlanHash, Replay, ReplayState, Resumed, WaveLedger};
use domain::time::{Span, Timestamp};
use domain::transform::TransformRef;
use serde::{Deserialize, Serialize};

/// A plan that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanView {
    /// The plan.
    pub plan: Plan,
    /// What an approval must name.
    pub hash: PlanHash,
    /// How long it takes if nothing comes back.
    pub duration_ms: Span,
    /// Letters of the group that died after the plan was made; they are not in it.
    pub arrived_since: u64,
}

/// A replay as people see it: without the lease of its executor and the pace's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayInfo {
    /// Grows by one with each change.
    pub version: u64,
    /// The approved plan.
    pub plan: Plan,
    /// The approval.
    pub approval: Approval,
    /// When the last letter was sent.
    pub last_sent_at: Option<Timestamp>,
    /// The main queue's backlog, as seen since then.
    #[serde(default)]
    pub backlog: Option<Backlog>,
    /// Set by a resumption.
    pub resumed: Option<Resumed>,
    /// The program that changes letters as they are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformRef>,
    /// Where it is in its life.
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
    /// Its id.
    pub fn id(&self) -> &ReplayId {
        &self.plan.id
    }

    /// Its group.
    pub fn group(&self) -> &GroupId {
        &self.plan.group
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ReplayState::Finished { .. })
    }

    /// Whether it waits for a person.
    pub fn is_paused(&self) -> bool {
        matches!(self.state, ReplayState::Paused { .. })
    }

    /// The wave it is in, or was in when it was paused.
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
pub struct ReplayView {
    /// The replay.
    pub replay: ReplayInfo,
    /// The title of its group.
    pub group_title: String,
    /// The columns of each wave.
    pub ledger: Ledger,
    /// The sums over all waves.
    pub total: WaveLedger,
    /// When the window of what is in flight ends, if anything is.
    pub observed_until: Option<Timestamp>,
}

/// The list of replays, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplaysAnswer {
    /// The replays.
    pub replays: Vec<ReplayView>,
    /// What to ask for the next page with; none on the last one.
    pub next: Option<String>,
}

/// A letter of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryRow {
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// The kind of message; none when the letter is gone.
    pub message_type: Option<String>,
    /// What it costs.
    pub impact: Option<Impact>,
}

/// A page of a replay's letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntriesPage {
    /// The letters.
    pub entries: Vec<EntryRow>,
    /// What to ask for the next page with; none on the last one.
    pub next: Option<String>,
}

/// A page of the audit, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditPage {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// What to ask for the next page with; none on the last one.
    pub next: Option<String>,
}
