//! Merging: how variants that share a cause become one group, and how that is stored.
//!
//! A letter keeps its fingerprint, and each fingerprint keeps its variant with its own counters. A merge only sets
//! pointers: one variant is the group's representative and carries its fix, replays and note; the other variants point
//! to it and are read with it. So a merge moves no letter, counts nothing twice, and is undone by removing the
//! pointer.

mod preview;
mod shared_title;
mod steps;

pub use preview::{GroupChange, GroupName, RulesPreview};
pub use steps::{MergeStep, name, shown_name, steps};

use crate::group::{CountedCustomers, Customers, GroupState, Variant};
use crate::id::GroupId;
use crate::limits::CUSTOMERS_COUNTED_MAX;
use alloc::collections::BTreeSet;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The maximum number of variants that are merged into one representative: the group's page reads each of them.
/// Further variants stay groups of their own.
pub const MERGED_VARIANTS_MAX: usize = 100;

/// A variant's place among merged variants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeState {
    /// The representative that this variant is merged into; `None` if it is not merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<GroupId>,
    /// The variants that are merged into this one.
    #[serde(alias = "also", skip_serializing_if = "BTreeSet::is_empty")]
    pub members: BTreeSet<GroupId>,
    /// Whether a person unmerged it. It is not merged again, except by a rule of the policy, until merging is allowed
    /// again.
    #[serde(alias = "apart", skip_serializing_if = "core::ops::Not::not")]
    pub unmerged: bool,
    /// What the titles of all merged variants have in common; `None` if nothing is merged into this variant, or if the
    /// titles have too little in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The customers of this variant and its members, as sweep has counted them; `None` if it has not, or if a member has
    /// left since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedCustomers>,
}

impl MergeState {
    /// Whether nothing needs to be stored.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the customers of this representative's group, whose variants have `sum` customers added up.
    ///
    /// A variant never loses a customer. So as long as the sum is the same, so are the customers; and a sum that has grown
    /// by one has brought one more customer at most.
    pub fn customers(&self, sum: u64) -> Customers {
        if self.members.is_empty() || sum <= 1 {
            return Customers::Exact(sum);
        }
        match self.counted {
            Some(counted) if counted.sum == sum => Customers::Exact(counted.different),
            Some(counted) if counted.sum < sum => Customers::AtMost(counted.different + (sum - counted.sum)),
            _ => Customers::AtMost(sum),
        }
    }

    /// Returns by how much the sum has grown since the customers were counted, if they are to be counted now.
    pub(super) fn uncounted(&self, sum: u64) -> Option<u64> {
        let is_due = matches!(self.customers(sum), Customers::AtMost(_)) && sum <= CUSTOMERS_COUNTED_MAX;
        is_due.then(|| sum.abs_diff(self.counted.unwrap_or_default().sum))
    }
}

impl Variant {
    /// Whether no fix waits for its replay, and no replay, discard or draft is under way. Only an idle variant is merged into another.
    pub fn is_idle(&self) -> bool {
        let waits_for_nothing = matches!(
            self.state,
            GroupState::Open
                | GroupState::Resolved { .. }
                | GroupState::Regressed { .. }
                | GroupState::Discarded { .. }
        );
        waits_for_nothing && self.discarding.is_none() && self.drafts.is_empty()
    }

    /// Whether people have worked on it. Then it stays the representative when an older fingerprint appears.
    pub fn has_history(&self) -> bool {
        !matches!(self.state, GroupState::Open) || self.note.is_some()
    }

    /// Merges this variant into a representative and returns both. Returns `None` if that is impossible: this variant
    /// is merged already, has members of its own or is not idle, or the representative is merged itself, full, or being
    /// discarded.
    pub fn merged_into(&self, representative: &Self) -> Option<(Self, Self)> {
        let is_free = self.merge.into.is_none() && self.merge.members.is_empty() && self.is_idle();
        let has_room = representative.merge.into.is_none()
            && representative.merge.members.len() < MERGED_VARIANTS_MAX
            // Its discard must not take letters that nobody has seen.
            && representative.discarding.is_none()
            && representative.id != self.id;
        if !is_free || !has_room || self.main_queue != representative.main_queue {
            return None;
        }
        let (mut variant, mut representative) =
            (self.moved(self.state.clone()), representative.moved(representative.state.clone()));
        variant.merge.into = Some(representative.id.clone());
        representative.merge.members.insert(self.id.clone());
        let title = representative.merge.title.as_ref().unwrap_or(&representative.title);
        representative.merge.title = shared_title::title(title, &self.title);
        Some((variant, representative))
    }

    /// Unmerges this variant from its representative and returns both. Returns `None` if it is not merged into it.
    pub fn unmerged_from(&self, representative: &Self) -> Option<(Self, Self)> {
        if self.merge.into.as_ref() != Some(&representative.id) {
            return None;
        }
        let (mut variant, mut representative) =
            (self.moved(self.state.clone()), representative.moved(representative.state.clone()));
        variant.merge.into = None;
        representative.merge.members.remove(&self.id);
        representative.merge.counted = None;
        if representative.merge.members.is_empty() {
            representative.merge.title = None;
        }
        Some((variant, representative))
    }
}

#[cfg(test)]
#[path = "merging/merging_tests.rs"]
pub(super) mod tests;
