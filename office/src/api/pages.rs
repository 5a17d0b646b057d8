//! Query parameters of lists. [`super::params`] has checked them before a handler sees them.

use crate::port::{Cursor, Page};
use domain::limits::PAGE_MAX;
use serde::Deserialize;

/// Rows of a page unless the caller asks for another number.
pub(super) const PAGE_DEFAULT: usize = 50;

/// The requested page of a list.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// The most rows.
    pub limit: Option<usize>,
}

impl PageQuery {
    pub(super) fn cursor(&self) -> Option<Cursor> {
        self.cursor.clone().map(Cursor)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.unwrap_or(PAGE_DEFAULT).clamp(1, PAGE_MAX)
    }
}

/// Returns the cursor of the next page, if there is one.
pub(super) fn next_of<T>(page: &Page<T>) -> Option<String> {
    page.next.as_ref().map(|cursor| cursor.0.clone())
}
