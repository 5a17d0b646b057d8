//! Computes the steps from the current groups to the desired ones. Each step can be executed on its own.
//!
//! Variants belong together by the union of three sources: what [`merge::find_groups_seen`] proves from the skeletons, what
//! is merged already, and what the policy says. The representative is the variant that people have worked on, else the
//! oldest. The result does not depend on the order of arrival: sweeps over the same variants take the same steps. An
//! interrupted or concurrent sweep leaves fewer steps for the next one.

use crate::group::{GroupCounts, Variant};
use crate::id::GroupId;
use crate::merge;
use crate::policy::{GroupAct, GroupRule};
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// One merge or unmerge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MergeStep {
    /// Unmerge a variant: an older one takes the representative's place, or the policy splits them.
    Unmerge {
        /// The variant.
        variant: GroupId,
        /// Its representative.
        representative: GroupId,
    },
    /// Merge a variant into a representative.
    Merge {
        /// The variant.
        variant: GroupId,
        /// The representative.
        representative: GroupId,
    },
}

/// Returns the steps from the current groups to the desired ones, in an executable order.
pub fn steps(variants: &BTreeMap<GroupId, Variant>, rules: &[GroupRule]) -> Vec<MergeStep> {
    let about = |variant: &Variant| rules.iter().position(|rule| rule.is_about(&variant.id, &variant.title));
    let rule_of: BTreeMap<&GroupId, usize> =
        variants.iter().filter_map(|(id, variant)| about(variant).map(|at| (id, at))).collect();
    let does = |id: &GroupId, act: GroupAct| rule_of.get(id).is_some_and(|at| rules[*at].act == act);
    // The policy overrides a person's unmerge.
    let is_unmerged = |variant: &&Variant| {
        does(&variant.id, GroupAct::Split) || (variant.merge.unmerged && !does(&variant.id, GroupAct::Merge))
    };
    let unmerged: BTreeSet<GroupId> = variants.values().filter(is_unmerged).map(|variant| variant.id.clone()).collect();
    let by_rule: BTreeMap<_, _> = rule_of.into_iter().filter(|(_, at)| rules[*at].act == GroupAct::Merge).collect();
    let mut steps = Vec::new();
    for variant in variants.values().filter(|variant| unmerged.contains(&variant.id)) {
        if let Some(representative) = &variant.merge.into {
            steps.push(MergeStep::Unmerge { variant: variant.id.clone(), representative: representative.clone() });
        }
    }
    for set in related_sets(variants, &unmerged, &by_rule) {
        set_steps(variants, &set, &mut steps);
    }
    steps
}

/// Returns the sets of variants that belong together, each with at least two.
fn related_sets(
    variants: &BTreeMap<GroupId, Variant>,
    unmerged: &BTreeSet<GroupId>,
    merge_rule_of: &BTreeMap<&GroupId, usize>,
) -> Vec<Vec<GroupId>> {
    let skeletons =
        variants.values().filter_map(|variant| Some((variant.id.clone(), variant.skeleton.clone()?))).collect();
    let mut related: Vec<Vec<&GroupId>> = Vec::new();
    let first_seen = variants.values().map(|variant| (variant.id.clone(), variant.first_died_at)).collect();
    let proven = merge::find_groups_seen(&skeletons, unmerged, &first_seen);
    related.extend(proven.iter().map(|set| set.iter().collect()));
    related.extend(variants.values().filter_map(|variant| {
        variant.merge.into.as_ref().map(|representative| Vec::from([&variant.id, representative]))
    }));
    // A plan goes to one main queue, so a rule merges only variants of the same queue.
    let mut by_rule: BTreeMap<_, Vec<&GroupId>> = BTreeMap::new();
    for (id, rule) in merge_rule_of {
        by_rule.entry((*rule, &variants[*id].main_queue)).or_default().push(*id);
    }
    related.extend(by_rule.into_values());
    let mut set_of: BTreeMap<&GroupId, usize> = BTreeMap::new();
    let mut sets: Vec<BTreeSet<GroupId>> = Vec::new();
    for list in &related {
        let of = |id: &&GroupId| set_of.get(*id).copied();
        if list.first().is_some_and(|first| of(first).is_some() && list.iter().all(|id| of(id) == of(first))) {
            continue;
        }
        let at = sets.len();
        let mut set = BTreeSet::new();
        for id in list.iter().filter(|id| variants.contains_key(**id) && !unmerged.contains(**id)) {
            match set_of.get(*id) {
                Some(other) => set.append(&mut sets[*other]),
                None => drop(set.insert((*id).clone())),
            }
        }
        for id in &set {
            if let Some((id, _)) = variants.get_key_value(id) {
                set_of.insert(id, at);
            }
        }
        sets.push(set);
    }
    sets.into_iter().filter(|set| set.len() > 1).map(|set| set.into_iter().collect()).collect()
}

/// Ranks candidates for representative: running work first, then past work, then age, then the id as tie-breaker.
fn rank(variant: &Variant) -> (bool, bool, Timestamp, &str) {
    (variant.is_idle(), !variant.has_history(), variant.first_died_at, variant.id.as_str())
}

fn set_steps(variants: &BTreeMap<GroupId, Variant>, set: &[GroupId], steps: &mut Vec<MergeStep>) {
    let mut members: Vec<&Variant> = set.iter().filter_map(|id| variants.get(id)).collect();
    members.sort_by_key(|variant| rank(variant));
    let Some((representative, others)) = members.split_first() else { return };
    let stays = |variant: &Variant| {
        let with = variant.merge.into.as_ref().and_then(|id| variants.get(id));
        // While someone works on a representative, it keeps all variants that it had when the work began.
        with.is_some_and(|with| with.id == representative.id || !with.is_idle())
    };
    let leaves = |variant: &Variant| {
        let from = variant.merge.into.clone()?;
        Some(MergeStep::Unmerge { variant: variant.id.clone(), representative: from })
    };
    steps.extend(leaves(representative));
    let moving: Vec<&&Variant> = others.iter().filter(|variant| !stays(variant)).collect();
    steps.extend(moving.iter().filter_map(|variant| leaves(variant)));
    // A variant with staying members of its own cannot move; of the others, only as many as there is room for.
    let staying: BTreeSet<&GroupId> =
        others.iter().filter(|variant| stays(variant)).filter_map(|variant| variant.merge.into.as_ref()).collect();
    let there = others.iter().filter(|variant| variant.merge.into.as_ref() == Some(&representative.id)).count();
    let free = moving.iter().filter(|variant| variant.is_idle() && !staying.contains(&variant.id));
    let fits = free.filter(|variant| variant.main_queue == representative.main_queue);
    steps.extend(
        fits.take(super::MERGED_VARIANTS_MAX.saturating_sub(there))
            .map(|variant| MergeStep::Merge { variant: variant.id.clone(), representative: representative.id.clone() }),
    );
}

impl GroupRule {
    /// Whether this rule matches a group.
    pub fn is_about(&self, id: &GroupId, title: &str) -> bool {
        self.fingerprints.contains(id) || self.titles.iter().any(|pattern| fits(pattern, title))
    }
}

/// Whether a text matches a pattern in which `*` stands for any text.
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

/// Returns a group's name: from the policy, else what the titles of its variants have in common, else its own title.
pub fn name<'a>(variant: &'a Variant, rules: &'a [GroupRule]) -> &'a str {
    of_policy(variant, rules).unwrap_or_else(|| variant.merge.title.as_deref().unwrap_or(&variant.title))
}

/// Returns a group's name with the values that all of its letters have; see [`Variant::shown_title`].
pub fn shown_name<'a>(variant: &'a Variant, counts: &GroupCounts, rules: &'a [GroupRule]) -> Cow<'a, str> {
    let common = || variant.merge.title.as_deref();
    let name = of_policy(variant, rules).or_else(common).map(Cow::Borrowed);
    name.unwrap_or_else(|| variant.shown_title(counts))
}

fn of_policy<'a>(variant: &Variant, rules: &'a [GroupRule]) -> Option<&'a str> {
    let rule = rules.iter().find(|rule| rule.is_about(&variant.id, &variant.title));
    rule.filter(|rule| rule.act != GroupAct::Split).map(|rule| rule.name.as_str())
}
