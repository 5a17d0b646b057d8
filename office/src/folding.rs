//! Variants as groups: a merged variant is counted in its group.

use crate::port::GroupFacts;
use domain::group::Variant;
use domain::id::GroupId;
use std::collections::BTreeMap;

/// Adds the counters of a merged variant to those of its group.
pub(crate) fn add(group: &mut GroupFacts, member: &GroupFacts) {
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
    let (members, representatives): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|facts| facts.variant.merge.into.is_some());
    let mut groups: BTreeMap<GroupId, GroupFacts> =
        representatives.into_iter().map(|facts| (facts.variant.id.clone(), facts)).collect();
    for facts in members {
        match facts.variant.merge.into.as_ref().and_then(|group| groups.get_mut(group)) {
            Some(group) => add(group, &facts),
            // The list was cut before its representative.
            None => drop(groups.insert(facts.variant.id.clone(), facts)),
        }
    }
    groups.into_values().collect()
}

/// Returns a variant without its failure, which may be long.
pub(crate) fn slim(variant: Variant) -> Variant {
    let logs = variant.logs.map(|search| Box::new(search.slim()));
    Variant { failure: domain::reading::Failure::default(), reported: None, logs, ..variant }
}
