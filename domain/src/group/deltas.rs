//! Changes of counters, by variant.

#[cfg(doc)]
use super::{ARRIVAL_BUCKET_MS, GroupCounts};
use super::{Tally, arrival_bucket};
use crate::id::GroupId;
use crate::letter::{Letter, LetterStateKind};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The effect of changed letters on the counters of one variant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsDelta {
    /// Change of each state's tally.
    pub by_state: BTreeMap<LetterStateKind, Tally>,
    /// New deaths.
    pub deaths: u64,
    /// Time of the latest of them, as [`GroupCounts::last_died_at`] counts it.
    pub last_died_at: Option<Timestamp>,
    /// How many of them happened at an unknown time: these are in no bucket.
    #[serde(default)]
    pub undated: u64,
    /// When the last of these was read.
    #[serde(default)]
    pub last_undated_at: Option<Timestamp>,
    /// New deaths by arrivals bucket ([`ARRIVAL_BUCKET_MS`]), keyed by the bucket's number since the epoch.
    pub arrivals: BTreeMap<i64, u64>,
    /// Customers of these letters; the store adds them to a set.
    pub customers: Vec<String>,
}

/// Deltas by variant, for the same commit as the letters that cause them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsDeltas(pub BTreeMap<GroupId, CountsDelta>);

impl CountsDeltas {
    /// Records that a letter moved from one state or variant to another, or is new if `before` is `None`.
    pub fn moved(&mut self, before: Option<&Letter>, after: &Letter) {
        if let Some(before) = before {
            let delta = self.0.entry(before.group.clone()).or_default();
            delta.by_state.entry(before.state.kind()).or_default().count(before, -1);
        }
        let delta = self.0.entry(after.group.clone()).or_default();
        delta.by_state.entry(after.state.kind()).or_default().count(after, 1);
    }

    /// Records that a letter died in its current variant.
    pub fn died(&mut self, letter: &Letter) {
        let delta = self.0.entry(letter.group.clone()).or_default();
        delta.deaths += 1;
        delta.last_died_at = delta.last_died_at.max(Some(letter.died_not_before()));
        if letter.died_after.is_some() {
            delta.undated += 1;
            delta.last_undated_at = delta.last_undated_at.max(Some(letter.died_at));
        } else {
            *delta.arrivals.entry(arrival_bucket(letter.died_at)).or_default() += 1;
        }
        if let Some(customer) = &letter.diagnosis.impact.customer
            && !delta.customers.contains(customer)
        {
            delta.customers.push(customer.clone());
        }
    }
}
