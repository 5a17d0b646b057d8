//! The store port over one DynamoDB table with one secondary index, and a bucket for large blobs.
//!
//! | module | task |
//! |---|---|
//! | `key` | keys of all records |
//! | `commit`, `transaction`, `action`, `learned` | writing |
//! | `read`, `list` | reading |
//! | `counts`, `customers` | counters in shards, and customers |
//! | `changed`, `snapshot` | which groups have changed, and all groups at a moment |
//! | `pack`, `large` | packing records, storing large ones |
//! | `forget` | deleting letters that were closed long ago |
//! | `bucket` | calls to S3 |
//! | `table` | calls to DynamoDB |
//!
//! The transaction that changes a letter also changes the counters. Lists come from the index, which lags behind the
//! records by moments.

mod action;
mod bucket;
mod changed;
mod commit;
mod counts;
mod customers;
mod fault;
mod forget;
mod item;
mod key;
mod large;
mod learned;
mod list;
mod meter;
mod pack;
mod read;
mod snapshot;
mod table;
#[cfg(test)]
mod throughput_tests;
mod transaction;

pub use meter::Usage;

use crate::connect;
use async_trait::async_trait;
use aws_config::SdkConfig;
use bucket::Bucket;
use commit::Committer;
use domain::audit::AuditRecord;
use domain::clock::ClockRecord;
use domain::deployment::{Attached, Deployment};
use domain::discard::Closed;
use domain::group::{CountedCustomers, Variant};
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::limits::{COMMIT_RECORDS_MAX, PAGE_MAX};
use domain::notice::KeptNotices;
use domain::policy::{Policy, PolicyVersion};
use domain::replay::{Block, Draft, Ledger, Plan, Replay};
use domain::reported::{KeptReports, ReportKey};
use domain::time::Timestamp;
use fault::Fault;
use office::port::{
    ChangePoint, Changed, CommitError, Cursor, EntryKey, GroupFacts, Page, Store, StoreError, TransformFacts, Write,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use table::{Kept, Table};

/// Deaths that [`Store::deaths`] returns at most.
const DEATHS_MAX: usize = 100;

/// Blobs of this many compressed bytes or more go to the bucket if there is one. Writing 300 KB to DynamoDB costs 300
/// write units, as much as writing 37 objects to S3. For smaller blobs, saving one call is worth more.
pub const BUCKET_FROM_BYTES: usize = 300 * 1024;

/// The store in DynamoDB.
pub struct DynamoStore {
    table: Table,
    committer: Committer,
}

impl DynamoStore {
    /// Creates a store over an existing table.
    pub fn new(config: &SdkConfig, table: impl Into<String>) -> Self {
        let config = aws_sdk_dynamodb::config::Builder::from(config).timeout_config(connect::table_timeouts());
        let client = aws_sdk_dynamodb::Client::from_conf(config.build());
        Self { table: Table::new(client, table.into()), committer: Committer::new() }
    }

    /// Stores blobs of `from_bytes` compressed bytes or more in this bucket. On AWS, `from_bytes` is
    /// [`BUCKET_FROM_BYTES`].
    pub fn with_bucket(mut self, config: &SdkConfig, bucket: impl Into<String>, from_bytes: usize) -> Self {
        self.table.bucket = Some(Bucket::new(config, bucket.into(), from_bytes));
        self
    }

    /// Deletes letters when they were closed as long ago as the policy says. See [`Store::keep_closed`].
    ///
    /// DynamoDB deletes letters without blobs if the table has a TTL setting, as in `infra/template.yaml`.
    /// [`Store::forget`] deletes letters with blobs.
    #[must_use]
    pub fn keeping_closed(self, policy: &Policy) -> Self {
        self.keep_closed(policy);
        self
    }

    /// Replaces the clock of the notes of changed groups, for tests that count writes: there is one note a minute.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        self.table.clock = clock;
        self
    }

    /// Creates the bucket, if the store has one, on a local endpoint. On AWS, the stack creates it.
    pub async fn create_bucket(&self) -> Result<(), StoreError> {
        match &self.table.bucket {
            Some(bucket) => bucket.create().await.map_err(|fault| fault.during("create the bucket")),
            None => Ok(()),
        }
    }

    /// Creates the table on a local endpoint. On AWS, the stack creates it.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        self.table.create().await.map_err(|fault| fault.during("create the table"))
    }

    /// Returns the table's name.
    pub fn table_name(&self) -> &str {
        self.table.name()
    }

    /// Returns this process's usage of DynamoDB so far.
    pub fn usage(&self) -> Usage {
        self.table.meter.usage()
    }
}

#[async_trait]
impl Store for DynamoStore {
    async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
        match writes.iter().map(Write::records).sum() {
            0 => Ok(()),
            1..=COMMIT_RECORDS_MAX => self.committer.commit(&self.table, &writes).await,
            count => Err(Fault::TooMany { what: "records", count, max: COMMIT_RECORDS_MAX }.during("commit").into()),
        }
    }

    async fn letter(&self, id: &LetterId) -> Result<Option<Letter>, StoreError> {
        let found = read::letters(&self.table, std::slice::from_ref(id)).await;
        found.map(|mut found| found.pop()).map_err(|fault| fault.during(format!("read letter {id}")))
    }

    async fn letters(&self, ids: &[LetterId]) -> Result<Vec<Letter>, StoreError> {
        let count = ids.len();
        if count > PAGE_MAX {
            return Err(Fault::TooMany { what: "letters", count, max: PAGE_MAX }.during("read letters"));
        }
        read::letters(&self.table, ids).await.map_err(|fault| fault.during(format!("read {count} letters")))
    }

    async fn letters_of(
        &self,
        group: &GroupId,
        state: Option<LetterStateKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Letter>, StoreError> {
        let page = list::letters(&self.table, group, state, after, limit).await;
        page.map_err(|fault| fault.during(format!("list letters of group {group}")))
    }

    async fn has_death(&self, id: &DeathId) -> Result<bool, StoreError> {
        let found = self.table.get(&key::death(id)).await;
        found.map(|item| item.is_some()).map_err(|fault| fault.during(format!("read death {id}")))
    }

    async fn deaths(&self, letter: &LetterId) -> Result<Vec<Death>, StoreError> {
        let found = list::deaths(&self.table, letter, DEATHS_MAX).await;
        found.map_err(|fault| fault.during(format!("list deaths of letter {letter}")))
    }

    async fn group(&self, id: &GroupId) -> Result<Option<Variant>, StoreError> {
        let found = read::one(&self.table, "variant", key::variant(id)).await;
        found.map_err(|fault| fault.during(format!("read group {id}")))
    }

    async fn group_facts(&self, id: &GroupId, arrivals_from: i64) -> Result<Option<GroupFacts>, StoreError> {
        let found = read::facts(&self.table, id, arrivals_from).await;
        found.map_err(|fault| fault.during(format!("read facts of group {id}")))
    }

    async fn groups(
        &self,
        arrivals_from: i64,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GroupFacts>, StoreError> {
        list::groups(&self.table, arrivals_from, after, limit).await.map_err(|fault| fault.during("list groups"))
    }

    async fn customers_of(&self, groups: &[GroupId]) -> Result<CountedCustomers, StoreError> {
        let count = groups.len();
        let found = customers::count(&self.table, groups).await;
        found.map_err(|fault| fault.during(format!("count the customers of {count} groups")))
    }

    async fn changed(&self, since: Option<ChangePoint>) -> Result<Option<Changed>, StoreError> {
        changed::since(&self.table, since).await.map_err(|fault| fault.during("list what has changed"))
    }

    async fn snapshot(&self) -> Result<Option<Vec<u8>>, StoreError> {
        snapshot::read(&self.table).await.map_err(|fault| fault.during("read the snapshot of all groups"))
    }

    async fn plan(&self, group: &GroupId) -> Result<Option<Plan>, StoreError> {
        let found = read::one(&self.table, "plan", key::plan(group)).await;
        found.map_err(|fault| fault.during(format!("read the plan of group {group}")))
    }

    async fn draft(&self, id: &ReplayId) -> Result<Option<Draft>, StoreError> {
        let found = read::one(&self.table, "draft", key::draft(id)).await;
        found.map_err(|fault| fault.during(format!("read draft {id}")))
    }

    async fn replay(&self, id: &ReplayId) -> Result<Option<Replay>, StoreError> {
        let found = read::one(&self.table, "replay", key::replay(id)).await;
        found.map_err(|fault| fault.during(format!("read replay {id}")))
    }

    async fn replays(
        &self,
        group: Option<&GroupId>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Replay>, StoreError> {
        list::replays(&self.table, group, after, limit).await.map_err(|fault| fault.during("list replays"))
    }

    async fn unfinished_replays(&self) -> Result<Vec<ReplayId>, StoreError> {
        list::unfinished(&self.table).await.map_err(|fault| fault.during("list unfinished replays"))
    }

    async fn ledger(&self, replay: &ReplayId) -> Result<Ledger, StoreError> {
        let found = read::ledger(&self.table, replay).await;
        found.map_err(|fault| fault.during(format!("read the ledger of replay {replay}")))
    }

    async fn blocks(&self, replay: &ReplayId, from: u64, limit: usize) -> Result<Vec<Block>, StoreError> {
        let found = list::blocks(&self.table, replay, from, limit).await;
        found.map_err(|fault| fault.during(format!("read blocks of replay {replay}")))
    }

    async fn blocks_at(&self, replay: &ReplayId, numbers: &[u64]) -> Result<Vec<Block>, StoreError> {
        let count = numbers.len();
        if count > COMMIT_RECORDS_MAX {
            return Err(Fault::TooMany { what: "blocks", count, max: COMMIT_RECORDS_MAX }.during("read blocks"));
        }
        let found = read::blocks_at(&self.table, replay, numbers).await;
        found.map_err(|fault| fault.during(format!("read {count} blocks of replay {replay}")))
    }

    async fn sent(&self, messages: &[MessageId]) -> Result<BTreeMap<MessageId, EntryKey>, StoreError> {
        let count = messages.len();
        if count > PAGE_MAX {
            return Err(Fault::TooMany { what: "messages", count, max: PAGE_MAX }.during("find sent messages"));
        }
        let found = read::sent(&self.table, messages).await;
        found.map_err(|fault| fault.during(format!("find {count} sent messages")))
    }

    async fn deployment(&self, service: &str) -> Result<Option<Deployment>, StoreError> {
        let found = read::one(&self.table, "deployment", key::deployment(service)).await;
        found.map_err(|fault| fault.during(format!("read the deployment of {service}")))
    }

    async fn transform(&self, group: &GroupId, version: u32) -> Result<Option<TransformFacts>, StoreError> {
        let found = read::transform(&self.table, group, version).await;
        found.map_err(|fault| fault.during(format!("read transform {version} of group {group}")))
    }

    async fn transforms(&self, group: &GroupId) -> Result<Vec<TransformFacts>, StoreError> {
        let found = read::transforms(&self.table, group).await;
        found.map_err(|fault| fault.during(format!("list the transforms of group {group}")))
    }

    async fn attached(&self, queue: &QueueArn) -> Result<Option<Attached>, StoreError> {
        let found = read::one(&self.table, "list of consumers", key::attached(queue)).await;
        found.map_err(|fault| fault.during(format!("read the consumers of {queue}")))
    }

    async fn reports(&self, keys: &[ReportKey]) -> Result<Vec<KeptReports>, StoreError> {
        let count = keys.len();
        if count > PAGE_MAX {
            return Err(Fault::TooMany { what: "records of reports", count, max: PAGE_MAX }.during("read reports"));
        }
        let found = read::reports(&self.table, keys).await;
        found.map_err(|fault| fault.during(format!("read {count} records of reports")))
    }

    async fn notices(&self, queue: &QueueArn) -> Result<Option<KeptNotices>, StoreError> {
        let found = read::one(&self.table, "notices", key::notices(queue)).await;
        found.map_err(|fault| fault.during(format!("read the notices of {queue}")))
    }

    async fn clock(&self) -> Result<Option<ClockRecord>, StoreError> {
        let found = read::one(&self.table, "clock", key::clock()).await;
        found.map_err(|fault| fault.during("read the clock's record"))
    }

    async fn policy(&self) -> Result<Option<PolicyVersion>, StoreError> {
        let found = read::one(&self.table, "policy", key::newest_policy()).await;
        found.map_err(|fault| fault.during("read the policy"))
    }

    async fn policies(&self, before: Option<u64>, limit: usize) -> Result<Vec<PolicyVersion>, StoreError> {
        let found = read::policies(&self.table, before, limit.min(PAGE_MAX)).await;
        found.map_err(|fault| fault.during("list the versions of the policy"))
    }

    fn keep_closed(&self, policy: &Policy) {
        self.table.keep(Kept { delivered: policy.delivered_kept(), discarded: policy.discarded_kept() });
    }

    async fn audit(
        &self,
        group: &GroupId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRecord>, StoreError> {
        let page = list::audit(&self.table, group, after, limit).await;
        page.map_err(|fault| fault.during(format!("list the audit records of group {group}")))
    }

    async fn forget(&self, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        forget::forget(&self.table, closed, before, limit).await.map_err(|fault| fault.during("delete closed letters"))
    }
}
