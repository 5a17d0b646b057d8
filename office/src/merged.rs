//! A cause: a group and the groups that are merged into it, read as one; and the merges themselves.
//!
//! Each group keeps its own counters and lists, so here they are added up and merged, whatever the store.

use crate::error::{OfficeError, chain};
use crate::guard::unbroken;
use crate::office::Office;
use crate::port::{CommitError, Cursor, Expect, GroupFacts, ListPosition, Page, Store, StoreError, Write};
use domain::audit::{Act, AuditRecord};
use domain::group::Variant;
use domain::group::merging::{Step, steps};
use domain::id::{Actor, GroupId};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::Replay;
use futures_util::future::try_join_all;
use std::collections::BTreeMap;

/// A group and what is merged into it.
pub(crate) struct MergedGroup {
    /// The head, with everything that is counted in it and in the others.
    pub whole: GroupFacts,
    /// The others, oldest first, with their own numbers.
    pub also: Vec<GroupFacts>,
}

/// Reads a group with all that is merged into it. One that is merged into another itself stands alone here.
pub(crate) async fn read(
    store: &dyn Store,
    id: &GroupId,
    arrivals_from: i64,
) -> Result<Option<MergedGroup>, StoreError> {
    let Some(mut whole) = store.group_facts(id, arrivals_from).await? else { return Ok(None) };
    let others = whole.group.merge.members.iter().map(|other| store.group_facts(other, arrivals_from));
    let others = try_join_all(others).await?.into_iter().flatten();
    // Head and others are read one after the other: somebody may have left in between.
    let mut also: Vec<_> = others.filter(|other| other.group.merge.into.as_ref() == Some(id)).collect();
    also.sort_by(|a, b| (a.group.first_died_at, &a.group.id).cmp(&(b.group.first_died_at, &b.group.id)));
    also.iter().for_each(|other| add(&mut whole, other));
    Ok(Some(MergedGroup { whole, also }))
}

/// Adds the numbers of a group to those of its head.
pub(crate) fn add(head: &mut GroupFacts, other: &GroupFacts) {
    head.counts.add(&other.counts);
    head.oldest_sent_at = head.oldest_sent_at.into_iter().chain(other.oldest_sent_at).min();
    head.loss_at = head.loss_at.into_iter().chain(other.loss_at).min();
    let mut arrivals: BTreeMap<i64, u64> = head.arrivals.iter().copied().collect();
    for (bucket, deaths) in &other.arrivals {
        *arrivals.entry(*bucket).or_default() += deaths;
    }
    head.arrivals = arrivals.into_iter().collect();
}

/// Adds up the groups of a list: what is merged into another is counted there and leaves the list.
pub(crate) fn fold(listed: Vec<GroupFacts>) -> Vec<GroupFacts> {
    let (merged, heads): (Vec<_>, Vec<_>) = listed.into_iter().partition(|facts| facts.group.merge.into.is_some());
    let mut folded: BTreeMap<GroupId, GroupFacts> =
        heads.into_iter().map(|facts| (facts.group.id.clone(), facts)).collect();
    for facts in merged {
        match facts.group.merge.into.as_ref().and_then(|head| folded.get_mut(head)) {
            Some(head) => add(head, &facts),
            // The list was cut before its head.
            None => drop(folded.insert(facts.group.id.clone(), facts)),
        }
    }
    folded.into_values().collect()
}

/// The head of the cause that a group belongs to.
pub(crate) async fn head_of(store: &dyn Store, id: &GroupId) -> Result<GroupId, StoreError> {
    let group = store.group(id).await?;
    Ok(group.and_then(|group| group.merge.into).unwrap_or_else(|| id.clone()))
}

/// What cursors of letters are called, in every store.
pub(crate) const LETTERS: &str = "letters";

/// A page of the letters of a group and of all that is merged into it, oldest send first.
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
    let place = |letter: &Letter| ListPosition { number: letter.sent_at.as_ms(), id: letter.id.as_str().into() };
    let order = |place: &ListPosition| (place.number, place.id.clone());
    // Up to the earliest place where a list ends early, all lists are known.
    let nexts = pages.iter().filter_map(|page| ListPosition::parse(LETTERS, page.next.as_ref()));
    let known_to = nexts.min_by_key(order);
    let mut items: Vec<_> = pages.into_iter().flat_map(|page| page.items).collect();
    items.sort_by_cached_key(|letter| order(&place(letter)));
    items.retain(|letter| known_to.as_ref().is_none_or(|to| order(&place(letter)) <= order(to)));
    let is_cut = items.len() > limit;
    items.truncate(limit);
    let last = items.last().filter(|_| is_cut).map(place).or(known_to);
    Ok(Page { items, next: last.map(|place| place.print(LETTERS)) })
}

/// The latest replays of a group and of all that is merged into it, newest first: what was tried on one fingerprint was
/// tried on the cause.
pub(crate) async fn replays(store: &dyn Store, group: &Variant) -> Result<Vec<Replay>, StoreError> {
    let ids = std::iter::once(&group.id).chain(&group.merge.members);
    let pages = try_join_all(ids.map(|id| store.replays(Some(id), None, PAGE_MAX))).await?;
    let mut replays: Vec<_> = pages.into_iter().flat_map(|page| page.items).collect();
    replays.sort_by(|a, b| (b.approval().at, b.id()).cmp(&(a.approval().at, a.id())));
    replays.truncate(PAGE_MAX);
    Ok(replays)
}

/// All groups without what only their own pages need: enough to see how they stand to each other.
pub(crate) async fn heads(store: &dyn Store) -> Result<BTreeMap<GroupId, Variant>, StoreError> {
    let (mut heads, mut cursor) = (BTreeMap::new(), None);
    loop {
        let page = store.groups(i64::MAX, cursor.as_ref(), PAGE_MAX).await?;
        heads.extend(page.items.into_iter().map(|facts| (facts.group.id.clone(), slim(facts.group))));
        let Some(next) = page.next else { return Ok(heads) };
        cursor = Some(next);
    }
}

/// A group without its failure, which may be long.
pub(crate) fn slim(group: Variant) -> Variant {
    Variant { failure: domain::reading::Failure::default(), ..group }
}

/// Merges what belongs together. Each step is a commit of its own: what is cut off, or meets somebody who works on one
/// of the groups, is done by the next sweep.
pub(crate) async fn merge(office: &Office, groups: &BTreeMap<GroupId, Variant>) {
    let Some(steps) = unbroken(|| steps(groups, &office.policy.groups)) else {
        // What the sweep has to do besides must not wait for this.
        return tracing::error!("causes could not be compared, which is a defect of the office: none is merged");
    };
    for step in steps {
        if let Err(error) = take(office, &step).await {
            tracing::warn!(?step, error = %chain(&error), "groups were not merged; the next sweep will try again");
        }
    }
}

async fn take(office: &Office, step: &Step) -> Result<(), OfficeError> {
    let (Step::Merge { variant: group, representative: head } | Step::Unmerge { variant: group, representative: head }) =
        step;
    let (group, head) = (office.store.group(group).await?, office.store.group(head).await?);
    let Some((group, head)) = group.zip(head) else { return Ok(()) };
    let (done, act, detail) = match step {
        Step::Merge { .. } => (group.merged_into(&head), Act::GroupsMerged, "Also seen as"),
        Step::Unmerge { .. } => (group.unmerged_from(&head), Act::GroupsUnmerged, "No longer seen as"),
    };
    let Some((group_after, head_after)) = done else { return Ok(()) };
    let record = |of: &Variant, other: &Variant| {
        Write::Audit(Box::new(AuditRecord {
            at: office.now(),
            actor: Actor::office(),
            act,
            group: of.id.clone(),
            replay: None,
            detail: format!("{detail}: {}", other.title),
            reason: None,
        }))
    };
    let writes = vec![
        Write::Variant { group: Box::new(group_after), expect: Expect::Version(group.version) },
        Write::Variant { group: Box::new(head_after), expect: Expect::Version(head.version) },
        record(&group, &head),
        record(&head, &group),
    ];
    match office.store.commit(writes).await {
        // Somebody was faster, and knows better.
        Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
        Err(CommitError::Store(error)) => Err(error.into()),
    }
}
