//! Changes of counters, by variant.

use super::{CountsDelta, arrival_bucket};
use crate::id::GroupId;
use crate::letter::Letter;
use alloc::collections::BTreeMap;

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
        delta.last_died_at = delta.last_died_at.max(Some(letter.died_at));
        *delta.arrivals.entry(arrival_bucket(letter.died_at)).or_default() += 1;
        if let Some(customer) = &letter.diagnosis.impact.customer
            && !delta.customers.contains(customer)
        {
            delta.customers.push(customer.clone());
        }
    }
}
