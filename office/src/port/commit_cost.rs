//! What a commit weighs: the records that a store touches for each write. DynamoDB takes 100 of them in one transaction,
//! so those who gather a commit count before they ask.

use super::{Expect, Write};
use std::collections::BTreeSet;

/// Buckets of arrivals that one record holds: an hour of them.
pub const BUCKETS_TOGETHER: i64 = 12;
/// Waves of a ledger that one record holds: eight of them, each with its columns, stay below 1 KB.
pub const WAVES_TOGETHER: u32 = 8;

impl Write {
    /// How many records this write touches at most.
    pub fn records(&self) -> usize {
        match self {
            // Beside the head a place in the list of groups.
            Self::Variant { expect: Expect::Absent, .. } => 2,
            // Beside the replay its places in the list of all, in that of its group, and among the unfinished.
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
