//! Merging above the fingerprint: fingerprints share a cause if their messages differ only in variable data.
//!
//! A fingerprint is computed from one letter alone, so a name without a digit (`mount alpha is full`) stays in it.
//! Together, `mount alpha`, `mount beta` and `mount gamma` show that this position holds data. [`find_groups`] finds
//! such positions. Fingerprints never change; the result is a table from fingerprint to group.
//!
//! The table is a function of the set of skeletons alone: order, time and letter counts do not matter. It is monotone:
//! skeletons merged in one set are merged in every larger set, because all evidence has the form "at least n different
//! skeletons have this pattern". So functions that saw the same skeletons agree, and a function that saw fewer merges
//! less.
//!
//! Precision comes before recall, because a wrong merge hides a cause: the module `hole` lists what is never merged.

mod hole;
mod nouns;
mod pattern;
mod tokens;
mod weighed;

pub use crate::read::Skeleton;
pub use weighed::weighed_hashes;

use crate::id::GroupId;
use crate::time::Timestamp;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// The maximum number of skeletons of one family that are compared: the first ones by text. A larger family is not a
/// meaningful list of causes. The bound limits the work of [`find_groups`]: 50 ms and 5 MB for this many ordinary
/// skeletons, 2 s and 40 MB for hostile ones (sixty tokens each, nearly alike). Only beyond the bound may a larger set
/// merge less, so a stored table is only ever extended.
pub const FAMILY_SKELETONS_MAX: usize = 2_000;

/// How close in time the errors of several hosts must begin to be one cause: a consumer that loses its network loses
/// every host within its longest timeout and its retries. Hosts that fail on different days fail for themselves.
pub const HOSTS_WINDOW_MS: i64 = 15 * 60 * 1000;

/// The fingerprints that form one group each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The fingerprints of each group of two or more, sorted; groups are ordered by their first fingerprint.
    groups: Vec<BTreeSet<GroupId>>,
}

impl Groups {
    /// Returns the groups of at least two fingerprints.
    pub fn iter(&self) -> impl Iterator<Item = &BTreeSet<GroupId>> {
        self.groups.iter()
    }

    /// Returns the table from fingerprint to group. A group's id is its oldest fingerprint; among equally old ones the
    /// smallest. Fingerprints without a known age count as youngest. A fingerprint that is not in the table is its own
    /// group.
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

/// Finds the fingerprints that belong together. The fingerprints in `unmerged`, which a person unmerged, are excluded.
/// The set counts as seen at one time; see [`find_groups_seen`].
///
/// ```
/// use domain::merge::{Skeleton, find_groups};
/// use std::collections::{BTreeMap, BTreeSet};
///
/// let skeletons: BTreeMap<_, _> = ["a", "b", "c"]
///     .into_iter()
///     .map(|name| {
///         let template = format!("volume /srv/{name} lost its index");
///         (name.into(), Skeleton { family: "f".into(), template })
///     })
///     .collect();
/// let groups = find_groups(&skeletons, &BTreeSet::new());
/// assert_eq!(groups.iter().map(BTreeSet::len).collect::<Vec<_>>(), [3]);
/// ```
pub fn find_groups(skeletons: &BTreeMap<GroupId, Skeleton>, unmerged: &BTreeSet<GroupId>) -> Groups {
    let at_once = skeletons.keys().map(|id| (id.clone(), Timestamp::from_ms(0))).collect();
    find_groups_seen(skeletons, unmerged, &at_once)
}

/// Finds the fingerprints that belong together, as [`find_groups`] does, and joins those that differ only in a host and
/// were first seen within [`HOSTS_WINDOW_MS`] of each other: one fault of the caller, not one of each host. A fingerprint
/// without a time is never joined for its host.
pub fn find_groups_seen(
    skeletons: &BTreeMap<GroupId, Skeleton>,
    unmerged: &BTreeSet<GroupId>,
    first_seen: &BTreeMap<GroupId, Timestamp>,
) -> Groups {
    let mut families: BTreeMap<&str, BTreeMap<&str, Vec<&GroupId>>> = BTreeMap::new();
    for (id, skeleton) in skeletons.iter().filter(|(id, _)| !unmerged.contains(id)) {
        families.entry(&skeleton.family).or_default().entry(&skeleton.template).or_default().push(id);
    }
    let mut groups = Vec::new();
    for templates in families.values() {
        let texts: Vec<&str> = templates.keys().copied().take(FAMILY_SKELETONS_MAX).collect();
        let mut ids: BTreeMap<usize, BTreeSet<GroupId>> = BTreeMap::new();
        let seen = |text: &&str| templates[text].iter().filter_map(|id| first_seen.get(*id)).min().copied();
        let times: Vec<Option<Timestamp>> = texts.iter().map(seen).collect();
        for (text, set) in texts.iter().zip(pattern::sets(&texts, &times)) {
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
