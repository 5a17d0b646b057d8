//! Variants as groups: a merged variant is counted in its group.

use crate::port::GroupFacts;
use domain::group::Variant;
use domain::id::GroupId;
use std::collections::BTreeMap;

/// Adds the counters of merged variants to those of their representative.
pub(crate) fn add(group: &mut GroupFacts, members: &[GroupFacts]) {
    let merge = &mut group.variant.merge;
    let are_named = members.iter().all(|member| merge.members.contains(&member.variant.id));
    if members.len() != merge.members.len() || !are_named {
        // Read while one was merged or unmerged: the customers were counted of others.
        merge.counted = None;
    }
    members.iter().for_each(|member| add_one(group, member));
}

fn add_one(group: &mut GroupFacts, member: &GroupFacts) {
    group.counts.add(&member.counts);
    group.oldest_sent_at = group.oldest_sent_at.into_iter().chain(member.oldest_sent_at).min();
    group.loss_at = group.loss_at.into_iter().chain(member.loss_at).min();
    let mut arrivals: BTreeMap<i64, u64> = group.arrivals.iter().copied().collect();
    for (bucket, deaths) in &member.arrivals {
        *arrivals.entry(*bucket).or_default() += deaths;
    }
    group.arrivals = arrivals.into_iter().collect();
}

/// Turns a list of variants into a list of groups: a merged variant is counted in its group and leaves the list.
pub(crate) fn fold(listed: Vec<GroupFacts>) -> Vec<GroupFacts> {
    let (merged, representatives): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|facts| facts.variant.merge.into.is_some());
    let mut groups: BTreeMap<GroupId, GroupFacts> =
        representatives.into_iter().map(|facts| (facts.variant.id.clone(), facts)).collect();
    let mut members: BTreeMap<GroupId, Vec<GroupFacts>> = BTreeMap::new();
    for facts in merged {
        match facts.variant.merge.into.as_ref().filter(|group| groups.contains_key(*group)) {
            Some(group) => members.entry(group.clone()).or_default().push(facts),
            // The list was cut before its representative.
            None => drop(groups.insert(facts.variant.id.clone(), facts)),
        }
    }
    for (id, group) in &mut groups {
        add(group, members.get(id).map_or(&[], Vec::as_slice));
    }
    groups.into_values().collect()
}

/// Returns a variant without its failure, which may be long.
pub(crate) fn slim(variant: Variant) -> Variant {
    let logs = variant.logs.map(|search| Box::new(search.slim()));
    Variant { failure: domain::reading::Failure::default(), reported: None, logs, ..variant }
}
