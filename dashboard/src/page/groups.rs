//! The list of groups, worst first. It answers: how bad is it, what is worst, and is someone working on it?

mod bar;
mod empty;
mod list;
mod memory;
mod order;
mod query;
mod row;
mod scroll;
mod snapshot;
mod summary;

pub use memory::Memory;

use crate::api;
use crate::component::{Frame, Loaded};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use bar::{FilterBar, NewLine, Views, focus_filter};
use dashboard_model::route::{GroupsRoute, Route};
use empty::NothingHere;
use list::List;
use memory::recall;
use order::Order;
use query::Query;
use summary::{Summary, Worst};
use wire::GroupsAnswer;

/// The list of groups, which is also the home page.
#[component]
pub fn GroupsPage() -> impl IntoView {
    let nav = nav();
    let snapshot = recall();
    let live = Live::seeded(
        snapshot.as_ref().map(|snapshot| snapshot.answer.clone()),
        api::groups,
        |answer: &GroupsAnswer| {
            if answer.summary.replays > 0 { Pace::Busy } else { Pace::Calm }
        },
    );
    // Navigation changes the route before the page is removed. Until then the page keeps its last own route.
    let route = Memo::new(move |before: Option<&GroupsRoute>| match nav.route() {
        Route::Groups(route) => route,
        _ => before.cloned().unwrap_or_default(),
    });
    let typed = RwSignal::new(route.get_untracked().q);
    let order = Order::new(snapshot, &route.get_untracked());
    let query = Query { live, route, typed };
    order.follow(query);
    memory::keep(query, order);
    bind_keys(query, order);
    let watching = live.part(|answer| answer.watching.len());
    let beside = move || {
        let n = watching.get()?;
        Some(if n == 1 { "1 queue".to_string() } else { format!("{n} queues") })
    };
    let has_any = live.part(|answer| !answer.groups.is_empty());
    let cut = live.part(|answer| answer.cut.then_some(answer.groups.len()));
    view! {
        <div class="page-list">
            <Frame title="Groups" beside=move || beside() pulse=live.pulse()>
                <Loaded live>
                    <Show when=move || has_any.get() == Some(true) fallback=move || view! { <NothingHere query /> }>
                        <div class="list-head">
                            <Summary live />
                            <Worst live />
                        </div>
                        <div class="list-tools">
                            <FilterBar query order />
                            <Views query />
                            <NewLine query order />
                        </div>
                        {part(move || cut.get().flatten().map(|n| view! {
                            <p class="stale">{format!("Showing the first {n} groups by attention. More groups exist.")}</p>
                        }.into_any()))}
                        <List query order />
                    </Show>
                </Loaded>
            </Frame>
        </div>
    }
}

fn bind_keys(query: Query, order: Order) {
    let nav = nav();
    let clear = move || {
        if query.typed.with_untracked(|text| !text.is_empty()) {
            query.typed.set(String::new());
            let route = query.route.get_untracked();
            nav.replace(Route::Groups(GroupsRoute { q: String::new(), ..route }));
        }
    };
    keys::bind(
        "Groups",
        vec![
            key("j", "Next group", move || order.step(1)),
            key("k", "Previous group", move || order.step(-1)),
            key("ArrowDown", "Next group", move || order.step(1)),
            key("ArrowUp", "Previous group", move || order.step(-1)),
            key("Home", "First group", move || order.step(isize::MIN)),
            key("End", "Last group", move || order.step(isize::MAX)),
            key("o", "Open the group (or press Enter)", move || {
                if let Some(id) = order.cursor() {
                    nav.go(Route::group(&id));
                }
            }),
            key("/", "Filter", focus_filter),
            key("Escape", "Clear filter", clear),
            key(".", "Show new groups", move || order.show_new(query)),
        ],
    );
}
