//! What a process knows of all groups. A list, or a sweep, reads only those that have changed since the last one.
//!
//! The store lists what commits have changed ([`Store::changed`]), whichever process made them. So what is known here is
//! as new as if everything had been read again: a commit that was acknowledged before is always seen.
//!
//! A process that starts begins with the snapshot that a sweep has stored, and with what has changed since.

mod snapshot;

use crate::error::chain;
use crate::folding::{fold, slim};
use crate::port::{ChangePoint, GroupFacts, Store, StoreError, Write};
use domain::group::arrival_bucket;
use domain::id::GroupId;
use domain::limits::{ARRIVAL_BARS, KNOWN_GROUPS_AGE_MAX, PAGE_MAX};
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Groups that are read at once.
const AT_ONCE: usize = 16;

/// Returns the first bucket of the 24 hours in a sparkline: 23 whole hours and the current one.
pub(crate) fn first_bucket(now: Timestamp) -> i64 {
    let hour = Span::from_mins(60).as_ms();
    let this_hour = now.as_ms().div_euclid(hour) * hour;
    arrival_bucket(Timestamp::from_ms(this_hour - (ARRIVAL_BARS as i64 - 1) * hour))
}

/// What a process knows, shared by its handlers.
#[derive(Debug, Default)]
pub struct KnownGroups {
    known: Mutex<Option<Arc<Known>>>,
    /// When everything was read that the latest snapshot known here is based on.
    saved: Mutex<Option<Timestamp>>,
}

/// All groups at a moment.
#[derive(Debug)]
pub struct Known {
    point: ChangePoint,
    /// When everything was read.
    read_at: Timestamp,
    variants: BTreeMap<GroupId, Arc<KnownVariant>>,
    groups: OnceLock<Vec<GroupFacts>>,
}

/// A variant without its failure, which may be long.
#[derive(Debug, Serialize, Deserialize)]
pub struct KnownVariant {
    /// The variant and its counters.
    pub facts: GroupFacts,
    /// Whether its letters say nothing about why they died.
    pub is_mute: bool,
}

impl KnownVariant {
    fn new(facts: GroupFacts) -> Arc<Self> {
        let is_mute = facts.variant.failure.is_empty() && facts.variant.reported.is_none();
        Arc::new(Self { facts: GroupFacts { variant: slim(facts.variant), ..facts }, is_mute })
    }
}

impl Known {
    /// Returns all variants, each with its own counters.
    pub fn variants(&self) -> impl Iterator<Item = &KnownVariant> {
        self.variants.values().map(|variant| &**variant)
    }

    /// Returns all groups: variants that are merged are counted in their group.
    pub fn groups(&self) -> &[GroupFacts] {
        self.groups.get_or_init(|| fold(self.variants().map(|variant| variant.facts.clone()).collect()))
    }

    /// Whether it may be continued: everything was read at most an hour ago, by this clock.
    fn is_recent(&self, now: Timestamp) -> bool {
        (Span::ZERO..KNOWN_GROUPS_AGE_MAX).contains(&now.since(self.read_at))
    }
}

impl KnownGroups {
    /// Returns all groups as they are now, with arrivals from this bucket on or from an earlier one.
    ///
    /// Callers at the same time may read the same changes twice. None waits for another.
    pub async fn now(&self, store: &dyn Store, arrivals_from: i64, now: Timestamp) -> Result<Arc<Known>, StoreError> {
        let before = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = match before.filter(|known| known.is_recent(now)) {
            None => self.saved(store).await?.filter(|known| known.is_recent(now)),
            known => known,
        };
        let known = match before {
            Some(known) => continued(store, known, arrivals_from).await?,
            None => None,
        };
        let known = match known {
            Some(known) => known,
            None => Arc::new(whole(store, arrivals_from, now).await?),
        };
        self.keep(&known);
        Ok(known)
    }

    /// Reads the snapshot in the store, if there is one that this version can read.
    async fn saved(&self, store: &dyn Store) -> Result<Option<Arc<Known>>, StoreError> {
        let packed = store.snapshot().await?;
        let known = packed.and_then(|packed| snapshot::unpack(&packed)).map(Arc::new);
        if let Some(known) = &known {
            self.set_saved(known.read_at);
        }
        Ok(known)
    }

    fn set_saved(&self, read_at: Timestamp) {
        *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = Some(read_at);
    }

    /// Stores a snapshot for processes that start later, if this process has read everything since the last one. A failure is
    /// only logged: then they read everything too.
    pub(crate) async fn save(&self, store: &dyn Store, known: &Known) {
        if *self.saved.lock().unwrap_or_else(PoisonError::into_inner) == Some(known.read_at) {
            return;
        }
        match snapshot::pack(known) {
            Some(packed) => match store.commit(vec![Write::Snapshot(packed.into())]).await {
                Ok(()) => self.set_saved(known.read_at),
                Err(error) => tracing::warn!(
                    error = chain(&error),
                    "no snapshot of the groups was stored; the next sweep tries again"
                ),
            },
            None => tracing::warn!("the groups could not be packed; every process reads all of them"),
        }
    }

    /// Keeps what is known, unless more is known already.
    fn keep(&self, known: &Arc<Known>) {
        let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| (kept.read_at, kept.point) <= (known.read_at, known.point)) {
            *kept = Some(known.clone());
        }
    }
}

/// Reads everything.
async fn whole(store: &dyn Store, arrivals_from: i64, now: Timestamp) -> Result<Known, StoreError> {
    // The point before the reads: what changes during them is read again.
    let point = store.changed(None).await?.map_or(ChangePoint(i64::MIN), |changed| changed.next);
    let (mut variants, mut cursor) = (BTreeMap::new(), None);
    loop {
        let page = store.groups(arrivals_from, cursor.as_ref(), PAGE_MAX).await?;
        variants.extend(page.items.into_iter().map(|facts| (facts.variant.id.clone(), KnownVariant::new(facts))));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(Known { point, read_at: now, variants, groups: OnceLock::new() });
        }
    }
}

/// Reads what has changed. Returns `None` if the store no longer knows what that is.
async fn continued(store: &dyn Store, known: Arc<Known>, arrivals_from: i64) -> Result<Option<Arc<Known>>, StoreError> {
    let Some(changed) = store.changed(Some(known.point)).await? else { return Ok(None) };
    let ids: Vec<GroupId> = changed.groups.into_iter().collect();
    let mut read = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        read.extend(try_join_all(some.iter().map(|id| store.group_facts(id, arrivals_from))).await?);
    }
    let mut variants = known.variants.clone();
    // Counters may exist without a variant for a moment: such a group is not there yet.
    let read = read.into_iter().flatten();
    variants.extend(read.map(|facts| (facts.variant.id.clone(), KnownVariant::new(facts))));
    Ok(Some(Arc::new(Known { point: changed.next, read_at: known.read_at, variants, groups: OnceLock::new() })))
}
