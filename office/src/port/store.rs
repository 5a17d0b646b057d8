//! The store: typed reads, and one atomic commit of conditional writes.
//!
//! Rules live in `domain` and in the handlers; a store compares versions, adds counters and keeps lists. That is all,
//! so that DynamoDB (TransactWriteItems) and SQLite can do it alike.

use async_trait::async_trait;
use domain::audit::AuditRecord;
use domain::deployment::{Attached, Deployment};
use domain::group::{CountsDelta, GroupCounts, Variant};
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::replay::{Entry, Ledger, LedgerMove, OutcomeKind, Plan, Replay};
use domain::time::Timestamp;
use domain::transform::{DryRun, Transform};
use std::collections::BTreeMap;

/// What must be true of a record for a write of it to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// There is no such record.
    Absent,
    /// There is one, of this version.
    Version(u64),
}

/// One write of a commit. No two writes of a commit may name the same record.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A letter. Lists by group and state follow from it. Goes with the [`Write::Counts`] of its group.
    Letter {
        /// As it shall be.
        letter: Box<Letter>,
        /// The condition.
        expect: Expect,
    },
    /// A death; must not exist yet.
    Death(Box<Death>),
    /// A group's head.
    Variant {
        /// As it shall be.
        group: Box<Variant>,
        /// The condition.
        expect: Expect,
    },
    /// Adds to a group's counters, arrivals and set of customers. Exists without a head for a moment at most.
    Counts {
        /// The group.
        group: GroupId,
        /// What to add.
        delta: Box<CountsDelta>,
    },
    /// The plan that waits for approval in a group; replaces an earlier one that was not approved. The entries were
    /// written before (see [`Write::Entry`]), and an unapproved plan's entries are never sent.
    Plan(Box<Plan>),
    /// Removes a group's waiting plan, which must be this one.
    PlanTaken {
        /// The group.
        group: GroupId,
        /// The plan.
        plan: ReplayId,
    },
    /// A replay.
    Replay {
        /// As it shall be.
        replay: Box<Replay>,
        /// The condition.
        expect: Expect,
    },
    /// Checks a replay's version without changing it: the fence of an executor.
    ReplayIs {
        /// The replay.
        replay: ReplayId,
        /// The version it must have.
        version: u64,
    },
    /// An entry of a replay.
    Entry {
        /// As it shall be.
        entry: Box<Entry>,
        /// The outcome that it must have now and the number of sends; none if it must not exist.
        was: Option<(OutcomeKind, u32)>,
    },
    /// Moves letters between columns of a replay's ledger.
    Ledger {
        /// The replay.
        replay: ReplayId,
        /// The moves.
        moves: Vec<LedgerMove>,
    },
    /// Which entry a message id on the main queue belongs to, so that a return is recognised without its marker.
    Sent {
        /// The message id that the main queue gave.
        message: MessageId,
        /// The replay.
        replay: ReplayId,
        /// The letter.
        letter: LetterId,
    },
    /// A deployment; the latest of each service is kept, by its time.
    Deployment(Deployment),
    /// A version of a group's transform; must not exist yet, and is never changed.
    Transform(Box<Transform>),
    /// A dry run of a version. Its revision is what the condition compares.
    DryRun {
        /// As it shall be.
        run: Box<DryRun>,
        /// The condition.
        expect: Expect,
    },
    /// What is attached to a main queue; the last that is written is kept.
    Attached(Attached),
    /// An audit record. Append-only; several of one moment keep the order of their writes.
    Audit(Box<AuditRecord>),
}

/// Why a commit did not happen.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Conditions did not hold; nothing was written. The indexes of the writes whose conditions failed (at least one,
    /// not necessarily all).
    #[error("{} of the conditions of a commit did not hold", .0.len())]
    Conflict(Vec<usize>),
    /// The store failed. Whether the commit happened is not known.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The store failed.
#[derive(Debug, thiserror::Error)]
#[error("the store failed to {operation}")]
pub struct StoreError {
    /// What it was doing, for example `read letter 3fa9…`.
    pub operation: String,
    /// The fault.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
    /// Whether the store will not take these very writes, however often they are tried. Nothing was written.
    pub refused: bool,
}

/// Where a page ended: opaque text that the store makes and understands. One it does not understand starts the list
/// from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next one starts; none on the last page.
    pub next: Option<Cursor>,
}

/// What is kept of a group beside its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// The head.
    pub group: Variant,
    /// The counters.
    pub counts: GroupCounts,
    /// When the oldest open letter was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the first open letter is lost.
    pub loss_at: Option<Timestamp>,
    /// Deaths by bucket (see [`domain::group::arrival_bucket`]) from the asked bucket on, ascending.
    pub arrivals: Vec<(i64, u64)>,
}

/// A version of a group's transform, and its dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformFacts {
    /// The version.
    pub transform: Transform,
    /// Its latest dry run.
    pub dry_run: Option<DryRun>,
}

/// The store. Records are read as they are. Lists of letters and entries, and what was sent, may lag behind commits by
/// moments, one's own too: what was just moved may stand in none, and stands in no list where it is no longer.
#[async_trait]
pub trait Store: Send + Sync {
    /// Does all writes or none. At most [`domain::limits::COMMIT_RECORDS_MAX`] records, see [`Write::records`].
    async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError>;

    /// A letter.
    async fn letter(&self, id: &LetterId) -> Result<Option<Letter>, StoreError>;

    /// Letters by id, in the order asked; those that do not exist are left out. At most 200.
    async fn letters(&self, ids: &[LetterId]) -> Result<Vec<Letter>, StoreError>;

    /// Letters of a group in one state, or in any; by the time of their first send, oldest first, then by id. A cursor
    /// of this list names a send and an id under [`super::Place`], so it holds in the list of any group.
    async fn letters_of(
        &self,
        group: &GroupId,
        state: Option<LetterStateKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Letter>, StoreError>;

    /// Whether a death is stored.
    async fn has_death(&self, id: &DeathId) -> Result<bool, StoreError>;

    /// The deaths of a letter that died more than once, first one first; at most 100. (The letter itself tells of a
    /// death that is its only one.)
    async fn deaths(&self, letter: &LetterId) -> Result<Vec<Death>, StoreError>;

    /// The head of a group.
    async fn group(&self, id: &GroupId) -> Result<Option<Variant>, StoreError>;

    /// A group with all that is kept of it; arrivals from the given bucket on.
    async fn group_facts(&self, id: &GroupId, arrivals_from: i64) -> Result<Option<GroupFacts>, StoreError>;

    /// All groups, in a stable order.
    async fn groups(
        &self,
        arrivals_from: i64,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GroupFacts>, StoreError>;

    /// The plan that waits for approval in a group.
    async fn plan(&self, group: &GroupId) -> Result<Option<Plan>, StoreError>;

    /// A replay.
    async fn replay(&self, id: &ReplayId) -> Result<Option<Replay>, StoreError>;

    /// Replays, of one group or of all, newest approval first.
    async fn replays(
        &self,
        group: Option<&GroupId>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Replay>, StoreError>;

    /// The replays that are not finished.
    async fn unfinished_replays(&self) -> Result<Vec<ReplayId>, StoreError>;

    /// The ledger of a plan or replay.
    async fn ledger(&self, replay: &ReplayId) -> Result<Ledger, StoreError>;

    /// Entries of a replay in their order; of one wave and one outcome, or any.
    async fn entries(
        &self,
        replay: &ReplayId,
        wave: Option<u32>,
        outcome: Option<OutcomeKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Entry>, StoreError>;

    /// The entry of a letter in a replay.
    async fn entry(&self, replay: &ReplayId, letter: &LetterId) -> Result<Option<Entry>, StoreError>;

    /// What [`Write::Sent`] recorded of some message ids; those that it did not are left out. At most 200. May lag
    /// behind every commit by moments: a message that was sent takes longer to come back.
    async fn sent(&self, messages: &[MessageId]) -> Result<BTreeMap<MessageId, (ReplayId, LetterId)>, StoreError>;

    /// The latest deployment of a service.
    async fn deployment(&self, service: &str) -> Result<Option<Deployment>, StoreError>;

    /// A version of a group's transform, with its dry run.
    async fn transform(&self, group: &GroupId, version: u32) -> Result<Option<TransformFacts>, StoreError>;

    /// All versions of a group's transform with their dry runs, newest first.
    async fn transforms(&self, group: &GroupId) -> Result<Vec<TransformFacts>, StoreError>;

    /// What is attached to a main queue, where somebody has looked.
    async fn attached(&self, queue: &QueueArn) -> Result<Option<Attached>, StoreError>;

    /// The audit of a group, newest first.
    async fn audit(
        &self,
        group: &GroupId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRecord>, StoreError>;

    /// Forgets letters that were delivered before a moment: each with its content, at most so many. Gives how many.
    /// What tells of them without their content stays: counters, ledgers, entries, deaths, the audit. A store may
    /// forget letters by itself once they are as old as it was told, and leave only some of them to this.
    async fn forget(&self, delivered_before: Timestamp, limit: usize) -> Result<usize, StoreError>;
}
