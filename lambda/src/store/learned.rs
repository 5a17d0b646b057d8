//! Facts that a commit looks up before its first attempt, or learns from a refused one.

use super::counts::Extremes;
use super::key::Key;
use domain::id::GroupId;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The facts that one commit knows in addition to its writes.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) shards: HashMap<GroupId, (u8, Extremes)>,
    pub(super) shortest_ms: HashMap<GroupId, i64>,
    /// Customers that are counted already.
    pub(super) customers: HashSet<Key>,
    /// Indexes of writes that report an older deployment than the stored one.
    pub(super) old_reports: BTreeSet<usize>,
    /// Hashes of contents that must be written again, because their letters' records do not name them.
    pub(super) missing_contents: HashSet<String>,
}

impl Learned {
    /// Returns the shard of a group. A letter whose group has no counts in this commit is listed on shard 0, which
    /// every reader includes.
    pub(super) fn shard(&self, group: &GroupId) -> (u8, Extremes) {
        self.shards.get(group).copied().unwrap_or_default()
    }

    /// Returns the shortest time, in milliseconds, between send and loss of this commit's letters of a group.
    pub(super) fn shortest_ms(&self, group: &GroupId) -> Option<i64> {
        self.shortest_ms.get(group).copied()
    }

    /// Returns whether a customer is counted already.
    pub(super) fn is_counted(&self, customer: &Key) -> bool {
        self.customers.contains(customer)
    }

    /// Returns whether the write with this index reports an older deployment than the stored one.
    pub(super) fn is_old_report(&self, write: usize) -> bool {
        self.old_reports.contains(&write)
    }

    /// Returns whether the content with this hash must be written again.
    pub(super) fn lacks_content(&self, hash: &str) -> bool {
        self.missing_contents.contains(hash)
    }
}
