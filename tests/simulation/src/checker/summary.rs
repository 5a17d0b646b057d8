//! The numbers of a run.

use super::*;
use crate::fixture::Summary;
use std::hash::Hasher as _;

impl Checker {
    /// Returns the numbers of the run, without the orders.
    pub fn summary(&self) -> Summary {
        let observed = self.observed();
        let sends = observed.intents.values().map(|intent| u64::from(intent.sends)).sum();
        let (replays, merges, confirmed) = (observed.replays.len() as u64, observed.merges, observed.confirmed);
        let (changed, print) = (observed.changed, observed.print.finish());
        let (discarded, taken_back) = (observed.discarded, observed.taken_back);
        let (explained, left) = (observed.reports.explained, observed.reports.awaited.len() as u64);
        Summary {
            sends,
            changed,
            replays,
            drafted: observed.drafted,
            merges,
            confirmed,
            discarded,
            taken_back,
            explained,
            left,
            print,
            orders: 0,
        }
    }
}
