//! From the groups as they are to what should be merged: a list of steps, each of which can be done alone.
//!
//! What belongs together is the union of what [`merge::join`] proves of all skeletons, of what is merged already, and
//! of what the policy says. Heads are the groups that people have worked on, else the oldest. Nothing depends on the
//! order in which letters came: sweeps that see the same groups take the same steps, and one that was cut off, or that
//! met another, leaves less to do for the next.

use crate::group::Variant;
use crate::id::GroupId;
use crate::merge;
use crate::policy::{GroupAct, GroupRule};
use crate::time::Timestamp;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// One change of how groups stand to each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A group leaves its head: an older one takes its place, or the policy splits them.
    Leave {
        /// The group.
        group: GroupId,
        /// Its head.
        head: GroupId,
    },
    /// A group is merged into a head.
    Join {
        /// The group.
        group: GroupId,
        /// The head.
        head: GroupId,
    },
}

/// The steps from how these groups stand to how they should, in an order in which each can be done.
pub fn steps(groups: &BTreeMap<GroupId, Variant>, rules: &[GroupRule]) -> Vec<Step> {
    let about = |group: &Variant| rules.iter().position(|rule| rule.is_about(&group.id, &group.title));
    let rule_of: BTreeMap<&GroupId, usize> =
        groups.iter().filter_map(|(id, group)| about(group).map(|at| (id, at))).collect();
    let does = |id: &GroupId, act: GroupAct| rule_of.get(id).is_some_and(|at| rules[*at].act == act);
    // The policy is the team's last word, on what a person took out too.
    let is_apart = |group: &&Variant| {
        does(&group.id, GroupAct::Split) || (group.merge.unmerged && !does(&group.id, GroupAct::Merge))
    };
    let apart: BTreeSet<GroupId> = groups.values().filter(is_apart).map(|group| group.id.clone()).collect();
    let by_rule: BTreeMap<_, _> = rule_of.into_iter().filter(|(_, at)| rules[*at].act == GroupAct::Merge).collect();
    let mut steps = Vec::new();
    for group in groups.values().filter(|group| apart.contains(&group.id)) {
        if let Some(head) = &group.merge.into {
            steps.push(Step::Leave { group: group.id.clone(), head: head.clone() });
        }
    }
    for set in sets(groups, &apart, &by_rule) {
        steps_of(groups, &set, &mut steps);
    }
    steps
}

/// What belongs together, two groups or more each.
fn sets(
    groups: &BTreeMap<GroupId, Variant>,
    apart: &BTreeSet<GroupId>,
    merge_rule_of: &BTreeMap<&GroupId, usize>,
) -> Vec<Vec<GroupId>> {
    let skeletons = groups.values().filter_map(|group| Some((group.id.clone(), group.skeleton.clone()?))).collect();
    let mut joined: Vec<Vec<&GroupId>> = Vec::new();
    let proven = merge::join(&skeletons, apart);
    joined.extend(proven.iter().map(|set| set.iter().collect()));
    joined
        .extend(groups.values().filter_map(|group| group.merge.into.as_ref().map(|head| Vec::from([&group.id, head]))));
    // A plan goes to one main queue, so a rule joins within each.
    let mut by_rule: BTreeMap<_, Vec<&GroupId>> = BTreeMap::new();
    for (id, rule) in merge_rule_of {
        by_rule.entry((*rule, &groups[*id].main_queue)).or_default().push(*id);
    }
    joined.extend(by_rule.into_values());
    let mut set_of: BTreeMap<&GroupId, usize> = BTreeMap::new();
    let mut sets: Vec<BTreeSet<GroupId>> = Vec::new();
    for list in &joined {
        let of = |id: &&GroupId| set_of.get(*id).copied();
        if list.first().is_some_and(|first| of(first).is_some() && list.iter().all(|id| of(id) == of(first))) {
            continue;
        }
        let at = sets.len();
        let mut set = BTreeSet::new();
        for id in list.iter().filter(|id| groups.contains_key(**id) && !apart.contains(**id)) {
            match set_of.get(*id) {
                Some(other) => set.append(&mut sets[*other]),
                None => drop(set.insert((*id).clone())),
            }
        }
        for id in &set {
            if let Some((id, _)) = groups.get_key_value(id) {
                set_of.insert(id, at);
            }
        }
        sets.push(set);
    }
    sets.into_iter().filter(|set| set.len() > 1).map(|set| set.into_iter().collect()).collect()
}

/// Work under way first, then work that was done, then age, then the id so that it is total.
fn rank(group: &Variant) -> (bool, bool, Timestamp, &str) {
    (group.is_idle(), !group.has_lived(), group.first_died_at, group.id.as_str())
}

fn steps_of(groups: &BTreeMap<GroupId, Variant>, set: &[GroupId], steps: &mut Vec<Step>) {
    let mut members: Vec<&Variant> = set.iter().filter_map(|id| groups.get(id)).collect();
    members.sort_by_key(|group| rank(group));
    let Some((head, others)) = members.split_first() else { return };
    let stays = |group: &Variant| {
        let with = group.merge.into.as_ref().and_then(|id| groups.get(id));
        // What somebody is at work on keeps all that it had when the work began.
        with.is_some_and(|with| with.id == head.id || !with.is_idle())
    };
    let leaves = |group: &Variant| {
        let from = group.merge.into.clone()?;
        Some(Step::Leave { group: group.id.clone(), head: from })
    };
    steps.extend(leaves(head));
    let moving: Vec<&&Variant> = others.iter().filter(|group| !stays(group)).collect();
    steps.extend(moving.iter().filter_map(|group| leaves(group)));
    // Who has others with them that stay cannot go; of the rest as many as there is room for.
    let staying: BTreeSet<&GroupId> =
        others.iter().filter(|group| stays(group)).filter_map(|group| group.merge.into.as_ref()).collect();
    let there = others.iter().filter(|group| group.merge.into.as_ref() == Some(&head.id)).count();
    let free = moving.iter().filter(|group| group.is_idle() && !staying.contains(&group.id));
    let fits = free.filter(|group| group.main_queue == head.main_queue);
    steps.extend(
        fits.take(super::MERGED_VARIANTS_MAX.saturating_sub(there))
            .map(|group| Step::Join { group: group.id.clone(), head: head.id.clone() }),
    );
}

impl GroupRule {
    /// Whether this rule is about a group.
    pub fn is_about(&self, id: &GroupId, title: &str) -> bool {
        self.fingerprints.contains(id) || self.titles.iter().any(|pattern| fits(pattern, title))
    }
}

/// Whether a text fits a pattern in which `*` stands for any text.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What a group is called: as the policy says, else by its own title.
pub fn name<'a>(group: &'a Variant, rules: &'a [GroupRule]) -> &'a str {
    let rule = rules.iter().find(|rule| rule.is_about(&group.id, &group.title));
    rule.filter(|rule| rule.act != GroupAct::Split).map_or(group.title.as_str(), |rule| rule.name.as_str())
}
