//! Parameters of lists.

use crate::port::{Cursor, Page};
use domain::limits::PAGE_MAX;
use serde::Deserialize;

/// How many rows a page has when the caller does not say.
const PAGE_DEFAULT: usize = 50;

/// Which page of a list.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PageQuery {
    /// What the page before gave as `next`.
    pub cursor: Option<String>,
    /// How many rows at most.
    pub limit: Option<usize>,
}

impl PageQuery {
    pub(super) fn cursor(&self) -> Option<Cursor> {
        self.cursor.clone().filter(|text| !text.is_empty()).map(Cursor)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.unwrap_or(PAGE_DEFAULT).clamp(1, PAGE_MAX)
    }
}

/// What to ask for the next page with.
pub(super) fn next_of<T>(page: &Page<T>) -> Option<String> {
    page.next.as_ref().map(|cursor| cursor.0.clone())
}
