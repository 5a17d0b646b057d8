//! The list of groups: its filter language, views and sort orders.
//!
//! The office and the dashboard run the same code: the office on all groups, the dashboard on those that it has.

pub mod delta;
pub mod filter;
#[cfg(test)]
mod filter_tests;
mod fold;
mod risk;
pub mod sort;
pub mod view;
pub mod words;

#[cfg(test)]
mod sample;

pub use risk::{risk_ranks, unrated};

use crate::GroupRow;
use alloc::vec::Vec;
use domain::id::GroupId;
use domain::time::Timestamp;
use filter::Filter;
use sort::{Dir, Sort};
use view::View;

/// What a reader asks of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// The filter.
    pub filter: Filter,
    /// The view; `None` for groups of every view.
    pub view: Option<View>,
    /// The sort order.
    pub sort: Sort,
    /// The direction; `None` for the order's default.
    pub dir: Option<Dir>,
}

impl ListQuery {
    /// Returns the matching rows, in the requested order. The rows must be in the order of attention (see [`rank`]).
    pub fn rows<'a>(&self, rows: &'a [GroupRow], now: Timestamp) -> Vec<&'a GroupRow> {
        let mut rows: Vec<_> = rows
            .iter()
            .filter(|row| self.view.is_none_or(|view| view.has(row)) && self.filter.matches(row, now))
            .collect();
        sort::sort(&mut rows, self.sort, self.dir.unwrap_or(self.sort.worst_first()));
        rows
    }
}

/// Returns how many rows match a filter in each view, in the order of [`View::ALL`].
pub fn view_counts(rows: &[GroupRow], filter: &Filter, now: Timestamp) -> [u64; View::ALL.len()] {
    let rows: Vec<_> = rows.iter().filter(|row| filter.matches(row, now)).collect();
    View::ALL.map(|view| rows.iter().filter(|row| view.has(row)).count() as u64)
}

/// Puts rows in the order of attention: next step, then money at risk, then time to loss, then id as tie-breaker.
pub fn rank(rows: Vec<GroupRow>) -> Vec<GroupRow> {
    let ranks = risk_ranks(&rows.iter().collect::<Vec<_>>());
    let mut keyed: Vec<(Key, GroupRow)> =
        rows.into_iter().zip(ranks).map(|(row, risk)| (key(&row, risk), row)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.into_iter().map(|(_, row)| row).collect()
}

type Key = (u8, u64, Timestamp, GroupId);

fn key(row: &GroupRow, risk: u64) -> Key {
    let loss_at = row.loss_at.unwrap_or(Timestamp::from_ms(i64::MAX));
    (row.next.urgency(), risk, loss_at, row.id.clone())
}
