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

use crate::api::{self, Answer, ApiError, Seen};
use crate::component::{Frame, Loaded};
use crate::due::due;
use crate::keys::{self, key};
use crate::lazy::{Part, parts};
use crate::nav::nav;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use bar::{FilterBar, NewLine, Views, focus_filter};
use dashboard_model::delta::folded;
use dashboard_model::money::{count, not_compared};
use dashboard_model::route::{GroupsRoute, Route};
use domain::limits::GROUPS_SHOWN_MAX;
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
    // Until there are more groups than one answer holds, the page has all of them, and filters and sorts by itself.
    let has_more = RwSignal::new(false);
    let asked = move || match nav.route_untracked() {
        Route::Groups(route) => has_more.get_untracked().then_some(route),
        _ => None,
    };
    let data = RwSignal::new(snapshot.as_ref().map(|snapshot| snapshot.answer.clone()));
    let live = Live::over(
        data,
        move |seen| changed(data, asked(), seen),
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
    ask_the_office(query, has_more);
    order.follow(query);
    memory::keep(query, order);
    bind_keys(query, order);
    let watching = live.part(|answer| answer.watching.len());
    let beside = move || {
        let n = watching.get()?;
        Some(if n == 1 { "1 queue".to_string() } else { format!("{n} queues") })
    };
    // The list asks more often than the rail.
    let waits = live.part(|answer| answer.summary.for_me);
    let due = due();
    Effect::new(move || {
        if let Some(count) = waits.get() {
            due.set(count);
        }
    });
    let has_any = live.part(|answer| answer.total > 0);
    // What the reader opens next is fetched once the list is there.
    let parts = parts();
    Effect::new(move || {
        if let (Some(parts), true) = (parts, has_any.get().is_some()) {
            parts.prefetch(Part::Work);
        }
    });
    let cut = live.part(|answer| answer.cut.then_some((answer.groups.len() as u64, answer.matching)));
    let unrated = live.part(|answer| not_compared(&answer.unrated));
    view! {
        <div class="page-list">
            <Frame title="Groups" beside=move || beside() pulse=live.pulse()>
                <Loaded live what="list">
                    <Show when=move || has_any.get() == Some(true) fallback=move || view! { <NothingHere query /> }>
                        <div class="list-head">
                            <Summary live />
                            <Worst query />
                        </div>
                        <div class="list-tools">
                            <FilterBar query order />
                            <Views query />
                            <NewLine query order />
                        </div>
                        {part(move || cut.get().flatten().map(|(shown, all)| view! {
                            <p class="stale">{format!("Showing the first {} of {} groups in this order. Filter to see the others.", count(shown), count(all))}</p>
                        }.into_any()))}
                        {part(move || unrated.get().flatten().map(|words| view! { <p class="list-note">{words}</p> }.into_any()))}
                        <List query order />
                    </Show>
                </Loaded>
            </Frame>
        </div>
    }
}

/// Asks for what has changed since the list before, and returns the whole list.
async fn changed(
    data: RwSignal<Option<GroupsAnswer>>,
    asked: Option<GroupsRoute>,
    seen: Seen,
) -> Result<Answer<GroupsAnswer>, ApiError> {
    let since = data.try_with_untracked(|before| before.as_ref().map(|before| before.version.clone())).flatten();
    let Some(answer) = api::groups(asked.clone(), since, seen.clone()).await?.into_new() else {
        return Ok(Answer::Same);
    };
    let whole = data.try_with_untracked(|before| folded(before.as_ref(), answer)).flatten();
    match whole {
        Some(whole) => Ok(Answer::New(whole)),
        None => {
            seen.forget();
            api::groups(asked, None, seen).await
        }
    }
}

/// Lets the office filter and sort while it has more groups than one answer holds.
fn ask_the_office(query: Query, has_more: RwSignal<bool>) {
    let more = query.live.part(|answer| answer.total > GROUPS_SHOWN_MAX as u64);
    Effect::new(move |before: Option<(bool, GroupsRoute)>| {
        let now = (more.get().unwrap_or_default(), query.route.get());
        if has_more.get_untracked() != now.0 {
            has_more.set(now.0);
        }
        if now.0 && before.is_none_or(|before| before != now) {
            query.live.refresh();
        }
        now
    });
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
