//! A commit: one transaction, tried again where that can help.
//!
//! A failed condition of the caller's is a conflict, and named. Conditions of the store's own (a customer counted
//! once, an extreme that only moves one way) teach it something, and the next try is made with that. Where
//! transactions met, or DynamoDB had no room, it waits with full jitter.

use super::actions::Gathering;
use super::counts::{self, Extremes, Shards, Update};
use super::fault::Fault;
use super::item::{Item, get_number};
use super::key::{self, Key};
use super::table::{Refused, Table};
use crate::retry::back_off;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem,
};
use domain::id::GroupId;
use futures_util::future::try_join_all;
use office::port::{CommitError, Expect, Write};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tries of one commit: with their waits about 5 s, within which a table's capacity follows its load.
const TRIES_MAX: u32 = 16;

/// A condition that is the store's own, and what its failure says.
#[derive(Clone, Debug)]
pub(super) enum Soft {
    /// Another process wrote the extremes of this shard.
    Extremes { group: GroupId, shard: u8, written: Extremes },
    /// The customer is counted already.
    Customer(Key),
    /// The stored deployment is newer.
    OldReport,
    /// The letter's content does not lie where it would by now, unless the version is another.
    Content { hash: String, version: Expect },
}

/// One action of a transaction.
#[derive(Debug)]
pub(super) struct Action {
    /// The write it belongs to.
    at: usize,
    what: What,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: Item,
    soft: Option<Soft>,
}

#[derive(Debug)]
enum What {
    Put(Item),
    Delete(Key),
    Check(Key),
    Update(Key, String),
}

type Condition<'a> = (&'a str, Vec<(&'a str, AttributeValue)>);

impl Action {
    fn new(what: What, condition: Option<Condition<'_>>) -> Self {
        let (condition, values) = condition.filter(|(text, _)| !text.is_empty()).unzip();
        let values: Vec<_> = values.unwrap_or_default();
        Self {
            at: 0,
            what,
            condition: condition.map(Into::into),
            names: HashMap::new(),
            values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            soft: None,
        }
    }

    pub(super) fn put(item: Item, condition: Option<Condition<'_>>) -> Self {
        Self::new(What::Put(item), condition)
    }

    pub(super) fn delete(key: Key, condition: Condition<'_>) -> Self {
        Self::new(What::Delete(key), Some(condition))
    }

    pub(super) fn check(key: Key, condition: Condition<'_>) -> Self {
        Self::new(What::Check(key), Some(condition))
    }

    pub(super) fn update(update: Update) -> Self {
        let Update { key, expression, condition, names, values } = update;
        Self { condition, names, values, ..Self::new(What::Update(key, expression), None) }
    }

    pub(super) fn softly(self, soft: Soft) -> Self {
        Self { soft: Some(soft), ..self }
    }

    /// The action of the write at this place of the commit.
    pub(super) fn of(self, at: usize) -> Self {
        Self { at, ..self }
    }

    fn build(&self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let action = TransactWriteItem::builder();
        let condition = self.condition.clone();
        let names = (!self.names.is_empty()).then(|| self.names.clone());
        let values = (!self.values.is_empty()).then(|| self.values.clone());
        let old = self.soft.is_some().then_some(ReturnValuesOnConditionCheckFailure::AllOld);
        macro_rules! finished {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(old)
                    .build()?
            };
        }
        Ok(match &self.what {
            What::Put(item) => action.put(finished!(Put::builder().set_item(Some(item.clone())))),
            What::Delete(key) => action.delete(finished!(Delete::builder().set_key(Some(key.item())))),
            What::Check(key) => action.condition_check(finished!(ConditionCheck::builder().set_key(Some(key.item())))),
            What::Update(key, expression) => action.update(finished!(
                aws_sdk_dynamodb::types::Update::builder()
                    .set_key(Some(key.item()))
                    .update_expression(expression.as_str())
            )),
        }
        .build())
    }
}

/// What a commit knows beside its writes, and learns from its tries.
#[derive(Default)]
pub(super) struct Learned {
    shards: HashMap<GroupId, (u8, Extremes)>,
    shortest_ms: HashMap<GroupId, i64>,
    customers: HashSet<Key>,
    old_reports: BTreeSet<usize>,
    beside: HashSet<String>,
}

impl Learned {
    /// The shard of a group. A letter that is not counted in this commit is listed on the first, where all look.
    pub(super) fn shard(&self, group: &GroupId) -> (u8, Extremes) {
        self.shards.get(group).copied().unwrap_or_default()
    }

    pub(super) fn shortest_ms(&self, group: &GroupId) -> Option<i64> {
        self.shortest_ms.get(group).copied()
    }

    pub(super) fn is_customer(&self, key: &Key) -> bool {
        self.customers.contains(key)
    }

    pub(super) fn is_old(&self, at: usize) -> bool {
        self.old_reports.contains(&at)
    }

    pub(super) fn is_beside(&self, hash: &str) -> bool {
        self.beside.contains(hash)
    }
}

/// What the reasons of a cancelled transaction come to.
enum Verdict {
    Conflict(Vec<usize>),
    /// Something was learned: try again at once.
    Learned,
    /// Others were there: wait, then try again.
    Contended,
    /// It can never work.
    Impossible(Fault),
}

/// Does commits on a table.
pub(super) struct Committer {
    shards: Shards,
    stamp: AtomicU64,
}

impl Committer {
    pub(super) fn new() -> Self {
        Self { shards: Shards::default(), stamp: AtomicU64::new(0) }
    }

    pub(super) async fn commit(&self, table: &Table, writes: &[Write]) -> Result<(), CommitError> {
        let failed = |fault: Fault| CommitError::Store(fault.of("commit"));
        let stamp = self.stamp();
        let mut learned = Learned::default();
        self.look(table, writes, &mut learned).await.map_err(failed)?;
        for tries in 0..TRIES_MAX {
            self.place(table, writes, &mut learned).await.map_err(failed)?;
            let mut gathering = Gathering::new(table, &learned, stamp);
            for (at, write) in writes.iter().enumerate() {
                gathering.take(at, write).map_err(failed)?;
            }
            let Gathering { actions, mut large, notes, .. } = gathering;
            try_join_all(large.iter_mut().map(|large| large.write(table))).await.map_err(failed)?;
            try_join_all(notes.into_iter().map(|note| table.put(note))).await.map_err(failed)?;
            if actions.is_empty() {
                return Ok(());
            }
            let built: Result<Vec<_>, _> = actions.iter().map(|action| action.build(table.name())).collect();
            match table.transact(built.map_err(|error| failed(Fault::call("write records", error)))?).await {
                Ok(()) => {
                    self.note(&actions);
                    return Ok(());
                }
                Err(Refused::Failed(fault)) => return Err(failed(fault)),
                Err(Refused::Throttled) => back_off(tries).await,
                Err(Refused::Cancelled(reasons)) => match self.judge(&reasons, &actions, &mut learned) {
                    Verdict::Conflict(indexes) => return Err(CommitError::Conflict(indexes)),
                    Verdict::Impossible(fault) => return Err(failed(fault)),
                    Verdict::Learned => {}
                    Verdict::Contended => back_off(tries).await,
                },
            }
        }
        Err(failed(Fault::Contended))
    }

    /// A number that grows with each commit of this process, and with time.
    fn stamp(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let before = self.stamp.fetch_max(now, Ordering::Relaxed);
        if before < now { now } else { self.stamp.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Looks up, before the first try, which customers are counted already.
    async fn look(&self, table: &Table, writes: &[Write], learned: &mut Learned) -> Result<(), Fault> {
        let mut customers = HashSet::new();
        for write in writes {
            match write {
                Write::Counts { group, delta } => {
                    customers.extend(delta.customers.iter().map(|customer| key::customer(group, customer)));
                }
                Write::Letter { letter, .. } => {
                    let ms = letter.loss_at.since(letter.sent_at).as_ms();
                    let shortest = learned.shortest_ms.entry(letter.group.clone()).or_insert(ms);
                    *shortest = ms.min(*shortest);
                }
                _ => {}
            }
        }
        for item in table.get_all(customers.into_iter().collect(), false).await? {
            learned.customers.insert(Key::of(&item)?);
        }
        Ok(())
    }

    /// Chooses a shard for every group that is counted, and looks at those that this process has not seen yet.
    async fn place(&self, table: &Table, writes: &[Write], learned: &mut Learned) -> Result<(), Fault> {
        let mut unseen = Vec::new();
        for write in writes {
            let Write::Counts { group, delta } = write else { continue };
            if counts::adding(delta, delta.customers.len()).add.is_empty() {
                continue;
            }
            let (shard, known) = self.shards.of(group);
            learned.shards.insert(group.clone(), (shard, known.unwrap_or_default()));
            if known.is_none() {
                unseen.push((key::counts(group, shard), group.clone(), shard));
            }
        }
        if unseen.is_empty() {
            return Ok(());
        }
        let keys = unseen.iter().map(|(key, ..)| key.clone()).collect();
        let mut found: HashMap<Key, Extremes> = HashMap::new();
        for item in table.get_all(keys, true).await? {
            found.insert(Key::of(&item)?, Extremes::of(&item));
        }
        for (key, group, shard) in unseen {
            let extremes = found.get(&key).copied().unwrap_or_default();
            self.shards.saw(&group, shard, extremes);
            learned.shards.insert(group, (shard, extremes));
        }
        Ok(())
    }

    /// Remembers the extremes that were written.
    fn note(&self, actions: &[Action]) {
        for action in actions {
            if let Some(Soft::Extremes { group, shard, written }) = &action.soft {
                self.shards.saw(group, *shard, *written);
            }
        }
    }

    fn judge(&self, reasons: &[CancellationReason], actions: &[Action], learned: &mut Learned) -> Verdict {
        let mut conflicts = BTreeSet::new();
        let mut contended = false;
        for (reason, action) in reasons.iter().zip(actions) {
            match reason.code() {
                None | Some("None") => {}
                Some("ConditionalCheckFailed") => {
                    if !self.learn(reason.item(), action, learned) {
                        conflicts.insert(action.at);
                    }
                }
                Some("TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError") => {
                    contended = true;
                    if let Some(Soft::Extremes { group, shard, .. }) = &action.soft {
                        self.shards.leave(group, *shard);
                    }
                }
                Some(code) => {
                    let said = format!("{code}: {}", reason.message().unwrap_or_default());
                    return Verdict::Impossible(Fault::refused(std::io::Error::other(said)));
                }
            }
        }
        match (conflicts.is_empty(), contended) {
            (false, _) => Verdict::Conflict(conflicts.into_iter().collect()),
            (true, true) => Verdict::Contended,
            (true, false) => Verdict::Learned,
        }
    }

    /// Learns from a condition of the store's own; false where it was the caller's.
    fn learn(&self, old: Option<&Item>, action: &Action, learned: &mut Learned) -> bool {
        match &action.soft {
            None => false,
            Some(Soft::Customer(key)) => learned.customers.insert(key.clone()),
            Some(Soft::OldReport) => learned.old_reports.insert(action.at),
            Some(Soft::Extremes { group, shard, .. }) => {
                self.shards.saw(group, *shard, old.map(Extremes::of).unwrap_or_default());
                true
            }
            Some(Soft::Content { hash, version: Expect::Version(version) }) => {
                let is_so = old.and_then(|old| get_number::<u64>(old, "v")) == Some(*version);
                if is_so {
                    learned.beside.insert(hash.clone());
                }
                is_so
            }
            Some(Soft::Content { .. }) => false,
        }
    }
}
