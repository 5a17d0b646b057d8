//! Plans, replays and the audit as the dashboard shows them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::audit::AuditRecord;
use domain::impact::Impact;
use domain::replay::{Entry, Ledger, Plan, PlanHash, Replay, WaveLedger};
use domain::time::{Span, Timestamp};
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

/// A replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayView {
    /// The replay.
    pub replay: Replay,
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
