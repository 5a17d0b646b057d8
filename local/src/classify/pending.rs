//! Output that waits until all fingerprints are known.

use super::id::Id;
use domain::id::GroupId;
use domain::merge::{self, Skeleton};
use domain::reading::Classification;
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The output for one line.
pub enum Line {
    Classified(Classified),
    Refusal { id: Option<Id>, line: u64, error: String },
}

/// A classified letter.
pub struct Classified {
    pub id: Option<Id>,
    /// The letter's own fingerprint.
    pub group: GroupId,
    pub classification: Classification,
    pub title: String,
}

/// Pending output, and the data that merging needs about the fingerprints.
#[derive(Default)]
pub struct Pending {
    pub lines: Vec<Line>,
    /// `None` for a fingerprint that does not derive from the message.
    skeletons: BTreeMap<GroupId, Option<Skeleton>>,
    first_seen: BTreeMap<GroupId, Timestamp>,
}

impl Pending {
    /// Records a letter's fingerprint. Computes the skeleton once per fingerprint.
    pub fn add_fingerprint(
        &mut self,
        group: &GroupId,
        at: Option<Timestamp>,
        skeleton: impl FnOnce() -> Option<Skeleton>,
    ) {
        if !self.skeletons.contains_key(group) {
            self.skeletons.insert(group.clone(), skeleton());
        }
        if let Some(at) = at {
            let first = self.first_seen.entry(group.clone()).or_insert(at);
            *first = (*first).min(at);
        }
    }

    /// Returns the group of each merged fingerprint.
    pub fn aliases(&self) -> BTreeMap<GroupId, GroupId> {
        let known = self.skeletons.iter().filter_map(|(id, skeleton)| Some((id.clone(), skeleton.clone()?)));
        merge::find_groups(&known.collect(), &BTreeSet::new()).aliases(&self.first_seen)
    }
}
