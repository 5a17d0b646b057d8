//! The store port: typed reads, and one atomic commit of conditional writes.
//!
//! Rules live in `domain` and in the handlers. A store only compares versions, adds counters and maintains lists, so
//! that DynamoDB (`TransactWriteItems`) and SQLite behave alike.

use super::changed::{ChangePoint, Changed};
use super::entries::Listing;
use super::page::{Cursor, Page, StoreError};
use async_trait::async_trait;
use domain::audit::AuditRecord;
use domain::clock::ClockRecord;
use domain::deployment::{Attached, Deployment};
use domain::discard::Closed;
use domain::group::{CountedCustomers, CountsDelta, GroupCounts, Variant};
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::notice::KeptNotices;
use domain::policy::{Policy, PolicyVersion};
use domain::replay::{Block, Draft, Entry, Ledger, LedgerMove, OutcomeKind, Plan, Replay};
use domain::reported::{KeptReports, ReportKey};
use domain::time::Timestamp;
use domain::transform::{DryRun, Transform};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The record does not exist.
    Absent,
    /// The record exists and has this version.
    Version(u64),
}

/// One write of a commit. Each record may occur in one write of a commit only.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A letter. The store updates the lists by group and state. Comes with the [`Write::Counts`] of its group. The content
    /// is that of the first write: it never changes.
    Letter {
        /// The new record.
        letter: Box<Letter>,
        /// The condition.
        expect: Expect,
    },
    /// A death. It must not exist yet.
    Death(Box<Death>),
    /// The record of a fingerprint.
    Variant {
        /// The new record.
        variant: Box<Variant>,
        /// The condition.
        expect: Expect,
    },
    /// Adds to the counters, arrivals and customers of a fingerprint. These may exist without a variant for a moment.
    Counts {
        /// The fingerprint.
        group: GroupId,
        /// What to add.
        delta: Box<CountsDelta>,
    },
    /// The plan of a group that waits for approval. It replaces an earlier plan that was not approved. Its entries were
    /// written before (see [`Write::Block`]); the entries of an unapproved plan are never sent.
    Plan(Box<Plan>),
    /// Removes a group's waiting plan, on the condition that it is this plan.
    PlanTaken {
        /// The group.
        group: GroupId,
        /// The plan.
        plan: ReplayId,
    },
    /// A plan that is being made in steps.
    Draft {
        /// The new record.
        draft: Box<Draft>,
        /// The condition.
        expect: Expect,
    },
    /// Removes a draft, on the condition that it has this version.
    DraftGone {
        /// The draft.
        draft: ReplayId,
        /// The required version.
        version: u64,
    },
    /// Removes a block that a draft has written, if it exists.
    BlockGone {
        /// The draft.
        replay: ReplayId,
        /// The block's number.
        number: u64,
    },
    /// A replay.
    Replay {
        /// The new record.
        replay: Box<Replay>,
        /// The condition.
        expect: Expect,
    },
    /// Checks a replay's version without changing the replay: the fence of an executor.
    ReplayIs {
        /// The replay.
        replay: ReplayId,
        /// The required version.
        version: u64,
    },
    /// A block of entries of a replay. Comes with the [`Write::Ledger`] of the outcomes that change.
    Block {
        /// The new record.
        block: Box<Block>,
        /// The condition.
        expect: Expect,
    },
    /// Moves letters between columns of a replay's ledger.
    Ledger {
        /// The replay.
        replay: ReplayId,
        /// The moves.
        moves: Vec<LedgerMove>,
    },
    /// The entry that a message id on the main queue belongs to, for messages whose return may come without its marker.
    Sent {
        /// The message id from the main queue.
        message: MessageId,
        /// The entry.
        entry: EntryKey,
    },
    /// A deployment. The store keeps the latest of each service, by its time.
    Deployment {
        /// The new record.
        deployment: Deployment,
        /// A stored deployment later than this was written by a clock that has gone back since: it does not count as the
        /// later one.
        believed_until: Timestamp,
    },
    /// A version of a group's transform. It must not exist yet, and never changes.
    Transform(Box<Transform>),
    /// A dry run of a version. The condition compares its revision.
    DryRun {
        /// The new record.
        run: Box<DryRun>,
        /// The condition.
        expect: Expect,
    },
    /// The consumers that are attached to a main queue. The store keeps the last write.
    Attached(Attached),
    /// What consumers have reported of a message. The store may delete records of reports that have expired by then.
    Reports {
        /// The new record.
        kept: Box<KeptReports>,
        /// The condition.
        expect: Expect,
    },
    /// What the consumers of a main queue have said of themselves. The store may delete a record that has expired.
    Notices {
        /// The new record.
        kept: Box<KeptNotices>,
        /// The condition.
        expect: Expect,
    },
    /// What the sweeps have seen of the clock. The store keeps the last write.
    Clock(ClockRecord),
    /// What a process knew of all groups, packed. The store keeps the last write.
    Snapshot(Box<[u8]>),
    /// A version of the policy. Its number must follow that of the newest version, or be 1 if there is none.
    Policy(Box<PolicyVersion>),
    /// An audit record. Append-only; records of the same time keep the order of their writes.
    Audit(Box<AuditRecord>),
}

impl Write {
    /// Writes a block that has the version after the stored one.
    pub fn next_block(block: Block) -> Self {
        let expect = Expect::Version(block.version.saturating_sub(1));
        Self::Block { block: Box::new(block), expect }
    }
}

/// Which entry of which replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    /// The replay.
    pub replay: ReplayId,
    /// Its sequence number in the replay: [`Entry::seq`].
    pub seq: u64,
    /// The letter that is there.
    pub letter: LetterId,
}

/// Why a commit failed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Conditions did not hold, and nothing was written. Holds indexes of writes whose conditions failed: at least one,
    /// not necessarily all.
    #[error("{} conditions of a commit did not hold", .0.len())]
    Conflict(Vec<usize>),
    /// The store failed. The commit may have happened, unless [`StoreError::refused`] is set.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A variant with everything that is counted for it; or a group, once its merged variants are added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupFacts {
    /// The variant; of a group its representative.
    #[serde(alias = "group")]
    pub variant: Variant,
    /// The counters.
    pub counts: GroupCounts,
    /// The time of the first send of the oldest open letter.
    pub oldest_sent_at: Option<Timestamp>,
    /// The time at which the first open letter expires.
    pub loss_at: Option<Timestamp>,
    /// Deaths by bucket (see [`domain::group::arrival_bucket`]), ascending, from the requested bucket on.
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

/// The store. Reads of single records and of blocks see every earlier commit. Lists of letters, and [`Store::sent`], may
/// lag behind commits by moments, even the caller's own: a record that has just moved may be missing from every list,
/// but is never in a list that it has left.
#[async_trait]
pub trait Store: Send + Sync {
    /// Makes all writes or none. At most [`domain::limits::COMMIT_RECORDS_MAX`] records; see [`Write::records`].
    async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError>;

    /// Reads a letter.
    async fn letter(&self, id: &LetterId) -> Result<Option<Letter>, StoreError>;

    /// Reads at most 200 letters by id, in the requested order. Skips letters that do not exist.
    async fn letters(&self, ids: &[LetterId]) -> Result<Vec<Letter>, StoreError>;

    /// Lists the letters of a fingerprint, in one state or in any, ordered by the time of their first send, oldest
    /// first, then by id. A cursor names a send and an id (see [`super::ListPosition`]), so it is valid for every
    /// fingerprint.
    async fn letters_of(
        &self,
        group: &GroupId,
        state: Option<LetterStateKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Letter>, StoreError>;

    /// Returns whether a death is stored.
    async fn has_death(&self, id: &DeathId) -> Result<bool, StoreError>;

    /// Lists at most 100 deaths of a letter that died more than once, first death first. A single death is part of its
    /// letter and not stored by itself.
    async fn deaths(&self, letter: &LetterId) -> Result<Vec<Death>, StoreError>;

    /// Reads a variant.
    async fn group(&self, id: &GroupId) -> Result<Option<Variant>, StoreError>;

    /// Reads a variant and its counters, with arrivals from the given bucket on.
    async fn group_facts(&self, id: &GroupId, arrivals_from: i64) -> Result<Option<GroupFacts>, StoreError>;

    /// Lists all variants and their counters, in a stable order.
    async fn groups(
        &self,
        arrivals_from: i64,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GroupFacts>, StoreError>;

    /// Counts the customers of these fingerprints: those of each added up, and the different ones among them. Reads every
    /// customer: ask only for few ([`domain::limits::CUSTOMERS_COUNTED_MAX`]). May lag behind commits by moments; then the
    /// sum is lower than that of the counters.
    async fn customers_of(&self, groups: &[GroupId]) -> Result<CountedCustomers, StoreError>;

    /// Lists the fingerprints whose record or counters were changed since a point: at least by every commit that took
    /// effect after the call that returned the point. It may list others. Without a point it lists none.
    ///
    /// Returns `None` if the point is too long ago. Then everything must be read again.
    async fn changed(&self, since: Option<ChangePoint>) -> Result<Option<Changed>, StoreError>;

    /// Reads the last snapshot of all groups; `None` if there is none, or not all of it any more.
    async fn snapshot(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Reads the plan of a group that waits for approval.
    async fn plan(&self, group: &GroupId) -> Result<Option<Plan>, StoreError>;

    /// Reads a plan that is being made in steps.
    async fn draft(&self, id: &ReplayId) -> Result<Option<Draft>, StoreError>;

    /// Reads a replay.
    async fn replay(&self, id: &ReplayId) -> Result<Option<Replay>, StoreError>;

    /// Lists the replays of one group or of all, newest approval first.
    async fn replays(
        &self,
        group: Option<&GroupId>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Replay>, StoreError>;

    /// Lists the replays that are not finished.
    async fn unfinished_replays(&self) -> Result<Vec<ReplayId>, StoreError>;

    /// Reads the ledger of a plan or replay.
    async fn ledger(&self, replay: &ReplayId) -> Result<Ledger, StoreError>;

    /// Reads at most `limit` blocks of a replay in their order, from this number on.
    async fn blocks(&self, replay: &ReplayId, from: u64, limit: usize) -> Result<Vec<Block>, StoreError>;

    /// Reads at most 100 blocks of a replay by their numbers, each once, in any order. Skips blocks that do not exist.
    async fn blocks_at(&self, replay: &ReplayId, numbers: &[u64]) -> Result<Vec<Block>, StoreError>;

    /// Lists entries of a replay in their order, of one wave or any, and with one outcome or any. A page may be shorter
    /// than the limit although more follow, if many other entries lie between those that match.
    async fn entries(
        &self,
        replay: &ReplayId,
        wave: Option<u32>,
        outcome: Option<OutcomeKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Entry>, StoreError> {
        // The ledger says which waves need not be read.
        let ledger = if wave.is_none() && outcome.is_none() { Ledger::default() } else { self.ledger(replay).await? };
        let mut listing = Listing::new(&ledger, (wave, outcome), after, limit);
        while let Some((from, limit)) = listing.wanted() {
            listing.add(self.blocks(replay, from, limit).await?);
        }
        Ok(listing.page())
    }

    /// Looks up at most 200 message ids that [`Write::Sent`] recorded. Skips unknown ids. May lag behind commits by
    /// moments: a message that was sent takes longer to come back.
    async fn sent(&self, messages: &[MessageId]) -> Result<BTreeMap<MessageId, EntryKey>, StoreError>;

    /// Reads the latest deployment of a service.
    async fn deployment(&self, service: &str) -> Result<Option<Deployment>, StoreError>;

    /// Reads a version of a group's transform and its dry run.
    async fn transform(&self, group: &GroupId, version: u32) -> Result<Option<TransformFacts>, StoreError>;

    /// Lists all versions of a group's transform with their dry runs, newest first.
    async fn transforms(&self, group: &GroupId) -> Result<Vec<TransformFacts>, StoreError>;

    /// Reads which consumers are attached to a main queue; `None` if the platform was never asked.
    async fn attached(&self, queue: &QueueArn) -> Result<Option<Attached>, StoreError>;

    /// Reads at most 200 records of reports by key, each once. Skips keys without one.
    async fn reports(&self, keys: &[ReportKey]) -> Result<Vec<KeptReports>, StoreError>;

    /// Reads what the consumers of a main queue have said of themselves; `None` if nothing.
    async fn notices(&self, queue: &QueueArn) -> Result<Option<KeptNotices>, StoreError>;

    /// Reads what the sweeps have seen of the clock; `None` before the first sweep.
    async fn clock(&self) -> Result<Option<ClockRecord>, StoreError>;

    /// Reads the newest version of the policy; `None` if the deployment's policy applies.
    async fn policy(&self) -> Result<Option<PolicyVersion>, StoreError>;

    /// Lists at most `limit` versions of the policy, newest first, of those below `before`.
    async fn policies(&self, before: Option<u64>, limit: usize) -> Result<Vec<PolicyVersion>, StoreError>;

    /// Sets how long letters are kept that are closed from now on, for a store that deletes letters by itself.
    fn keep_closed(&self, _policy: &Policy) {}

    /// Lists the audit records of a group, newest first.
    async fn audit(
        &self,
        group: &GroupId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRecord>, StoreError>;

    /// Deletes at most `limit` letters that were closed in this way before this time, and returns how many. Records
    /// without the letters' content stay: counters, ledgers, entries, deaths, the audit. A store may also delete letters
    /// by itself once they are old enough, and leave only some of them to this call.
    async fn forget(&self, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
}
