//! The letters of a group that match a filter, page by page.

use crate::merged;
use crate::port::{Cursor, ListPosition, Page, Store, StoreError};
use domain::filter::LetterFilter;
use domain::group::Variant;
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;

/// The most letters that are read for one page. If few of them match the filter, the page is short and has a cursor.
const READ_MAX: usize = 10 * PAGE_MAX;

/// Returns a page of the matching letters of a group, merged variants included, oldest first send first.
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
    let (mut items, mut cursor, mut read) = (Vec::new(), after.cloned(), 0);
    loop {
        let page = merged::letters(store, group, state, cursor.as_ref(), PAGE_MAX).await?;
        let count = page.items.len();
        read += count;
        for (at, letter) in page.items.into_iter().enumerate() {
            if !filter.fits(&letter) {
                continue;
            }
            let position = ListPosition { number: letter.sent_at.as_ms(), id: letter.id.as_str().into() };
            items.push(letter);
            if items.len() == limit {
                let is_last = at + 1 == count && page.next.is_none();
                return Ok(Page { items, next: (!is_last).then(|| position.print(merged::LETTERS)) });
            }
        }
        if page.next.is_none() || read >= READ_MAX {
            return Ok(Page { items, next: page.next });
        }
        cursor = page.next;
    }
}
