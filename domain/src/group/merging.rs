//! Kin: groups that are one cause, and how the office keeps that.
//!
//! A letter keeps its fingerprint, and each fingerprint its group with counters of its own. A merge only points: one
//! group is the head and lives on (its fix, its replays, its note), the others point to it and are read with it. So a
//! merge moves no letter, counts nothing twice, and is undone by taking the pointer away.

mod preview;
mod steps;

pub use preview::{GroupChange, GroupName, RulesPreview};
pub use steps::{Step, name, steps};

use crate::group::{GroupState, Variant};
use crate::id::GroupId;
use alloc::collections::BTreeSet;
use serde::{Deserialize, Serialize};

/// The most groups that are read with one head: its page reads the facts of each. What is merged beyond stands for
/// itself.
pub const MERGED_VARIANTS_MAX: usize = 100;

/// How a group stands to those that are one cause with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeState {
    /// The head that this group is merged into; none where it stands for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<GroupId>,
    /// The groups that are merged into this one.
    #[serde(alias = "also", skip_serializing_if = "BTreeSet::is_empty")]
    pub members: BTreeSet<GroupId>,
    /// Whether a person took it out of a merge: none takes it in again but by a rule of the policy.
    #[serde(alias = "apart", skip_serializing_if = "core::ops::Not::not")]
    pub unmerged: bool,
}

impl MergeState {
    /// Whether there is nothing to keep.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Variant {
    /// Whether nobody is at work on it: no fix that waits for its replay, no replay. Only then it goes into another.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, GroupState::Open | GroupState::Resolved { .. } | GroupState::Regressed { .. })
    }

    /// Whether people have worked on it, so that it keeps its name when an older fingerprint turns up.
    pub fn has_lived(&self) -> bool {
        !matches!(self.state, GroupState::Open) || self.note.is_some()
    }

    /// This group and its head, once it is merged into it; none where that cannot be: it stands elsewhere, others stand
    /// with it, or somebody is at work on it.
    pub fn joined(&self, head: &Self) -> Option<(Self, Self)> {
        let is_free = self.merge.into.is_none() && self.merge.members.is_empty() && self.is_idle();
        let has_room =
            head.merge.into.is_none() && head.merge.members.len() < MERGED_VARIANTS_MAX && head.id != self.id;
        if !is_free || !has_room || self.main_queue != head.main_queue {
            return None;
        }
        let (mut group, mut head) = (self.moved(self.state.clone()), head.moved(head.state.clone()));
        group.merge.into = Some(head.id.clone());
        head.merge.members.insert(self.id.clone());
        Some((group, head))
    }

    /// This group and its head, once it stands for itself again; none where it was not merged into it.
    pub fn left(&self, head: &Self) -> Option<(Self, Self)> {
        if self.merge.into.as_ref() != Some(&head.id) {
            return None;
        }
        let (mut group, mut head) = (self.moved(self.state.clone()), head.moved(head.state.clone()));
        group.merge.into = None;
        head.merge.members.remove(&self.id);
        Some((group, head))
    }
}

#[cfg(test)]
#[path = "merging/merging_tests.rs"]
mod tests;
