//! The answers that wait until all fingerprints are known.

use domain::id::GroupId;
use domain::merge::{self, Skeleton};
use domain::reading::Classification;
use domain::time::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is answered to one line.
pub enum Line {
    Verdict(Verdict),
    Refusal { id: Option<Value>, line: u64, error: String },
}

/// What was found of one letter.
pub struct Verdict {
    pub id: Option<Value>,
    /// Its own fingerprint.
    pub group: GroupId,
    pub classification: Classification,
    pub title: String,
}

/// Answers, and what a merge needs to know of their fingerprints.
#[derive(Default)]
pub struct Held {
    pub lines: Vec<Line>,
    /// Nothing for a fingerprint that is not by its message.
    skeletons: BTreeMap<GroupId, Option<Skeleton>>,
    first_seen: BTreeMap<GroupId, Timestamp>,
}

impl Held {
    /// Takes note of a letter's fingerprint. Its skeleton is made once.
    pub fn meet(&mut self, group: &GroupId, at: Option<Timestamp>, skeleton: impl FnOnce() -> Option<Skeleton>) {
        if !self.skeletons.contains_key(group) {
            self.skeletons.insert(group.clone(), skeleton());
        }
        if let Some(at) = at {
            let seen = self.first_seen.entry(group.clone()).or_insert(at);
            *seen = (*seen).min(at);
        }
    }

    /// The table from fingerprint to group.
    pub fn aliases(&self) -> BTreeMap<GroupId, GroupId> {
        let known = self.skeletons.iter().filter_map(|(id, skeleton)| Some((id.clone(), skeleton.clone()?)));
        merge::find_groups(&known.collect(), &BTreeSet::new()).aliases(&self.first_seen)
    }
}
