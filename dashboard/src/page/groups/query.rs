//! What the list shows: the office's answer, and the reader's view, sort order and filter.

use crate::clock;
use crate::poll::Live;
use crate::reactive::prelude::*;
use dashboard_model::filter::Filter;
use dashboard_model::route::GroupsRoute;
use dashboard_model::view::View;
use domain::id::GroupId;
use wire::GroupsAnswer;
use wire::list::{ListQuery, view_counts};

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
        let query = ListQuery { filter, view: Some(route.view), sort: route.sort, dir: route.dir };
        query.rows(&answer.groups, clock::now()).into_iter().map(|row| row.id.clone()).collect()
    }

    /// Returns the number of groups in each view that match the filter, or `None` before the first answer. Tracked.
    pub fn counts(self) -> Option<[u64; View::ALL.len()]> {
        let filter = self.filter();
        self.live.data().with(|answer| {
            let answer = answer.as_ref()?;
            // The office counts the groups that this page does not have.
            let counted = || answer.in_views.as_slice().try_into().ok();
            let is_part = answer.total > answer.groups.len() as u64;
            let here = || view_counts(&answer.groups, &filter, clock::now());
            Some(if is_part { counted().unwrap_or_else(here) } else { here() })
        })
    }
}
