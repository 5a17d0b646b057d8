//! Merging above the fingerprint: fingerprints whose messages differ only where data stands are one cause.
//!
//! A fingerprint is judged from one letter alone, so a name without a digit (`mount alpha is full`) stays in it.
//! Seen together, `mount alpha`, `mount beta` and `mount gamma` show that the place holds data. [`join`] finds such
//! places. Fingerprints themselves never change; what comes out is a table from fingerprint to group.
//!
//! The table is a function of the set of skeletons, nothing else: no order, no time, no counts of letters. It is
//! monotone: what is merged for a set is merged for every larger one, because all evidence is of the form "at least
//! so many different skeletons have this pattern". So functions that saw the same skeletons agree, and one that saw
//! fewer has only not merged yet.
//!
//! Caution comes before reach, because a wrong merge hides a cause: see [`hole`] for what is never merged.

mod hole;
mod pattern;
mod tokens;

use crate::id::GroupId;
use crate::time::Timestamp;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The most skeletons of one family that are compared; of more, the first by text. A family that large is no list of
/// causes. The bound keeps the work of [`join`] small: of this many it takes 50 ms and 5 MB, and of hostile ones (sixty
/// tokens each, nearly alike) 2 s and 40 MB. Beyond it alone a larger set may merge less: who keeps the table adds to
/// it and never takes from it.
pub const FAMILY_SKELETONS_MAX: usize = 2_000;

/// What a merge sees of a fingerprint: stored once, when the fingerprint is first met.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skeleton {
    /// Everything of the fingerprint but its message: queue, error types, frames. Only within one family is merged.
    pub family: String,
    /// The message's template.
    pub template: String,
}

/// Which fingerprints are one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The fingerprints of each group of two or more, sorted, the groups by their first.
    groups: Vec<BTreeSet<GroupId>>,
}

impl Groups {
    /// The groups of two fingerprints or more.
    pub fn iter(&self) -> impl Iterator<Item = &BTreeSet<GroupId>> {
        self.groups.iter()
    }

    /// The table from fingerprint to group: a group bears the name of its oldest fingerprint, of several that are
    /// equally old (or of no known age, which is youngest) the smallest. A fingerprint that is not in the table is
    /// its own group.
    pub fn aliases(&self, first_seen: &BTreeMap<GroupId, Timestamp>) -> BTreeMap<GroupId, GroupId> {
        let age = |id: &&GroupId| first_seen.get(*id).map_or((true, Timestamp::from_ms(0)), |at| (false, *at));
        let mut aliases = BTreeMap::new();
        for group in &self.groups {
            let Some(name) = group.iter().min_by_key(age) else { continue };
            aliases.extend(group.iter().map(|id| (id.clone(), name.clone())));
        }
        aliases
    }
}

/// Finds what belongs together. `apart` are the fingerprints that a person took out of their group: they join none.
pub fn join(skeletons: &BTreeMap<GroupId, Skeleton>, apart: &BTreeSet<GroupId>) -> Groups {
    let mut families: BTreeMap<&str, BTreeMap<&str, Vec<&GroupId>>> = BTreeMap::new();
    for (id, skeleton) in skeletons.iter().filter(|(id, _)| !apart.contains(id)) {
        families.entry(&skeleton.family).or_default().entry(&skeleton.template).or_default().push(id);
    }
    let mut groups = Vec::new();
    for templates in families.values() {
        let texts: Vec<&str> = templates.keys().copied().take(FAMILY_SKELETONS_MAX).collect();
        let mut ids: BTreeMap<usize, BTreeSet<GroupId>> = BTreeMap::new();
        for (text, set) in texts.iter().zip(pattern::sets(&texts)) {
            ids.entry(set).or_default().extend(templates[text].iter().map(|id| (*id).clone()));
        }
        groups.extend(ids.into_values().filter(|ids| ids.len() > 1));
    }
    groups.sort();
    Groups { groups }
}

#[cfg(test)]
#[path = "merge/merge_tests.rs"]
mod tests;
