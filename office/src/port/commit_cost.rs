//! The cost of a commit: the records that a store touches for each write. DynamoDB allows 100 of them in one
//! transaction, so callers that build a commit count them first.

use super::{Expect, Write};
use std::collections::BTreeSet;

/// Arrival buckets in one record: one hour.
pub const BUCKETS_TOGETHER: i64 = 12;
/// Waves of a ledger in one record: eight, each with its columns, stay below 1 KB.
pub const WAVES_TOGETHER: u32 = 8;

impl Write {
    /// Returns the most records that this write touches.
    pub fn records(&self) -> usize {
        match self {
            // The variant, and its entry in the list of groups.
            Self::Variant { expect: Expect::Absent, .. } => 2,
            // The version, and the newest one.
            Self::Policy(_) => 2,
            // The replay, and its entries in the list of all, in that of its group, and in that of the unfinished.
            Self::Replay { expect: Expect::Absent, .. } => 4,
            Self::Replay { replay, .. } => 1 + usize::from(replay.is_finished()),
            Self::Counts { delta, .. } => {
                let hours: BTreeSet<_> = delta.arrivals.keys().map(|at| at.div_euclid(BUCKETS_TOGETHER)).collect();
                1 + hours.len() + delta.customers.len()
            }
            Self::Ledger { moves, .. } => {
                moves.iter().map(|step| step.wave / WAVES_TOGETHER).collect::<BTreeSet<_>>().len()
            }
            _ => 1,
        }
    }
}
