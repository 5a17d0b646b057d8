//! The embedded store: the port [`Store`] on one SQLite file.
//!
//! One thread writes and a few connections read; the write-ahead log allows both at the same time. Each commit is synced
//! to the disk before it is acknowledged; commits that wait at the same time share one sync. Neither `kill -9` nor a power
//! cut loses an acknowledged commit or leaves one half done. A file that has lost commits is refused ([`crate::sqlite`]).
//!
//! Lists are read from indexes, and counters are updated together with their letters. So the speed does not depend on the
//! number of letters.

mod apply;
mod fault;
mod read;
mod readers;
mod schema;
mod sql;
#[cfg(test)]
pub(crate) mod store_tests;
mod writer;

pub(crate) use read::{first_changed, first_changed_count};
pub use schema::OpenError;

use crate::sqlite::{Acknowledged, DatabaseFile, Mark, Moment, Opening};
use async_trait::async_trait;
use domain::audit::AuditRecord;
use domain::clock::ClockRecord;
use domain::deployment::{Attached, Deployment};
use domain::discard::Closed;
use domain::group::{CountedCustomers, Variant};
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::limits::{COMMIT_RECORDS_MAX, PAGE_MAX};
use domain::notice::KeptNotices;
use domain::policy::PolicyVersion;
use domain::replay::{Block, Draft, Ledger, Plan, Replay};
use domain::reported::{KeptReports, ReportKey};
use domain::time::Timestamp;
use fault::Fault;
use office::port::{
    ChangePoint, Changed, CommitError, Cursor, EntryKey, GroupFacts, ListPosition, Page, Store, StoreError,
    TransformFacts, Write,
};
use read::Window;
use readers::Readers;
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use writer::Writer;

/// The number of reading connections; enough to keep the cores of a laptop busy.
const READERS: usize = 4;
/// The most deaths of one letter per call, as the port defines.
const DEATHS_MAX: i64 = 100;

/// The store. Dropping it finishes all requests and closes the file.
pub struct SqliteStore {
    // Closed before the writer: the last connection to close copies the log into the file.
    readers: Readers,
    writer: Writer,
    pub(crate) acknowledged: Acknowledged,
}

impl SqliteStore {
    /// Opens the file, or creates it. Migrates a file of an older version.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_as(path, &Opening::default())
    }

    /// Like [`SqliteStore::open`], with other settings than the default.
    pub fn open_as(path: &Path, opening: &Opening) -> Result<Self, OpenError> {
        Self::with_file(path, opening, schema::open_writer(path, opening)?)
    }

    /// Creates a store in memory, which lives as long as this value. Each call runs on the caller's thread.
    pub fn open_in_memory() -> Result<Self, OpenError> {
        let db = Arc::new(Mutex::new(schema::create_in_memory()?));
        Ok(Self {
            readers: Readers::Inline(db.clone()),
            writer: Writer::Inline(db),
            acknowledged: Acknowledged::default(),
        })
    }

    /// Copies the log into the file, as far as readers allow. Does nothing in memory.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.writer.checkpoint(None).await
    }

    /// Like [`SqliteStore::checkpoint`], after writing what tells this minute from others.
    pub(crate) async fn checkpoint_at(&self, moment: Moment) -> Result<(), StoreError> {
        self.writer.checkpoint(Some(moment)).await
    }

    fn with_file(path: &Path, opening: &Opening, file: DatabaseFile) -> Result<Self, OpenError> {
        let readers = Readers::open(path, opening, READERS)?;
        let acknowledged = file.mark.as_ref().map(Mark::acknowledged).unwrap_or_default();
        let writer = Writer::start(file).map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
        Ok(Self { readers, writer, acknowledged })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
        match writes.iter().map(Write::records).sum() {
            0 => Ok(()),
            1..=COMMIT_RECORDS_MAX => self.writer.commit(writes).await,
            count => Err(too_many("records", count, COMMIT_RECORDS_MAX).during("commit").into()),
        }
    }

    async fn letter(&self, id: &LetterId) -> Result<Option<Letter>, StoreError> {
        let key = id.clone();
        self.readers.read(|| format!("read letter {id}"), move |db| read::letter(db, &key)).await
    }

    async fn letters(&self, ids: &[LetterId]) -> Result<Vec<Letter>, StoreError> {
        if ids.len() > PAGE_MAX {
            return Err(too_many("letters", ids.len(), PAGE_MAX).during("read letters"));
        }
        let keys = ids.to_vec();
        let work =
            move |db: &rusqlite::Connection| keys.iter().filter_map(|key| read::letter(db, key).transpose()).collect();
        self.readers.read(|| format!("read {} letters", ids.len()), work).await
    }

    async fn letters_of(
        &self,
        group: &GroupId,
        state: Option<LetterStateKind>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Letter>, StoreError> {
        let window = Window::new(read::LETTERS, after, ListPosition::first(), limit);
        let key = group.clone();
        let work = move |db: &rusqlite::Connection| read::letters_of(db, &key, state, &window);
        self.readers.read(|| format!("list letters of group {group}"), work).await
    }

    async fn has_death(&self, id: &DeathId) -> Result<bool, StoreError> {
        let key = id.clone();
        let work = move |db: &rusqlite::Connection| Ok(db.prepare_cached(sql::HAS_DEATH)?.exists([key.as_str()])?);
        self.readers.read(|| format!("look up death {id}"), work).await
    }

    async fn deaths(&self, letter: &LetterId) -> Result<Vec<Death>, StoreError> {
        let key = letter.clone();
        let work =
            move |db: &rusqlite::Connection| read::many(db, "death", sql::DEATHS, params![key.as_str(), DEATHS_MAX]);
        self.readers.read(|| format!("list deaths of letter {letter}"), work).await
    }

    async fn group(&self, id: &GroupId) -> Result<Option<Variant>, StoreError> {
        let key = id.clone();
        let work = move |db: &rusqlite::Connection| read::one(db, "group", sql::GROUP, [key.as_str()]);
        self.readers.read(|| format!("read group {id}"), work).await
    }

    async fn group_facts(&self, id: &GroupId, arrivals_from: i64) -> Result<Option<GroupFacts>, StoreError> {
        let key = id.clone();
        let work = move |db: &rusqlite::Connection| {
            let variant: Option<Variant> = read::one(db, "group", sql::GROUP, [key.as_str()])?;
            variant.map(|variant| read::facts(db, variant, arrivals_from)).transpose()
        };
        self.readers.read(|| format!("read facts of group {id}"), work).await
    }

    async fn groups(
        &self,
        arrivals_from: i64,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GroupFacts>, StoreError> {
        let window = Window::new(read::GROUPS, after, ListPosition::first(), limit);
        let work = move |db: &rusqlite::Connection| read::groups(db, arrivals_from, &window);
        self.readers.read(|| "list groups".into(), work).await
    }

    async fn customers_of(&self, groups: &[GroupId]) -> Result<CountedCustomers, StoreError> {
        let keys = groups.to_vec();
        let work = move |db: &rusqlite::Connection| read::customers_of(db, &keys);
        self.readers.read(|| format!("count the customers of {} groups", groups.len()), work).await
    }

    async fn changed(&self, since: Option<ChangePoint>) -> Result<Option<Changed>, StoreError> {
        let work = move |db: &rusqlite::Connection| read::changed(db, since).map(Some);
        self.readers.read(|| "list what has changed".to_string(), work).await
    }

    async fn snapshot(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let work = |db: &rusqlite::Connection| {
            Ok(db.prepare_cached(sql::SNAPSHOT)?.query_row([], |row| row.get(0)).optional()?)
        };
        self.readers.read(|| "read the snapshot of all groups".to_string(), work).await
    }

    async fn plan(&self, group: &GroupId) -> Result<Option<Plan>, StoreError> {
        let key = group.clone();
        let work = move |db: &rusqlite::Connection| read::one(db, "plan", sql::PLAN, [key.as_str()]);
        self.readers.read(|| format!("read the plan of group {group}"), work).await
    }

    async fn draft(&self, id: &ReplayId) -> Result<Option<Draft>, StoreError> {
        let key = id.clone();
        let work = move |db: &rusqlite::Connection| read::one(db, "draft", sql::DRAFT, [key.as_str()]);
        self.readers.read(|| format!("read draft {id}"), work).await
    }

    async fn replay(&self, id: &ReplayId) -> Result<Option<Replay>, StoreError> {
        let key = id.clone();
        let work = move |db: &rusqlite::Connection| read::one(db, "replay", sql::REPLAY, [key.as_str()]);
        self.readers.read(|| format!("read replay {id}"), work).await
    }

    async fn replays(
        &self,
        group: Option<&GroupId>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Replay>, StoreError> {
        let window = Window::new(read::REPLAYS, after, ListPosition::last(), limit);
        let key = group.cloned();
        let work = move |db: &rusqlite::Connection| read::replays(db, key.as_ref(), &window);
        self.readers.read(|| "list replays".into(), work).await
    }

    async fn unfinished_replays(&self) -> Result<Vec<ReplayId>, StoreError> {
        self.readers.read(|| "list unfinished replays".into(), read::unfinished_replays).await
    }

    async fn ledger(&self, replay: &ReplayId) -> Result<Ledger, StoreError> {
        let key = replay.clone();
        self.readers.read(|| format!("read the ledger of replay {replay}"), move |db| read::ledger(db, &key)).await
    }

    async fn blocks(&self, replay: &ReplayId, from: u64, limit: usize) -> Result<Vec<Block>, StoreError> {
        let key = replay.clone();
        let work = move |db: &rusqlite::Connection| {
            let values = params![key.as_str(), from.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX)];
            read::blocks(db, &key, sql::BLOCKS, values)
        };
        self.readers.read(|| format!("read blocks of replay {replay}"), work).await
    }

    async fn blocks_at(&self, replay: &ReplayId, numbers: &[u64]) -> Result<Vec<Block>, StoreError> {
        if numbers.len() > COMMIT_RECORDS_MAX {
            return Err(too_many("blocks", numbers.len(), COMMIT_RECORDS_MAX).during("read blocks"));
        }
        let (key, numbers) = (replay.clone(), numbers.iter().copied().collect::<BTreeSet<_>>());
        let work = move |db: &rusqlite::Connection| {
            let mut found = Vec::with_capacity(numbers.len());
            for number in numbers {
                let values = params![key.as_str(), number.cast_signed()];
                found.append(&mut read::blocks(db, &key, sql::BLOCK, values)?);
            }
            Ok(found)
        };
        self.readers.read(|| format!("read blocks of replay {replay}"), work).await
    }

    async fn sent(&self, messages: &[MessageId]) -> Result<BTreeMap<MessageId, EntryKey>, StoreError> {
        if messages.len() > PAGE_MAX {
            return Err(too_many("messages", messages.len(), PAGE_MAX).during("look up sent messages"));
        }
        let keys = messages.to_vec();
        let work = move |db: &rusqlite::Connection| {
            keys.into_iter()
                .filter_map(|key| Some(read::sent(db, key.as_str()).transpose()?.map(|sent| (key, sent))))
                .collect()
        };
        self.readers.read(|| format!("look up {} sent messages", messages.len()), work).await
    }

    async fn deployment(&self, service: &str) -> Result<Option<Deployment>, StoreError> {
        let key = service.to_owned();
        let work = move |db: &rusqlite::Connection| read::one(db, "deployment", sql::DEPLOYMENT, [key.as_str()]);
        self.readers.read(|| format!("read the deployment of {service}"), work).await
    }

    async fn transform(&self, group: &GroupId, version: u32) -> Result<Option<TransformFacts>, StoreError> {
        let key = group.clone();
        let work = move |db: &rusqlite::Connection| {
            read::transforms(db, sql::TRANSFORM, rusqlite::params![key.as_str(), version]).map(|mut found| found.pop())
        };
        self.readers.read(|| format!("read transform {version} of group {group}"), work).await
    }

    async fn transforms(&self, group: &GroupId) -> Result<Vec<TransformFacts>, StoreError> {
        let key = group.clone();
        let work = move |db: &rusqlite::Connection| read::transforms(db, sql::TRANSFORMS, [key.as_str()]);
        self.readers.read(|| format!("list the transforms of group {group}"), work).await
    }

    async fn attached(&self, queue: &QueueArn) -> Result<Option<Attached>, StoreError> {
        let key = queue.as_str().to_owned();
        let work = move |db: &rusqlite::Connection| read::one(db, "attached", sql::ATTACHED, [key.as_str()]);
        self.readers.read(|| format!("read the attachment of {queue}"), work).await
    }

    async fn reports(&self, keys: &[ReportKey]) -> Result<Vec<KeptReports>, StoreError> {
        if keys.len() > PAGE_MAX {
            return Err(too_many("records of reports", keys.len(), PAGE_MAX).during("read reports"));
        }
        let count = keys.len();
        let keys: BTreeSet<ReportKey> = keys.iter().cloned().collect();
        let work = move |db: &rusqlite::Connection| {
            keys.iter()
                .filter_map(|key| {
                    let message = key.message.as_ref().map_or("", MessageId::as_str);
                    read::one(db, "reports", sql::REPORTS, [key.queue.as_str(), message]).transpose()
                })
                .collect()
        };
        self.readers.read(|| format!("read {count} records of reports"), work).await
    }

    async fn notices(&self, queue: &QueueArn) -> Result<Option<KeptNotices>, StoreError> {
        let key = queue.as_str().to_owned();
        let work = move |db: &rusqlite::Connection| read::one(db, "notices", sql::NOTICES, [key.as_str()]);
        self.readers.read(|| format!("read the notices of {queue}"), work).await
    }

    async fn clock(&self) -> Result<Option<ClockRecord>, StoreError> {
        let work = |db: &rusqlite::Connection| read::one(db, "clock", sql::CLOCK, []);
        self.readers.read(|| "read the clock's record".to_string(), work).await
    }

    async fn policy(&self) -> Result<Option<PolicyVersion>, StoreError> {
        Ok(self.policies(None, 1).await?.pop())
    }

    async fn policies(&self, before: Option<u64>, limit: usize) -> Result<Vec<PolicyVersion>, StoreError> {
        let before = before.and_then(|version| i64::try_from(version).ok()).unwrap_or(i64::MAX);
        let limit = limit.min(PAGE_MAX) as i64;
        let work = move |db: &rusqlite::Connection| read::many(db, "policy", sql::POLICIES, [before, limit]);
        self.readers.read(|| "read the policy".to_string(), work).await
    }

    async fn forget(&self, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.writer.forget(closed, before, limit).await
    }

    async fn audit(
        &self,
        group: &GroupId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRecord>, StoreError> {
        let window = Window::new(read::AUDIT, after, ListPosition::last(), limit);
        let key = group.clone();
        let work = move |db: &rusqlite::Connection| read::audit(db, &key, &window);
        self.readers.read(|| format!("list the audit of group {group}"), work).await
    }
}

fn too_many(what: &'static str, count: usize, max: usize) -> Fault {
    Fault::TooMany { what, count, max }
}
