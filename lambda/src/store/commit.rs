//! Commits writes in one transaction, and repeats it where that can help.
//!
//! If one of the caller's conditions fails, the commit returns a conflict that names the write. If one of the store's
//! own conditions fails (a customer is counted once, an extreme moves one way), the store learns from the stored record
//! and tries again at once. After contention or throttling, it waits with full jitter and tries again.

use super::action::{Action, StoreCondition};
use super::changed::Notes;
use super::counts::{self, Extremes, Shards};
use super::fault::Fault;
use super::item::{Item, get_number};
use super::key::{self, Key};
use super::learned::Learned;
use super::table::{Table, TransactionError};
use super::transaction::TransactionBuilder;
use crate::retry::back_off;
use aws_sdk_dynamodb::types::CancellationReason;
use domain::impact::NEVER;
use futures_util::future::try_join_all;
use office::port::{CommitError, Expect, Write};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Attempts per commit. With their waits they take about 5 s, within which a table's capacity follows its load.
const ATTEMPTS_MAX: u32 = 16;

/// What follows from a cancelled transaction.
enum Cancelled {
    /// The caller's conditions failed for the writes with these indexes.
    Conflict(Vec<usize>),
    /// The store has learned something: try again at once.
    Learned,
    /// Another transaction was in the way: wait, then try again.
    Contended,
    /// No attempt can succeed.
    Impossible(Fault),
}

/// Commits writes to a table.
pub(super) struct Committer {
    shards: Shards,
    notes: Notes,
    stamp: AtomicU64,
}

impl Committer {
    pub(super) fn new() -> Self {
        Self { shards: Shards::default(), notes: Notes::default(), stamp: AtomicU64::new(0) }
    }

    pub(super) async fn commit(&self, table: &Table, writes: &[Write]) -> Result<(), CommitError> {
        let failed = |fault: Fault| CommitError::Store(fault.during("commit"));
        let stamp = self.stamp();
        let mut learned = Learned::default();
        self.look_up(table, writes, &mut learned).await.map_err(failed)?;
        for attempt in 0..ATTEMPTS_MAX {
            self.choose_shards(table, writes, &mut learned).await.map_err(failed)?;
            let mut builder = TransactionBuilder::new(table, &learned, stamp);
            for (index, write) in writes.iter().enumerate() {
                builder.add(index, write).map_err(failed)?;
            }
            let TransactionBuilder { actions, mut blobs, before, .. } = builder;
            try_join_all(blobs.iter_mut().map(|blob| blob.write(table))).await.map_err(failed)?;
            try_join_all(before.into_iter().map(|record| table.put(record))).await.map_err(failed)?;
            if actions.is_empty() {
                return Ok(());
            }
            // Before each attempt: what is listed as changed must not be older than the change.
            self.notes.put(table, writes).await.map_err(failed)?;
            let built: Result<Vec<_>, _> = actions.iter().map(|action| action.build(table.name())).collect();
            match table.transact(built.map_err(|error| failed(Fault::call("write records", error)))?).await {
                Ok(()) => {
                    self.remember_extremes(&actions);
                    return Ok(());
                }
                Err(TransactionError::Failed(fault)) => return Err(failed(fault)),
                Err(TransactionError::Throttled) => back_off(attempt).await,
                Err(TransactionError::Cancelled(reasons)) => match self.interpret(&reasons, &actions, &mut learned) {
                    Cancelled::Conflict(indexes) => return Err(CommitError::Conflict(indexes)),
                    Cancelled::Impossible(fault) => return Err(failed(fault)),
                    Cancelled::Learned => {}
                    Cancelled::Contended => back_off(attempt).await,
                },
            }
        }
        Err(failed(Fault::Contended))
    }

    /// Returns a number that grows with each commit of this process, and with time.
    fn stamp(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let before = self.stamp.fetch_max(now, Ordering::Relaxed);
        if before < now { now } else { self.stamp.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Looks up which customers are counted already. This happens once, before the first attempt.
    async fn look_up(&self, table: &Table, writes: &[Write], learned: &mut Learned) -> Result<(), Fault> {
        let mut customers = HashSet::new();
        for write in writes {
            match write {
                Write::Counts { group, delta } => {
                    customers.extend(delta.customers.iter().map(|customer| key::customer(group, customer)));
                }
                Write::Letter { letter, .. } => {
                    let ms = letter.loss_at.unwrap_or(NEVER).since(letter.sent_at).as_ms();
                    let shortest = learned.shortest_ms.entry(letter.group.clone()).or_insert(ms);
                    *shortest = ms.min(*shortest);
                }
                _ => {}
            }
        }
        for item in table.get_all(customers.into_iter().collect(), false).await? {
            learned.customers.insert(Key::from_item(&item)?);
        }
        Ok(())
    }

    /// Chooses a shard for every group with counts, and reads the extremes of shards that this process has not read
    /// yet.
    async fn choose_shards(&self, table: &Table, writes: &[Write], learned: &mut Learned) -> Result<(), Fault> {
        let mut unread = Vec::new();
        for write in writes {
            let Write::Counts { group, delta } = write else { continue };
            if counts::adding(delta, delta.customers.len()).add.is_empty() {
                continue;
            }
            let (shard, known) = self.shards.get(group);
            learned.shards.insert(group.clone(), (shard, known.unwrap_or_default()));
            if known.is_none() {
                unread.push((key::counts(group, shard), group.clone(), shard));
            }
        }
        if unread.is_empty() {
            return Ok(());
        }
        let keys = unread.iter().map(|(key, ..)| key.clone()).collect();
        let mut found: HashMap<Key, Extremes> = HashMap::new();
        for item in table.get_all(keys, true).await? {
            found.insert(Key::from_item(&item)?, Extremes::from_item(&item));
        }
        for (key, group, shard) in unread {
            let extremes = found.get(&key).copied().unwrap_or_default();
            self.shards.remember(&group, shard, extremes);
            learned.shards.insert(group, (shard, extremes));
        }
        Ok(())
    }

    /// Remembers the extremes that a transaction has written.
    fn remember_extremes(&self, actions: &[Action]) {
        for action in actions {
            if let Some(StoreCondition::ExtremesMove { group, shard, written }) = &action.store_condition {
                self.shards.remember(group, *shard, *written);
            }
        }
    }

    /// Interprets the reasons of a cancelled transaction; there is one for each action, in the same order.
    fn interpret(&self, reasons: &[CancellationReason], actions: &[Action], learned: &mut Learned) -> Cancelled {
        let mut conflicts = BTreeSet::new();
        let mut contended = false;
        for (reason, action) in reasons.iter().zip(actions) {
            match reason.code() {
                None | Some("None") => {}
                Some("ConditionalCheckFailed") => {
                    if !self.learn(reason.item(), action, learned) {
                        conflicts.insert(action.write);
                    }
                }
                Some("TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError") => {
                    contended = true;
                    if let Some(StoreCondition::ExtremesMove { group, shard, .. }) = &action.store_condition {
                        self.shards.leave(group, *shard);
                    }
                }
                Some(code) => {
                    let message = format!("{code}: {}", reason.message().unwrap_or_default());
                    return Cancelled::Impossible(Fault::rejected(std::io::Error::other(message)));
                }
            }
        }
        match (conflicts.is_empty(), contended) {
            (false, _) => Cancelled::Conflict(conflicts.into_iter().collect()),
            (true, true) => Cancelled::Contended,
            (true, false) => Cancelled::Learned,
        }
    }

    /// Learns from a failed condition and the stored record. Returns `false` if the condition was the caller's.
    fn learn(&self, stored: Option<&Item>, action: &Action, learned: &mut Learned) -> bool {
        match &action.store_condition {
            None => false,
            Some(StoreCondition::NewCustomer(key)) => learned.customers.insert(key.clone()),
            Some(StoreCondition::NewestReport) => learned.old_reports.insert(action.write),
            Some(StoreCondition::ExtremesMove { group, shard, .. }) => {
                self.shards.remember(group, *shard, stored.map(Extremes::from_item).unwrap_or_default());
                true
            }
            Some(StoreCondition::SameContent { hash, version: Expect::Version(version) }) => {
                let has_version = stored.and_then(|stored| get_number::<u64>(stored, "v")) == Some(*version);
                if has_version {
                    learned.missing_contents.insert(hash.clone());
                }
                has_version
            }
            Some(StoreCondition::SameContent { .. }) => false,
        }
    }
}
