//! What the letters of a group share, beside letters of other groups of the same queue.

use crate::error::OfficeError;
use crate::merged;
use crate::port::Store;
use domain::facet::{FACET_LETTERS_MAX, Facets, facets};
use domain::group::Variant;
use domain::id::GroupId;
use domain::letter::Letter;
use domain::limits::PAGE_MAX;
use futures_util::future::try_join_all;

/// The most other groups whose letters are read.
const OTHER_GROUPS_MAX: usize = 10;
/// With so many other letters of the same message type, only these count: another type has other fields anyway.
const SAME_TYPE_MIN: usize = 20;

/// Compares the oldest letters of a group with the oldest of other groups of its main queue.
pub(crate) async fn of_group(store: &dyn Store, id: &GroupId) -> Result<Facets, OfficeError> {
    let group = store.group(id).await?.ok_or_else(|| OfficeError::NoGroup(id.clone()))?;
    let inside = merged::letters(store, &group, None, None, FACET_LETTERS_MAX).await?.items;
    let others = others(store, &group).await?;
    let each = FACET_LETTERS_MAX / others.len().max(1);
    let pages = try_join_all(others.iter().map(|other| store.letters_of(other, None, None, each))).await?;
    let outside = pages.into_iter().flat_map(|page| page.items).collect();
    Ok(facets(&inside, &comparable(outside, group.message_type.as_deref())))
}

/// Returns other fingerprints of the same queue: those of the same message type first.
async fn others(store: &dyn Store, group: &Variant) -> Result<Vec<GroupId>, OfficeError> {
    let own = group.merge.into.as_ref().unwrap_or(&group.id);
    let is_other = |other: &Variant| {
        other.main_queue == group.main_queue && other.id != *own && other.merge.into.as_ref() != Some(own)
    };
    let listed = store.groups(i64::MAX, None, PAGE_MAX).await?.items.into_iter().map(|facts| facts.variant);
    let mut others: Vec<Variant> = listed.filter(is_other).collect();
    others.sort_by_key(|other| other.message_type != group.message_type);
    Ok(others.into_iter().take(OTHER_GROUPS_MAX).map(|other| other.id).collect())
}

/// Leaves only letters of the same message type, where there are enough.
fn comparable(letters: Vec<Letter>, message_type: Option<&str>) -> Vec<Letter> {
    let (same, rest): (Vec<_>, Vec<_>) =
        letters.into_iter().partition(|letter| letter.diagnosis.message_type.as_deref() == message_type);
    if same.len() >= SAME_TYPE_MIN { same } else { same.into_iter().chain(rest).collect() }
}
