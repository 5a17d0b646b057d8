//! Groups of several fingerprints, read as one; and the merges themselves.
//!
//! Each variant keeps its own counters and lists. They are added up here, so that every store behaves alike.

use crate::audit::Auditor;
use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::folding::{add, slim};
use crate::guard::unbroken;
use crate::office::Office;
use crate::port::{Cursor, Expect, GroupFacts, ListPosition, Page, Store, StoreError, Write};
use domain::audit::Act;
use domain::group::Variant;
use domain::group::merging::{MergeStep, steps};
use domain::id::GroupId;
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::Replay;
use futures_util::future::try_join_all;
use std::collections::BTreeMap;

/// A group with its merged variants.
pub(crate) struct MergedGroup {
    /// The representative, with the counters of all variants added up.
    pub facts: GroupFacts,
    /// The merged variants, oldest first, with their own counters.
    pub members: Vec<GroupFacts>,
}

/// Reads a group with its merged variants. A variant that is merged into a group is read alone.
pub(crate) async fn read(
    store: &dyn Store,
    id: &GroupId,
    arrivals_from: i64,
) -> Result<Option<MergedGroup>, StoreError> {
    let Some(mut facts) = store.group_facts(id, arrivals_from).await? else { return Ok(None) };
    let members = facts.variant.merge.members.iter().map(|member| store.group_facts(member, arrivals_from));
    let members = try_join_all(members).await?.into_iter().flatten();
    // The members are read after the representative: one may have been unmerged in between.
    let mut members: Vec<_> = members.filter(|member| member.variant.merge.into.as_ref() == Some(id)).collect();
    members.sort_by(|a, b| (a.variant.first_died_at, &a.variant.id).cmp(&(b.variant.first_died_at, &b.variant.id)));
    add(&mut facts, &members);
    Ok(Some(MergedGroup { facts, members }))
}

/// Returns the group that a fingerprint belongs to: its own id unless it is merged.
pub(crate) async fn group_of(store: &dyn Store, id: &GroupId) -> Result<GroupId, StoreError> {
    let variant = store.group(id).await?;
    Ok(variant.and_then(|variant| variant.merge.into).unwrap_or_else(|| id.clone()))
}

/// The name of the list in cursors of letters, the same in every store.
pub(crate) const LETTERS: &str = "letters";

/// Returns a page of the letters of a group, merged variants included, oldest first send first.
pub(crate) async fn letters(
    store: &dyn Store,
    group: &Variant,
    state: Option<LetterStateKind>,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<Letter>, StoreError> {
    if group.merge.members.is_empty() {
        return store.letters_of(&group.id, state, after, limit).await;
    }
    let ids: Vec<_> = std::iter::once(&group.id).chain(&group.merge.members).collect();
    let each = limit.div_ceil(ids.len());
    let pages = try_join_all(ids.into_iter().map(|id| store.letters_of(id, state, after, each))).await?;
    let position = |letter: &Letter| ListPosition { number: letter.sent_at.as_ms(), id: letter.id.as_str().into() };
    let order = |position: &ListPosition| (position.number, position.id.clone());
    // Up to the earliest position at which a list continues on another page, all lists are complete.
    let nexts = pages.iter().filter_map(|page| ListPosition::parse(LETTERS, page.next.as_ref()));
    let known_to = nexts.min_by_key(order);
    let mut items: Vec<_> = pages.into_iter().flat_map(|page| page.items).collect();
    items.sort_by_cached_key(|letter| order(&position(letter)));
    items.retain(|letter| known_to.as_ref().is_none_or(|to| order(&position(letter)) <= order(to)));
    let is_cut = items.len() > limit;
    items.truncate(limit);
    let last = items.last().filter(|_| is_cut).map(position).or(known_to);
    Ok(Page { items, next: last.map(|position| position.print(LETTERS)) })
}

/// Lists the latest replays of a group, newest first. Replays of its merged variants count: what was tried on one
/// fingerprint was tried on the group.
pub(crate) async fn replays(store: &dyn Store, group: &Variant) -> Result<Vec<Replay>, StoreError> {
    let ids = std::iter::once(&group.id).chain(&group.merge.members);
    let pages = try_join_all(ids.map(|id| store.replays(Some(id), None, PAGE_MAX))).await?;
    let mut replays: Vec<_> = pages.into_iter().flat_map(|page| page.items).collect();
    replays.sort_by(|a, b| (b.approval().at, b.id()).cmp(&(a.approval().at, a.id())));
    replays.truncate(PAGE_MAX);
    Ok(replays)
}

/// Reads all variants without their failures: enough to compare them.
pub(crate) async fn variants(store: &dyn Store) -> Result<BTreeMap<GroupId, Variant>, StoreError> {
    let (mut variants, mut cursor) = (BTreeMap::new(), None);
    loop {
        let page = store.groups(i64::MAX, cursor.as_ref(), PAGE_MAX).await?;
        variants.extend(page.items.into_iter().map(|facts| (facts.variant.id.clone(), slim(facts.variant))));
        let Some(next) = page.next else { return Ok(variants) };
        cursor = Some(next);
    }
}

/// Merges and unmerges variants as fingerprints and policy demand. Each step is a commit of its own. Steps that are cut
/// off, or that conflict with other work on a group, are done by the next sweep.
pub(crate) async fn merge(office: &Office, variants: &BTreeMap<GroupId, Variant>) {
    let Some(steps) = unbroken(|| steps(variants, &office.policy.groups)) else {
        // The other work of the sweep continues.
        return tracing::error!("a defect of the office: comparing groups panicked; none was merged");
    };
    for step in steps {
        if let Err(error) = apply(office, &step).await {
            tracing::warn!(?step, error = %chain(&error), "groups were not merged; the next sweep will try again");
        }
    }
}

/// Does one step of merging.
async fn apply(office: &Office, step: &MergeStep) -> Result<(), OfficeError> {
    let (MergeStep::Merge { variant, representative } | MergeStep::Unmerge { variant, representative }) = step;
    let (variant, representative) = (office.store.group(variant).await?, office.store.group(representative).await?);
    let Some((variant, representative)) = variant.zip(representative) else { return Ok(()) };
    let (after, act, [of_group, of_variant]) = match step {
        MergeStep::Merge { .. } => (variant.merged_into(&representative), Act::GroupsMerged, ["Merged", "Merged into"]),
        MergeStep::Unmerge { .. } => {
            (variant.unmerged_from(&representative), Act::GroupsUnmerged, ["Unmerged", "Unmerged from"])
        }
    };
    let Some((variant_after, representative_after)) = after else { return Ok(()) };
    let now = office.now();
    let record = |of: &Variant, detail: &str, other: &Variant| {
        Auditor::office(&of.id, now).record(act, format!("{detail}: {}", other.title), None)
    };
    let writes = vec![
        Write::Variant { variant: Box::new(variant_after), expect: Expect::Version(variant.version) },
        Write::Variant { variant: Box::new(representative_after), expect: Expect::Version(representative.version) },
        record(&variant, of_variant, &representative),
        record(&representative, of_group, &variant),
    ];
    // On a conflict another process was faster, and decided on newer facts.
    let _ = commit(office, writes).await?;
    Ok(())
}
