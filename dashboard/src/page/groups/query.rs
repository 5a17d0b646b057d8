//! What the list shows: the office's answer, and the reader's view, sort order and filter.

use crate::clock;
use crate::poll::Live;
use crate::reactive::prelude::*;
use dashboard_model::filter::Filter;
use dashboard_model::route::GroupsRoute;
use dashboard_model::sort::sort;
use dashboard_model::view::View;
use domain::id::GroupId;
use wire::{GroupRow, GroupsAnswer};

/// The list's data and the reader's choices.
#[derive(Clone, Copy)]
pub(super) struct Query {
    /// The office's answer.
    pub live: Live<GroupsAnswer>,
    /// The state in the URL.
    pub route: Memo<GroupsRoute>,
    /// The filter's text as typed. The URL follows after a pause in typing.
    pub typed: RwSignal<String>,
}

impl Query {
    /// Returns the filter as typed. Tracked.
    pub fn filter(self) -> Filter {
        self.typed.with(|text| Filter::parse(text))
    }

    /// Returns the matching groups in order. Not tracked.
    pub fn ids(self, answer: &GroupsAnswer) -> Vec<GroupId> {
        let (route, filter) = (self.route.get_untracked(), untrack(|| self.filter()));
        let now = clock::now();
        let mut rows: Vec<&GroupRow> =
            answer.groups.iter().filter(|row| route.view.has(row) && filter.matches(row, now)).collect();
        sort(&mut rows, route.sort, route.dir.unwrap_or(route.sort.worst_first()));
        rows.into_iter().map(|row| row.id.clone()).collect()
    }

    /// Returns the number of groups in each view that match the filter, or `None` before the first answer. Tracked.
    pub fn counts(self) -> Option<[u64; 5]> {
        let filter = self.filter();
        let now = clock::now();
        self.live.data().with(|answer| {
            let rows: Vec<_> = answer.as_ref()?.groups.iter().filter(|row| filter.matches(row, now)).collect();
            Some(View::ALL.map(|view| rows.iter().filter(|row| view.has(row)).count() as u64))
        })
    }
}
