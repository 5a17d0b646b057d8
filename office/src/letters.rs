//! The letters of a group under a filter, page by page.

use crate::merged;
use crate::port::{Cursor, ListPosition, Page, Store, StoreError};
use domain::filter::LetterFilter;
use domain::group::Variant;
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;

/// Letters that are looked at for one page: where few fit, the page is short and says where to go on.
const LOOKED_AT_MAX: usize = 10 * PAGE_MAX;

/// A page of the letters of a group, and of all that is merged into it, that fit; oldest send first.
pub async fn list(
    store: &dyn Store,
    group: &Variant,
    state: Option<LetterStateKind>,
    filter: &LetterFilter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Page<Letter>, StoreError> {
    if filter.is_none() {
        return merged::letters(store, group, state, after, limit).await;
    }
    let (mut items, mut cursor, mut looked_at) = (Vec::new(), after.cloned(), 0);
    loop {
        let page = merged::letters(store, group, state, cursor.as_ref(), PAGE_MAX).await?;
        let count = page.items.len();
        looked_at += count;
        for (at, letter) in page.items.into_iter().enumerate() {
            if !filter.fits(&letter) {
                continue;
            }
            let place = ListPosition { number: letter.sent_at.as_ms(), id: letter.id.as_str().into() };
            items.push(letter);
            if items.len() == limit {
                let is_last = at + 1 == count && page.next.is_none();
                return Ok(Page { items, next: (!is_last).then(|| place.print(merged::LETTERS)) });
            }
        }
        if page.next.is_none() || looked_at >= LOOKED_AT_MAX {
            return Ok(Page { items, next: page.next });
        }
        cursor = page.next;
    }
}
