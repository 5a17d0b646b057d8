//! The list of groups, worst first: is it bad, what is worst, is somebody on it.

mod bar;
mod empty;
mod list;
mod memory;
mod order;
mod row;
mod summary;

pub use memory::Memory;

use crate::api;
use crate::component::{Frame, Unless};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use bar::{FilterBar, NewLine, Views, focus_filter};
use dashboard_model::filter::Filter;
use dashboard_model::route::{GroupsRoute, Route};
use empty::NothingHere;
use list::List;
use memory::recall;
use order::Order;
use summary::{Summary, Worst};
use wire::GroupsAnswer;

/// What the parts of this page share.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    /// The office's answer.
    live: Live<GroupsAnswer>,
    /// What the URL asks for.
    place: Memo<GroupsRoute>,
    /// The filter as it is typed; the URL follows.
    typed: RwSignal<String>,
    /// The rows on the screen.
    order: Order,
}

impl Shared {
    fn filter(self) -> Filter {
        self.typed.with(|text| Filter::parse(text))
    }
}

/// The list of groups, which is also the home page.
#[component]
pub fn GroupsPage() -> impl IntoView {
    let nav = nav();
    let known = recall();
    let live =
        Live::seeded(known.as_ref().map(|memory| memory.answer.clone()), api::groups, |answer: &GroupsAnswer| {
            if answer.summary.replays > 0 { Pace::Busy } else { Pace::Calm }
        });
    // Leaving the page changes the route before the page is gone: it keeps its last own place until then.
    let place = Memo::new(move |before: Option<&GroupsRoute>| match nav.route() {
        Route::Groups(place) => place,
        _ => before.cloned().unwrap_or_default(),
    });
    let typed = RwSignal::new(place.get_untracked().q);
    let order = Order::new(known, &place.get_untracked());
    let shared = Shared { live, place, typed, order };
    order.follow(shared);
    memory::keep(shared);
    bind_keys(shared);
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
                <Unless live>
                    <Show when=move || has_any.get() == Some(true) fallback=move || view! { <NothingHere shared /> }>
                        <div class="list-head">
                            <Summary live />
                            <Worst live />
                        </div>
                        <div class="list-tools">
                            <FilterBar shared />
                            <Views shared />
                            <NewLine shared />
                        </div>
                        {part(move || cut.get().flatten().map(|n| view! {
                            <p class="stale">{format!("The first {n} groups in the order of attention; there are more.")}</p>
                        }.into_any()))}
                        <List shared />
                    </Show>
                </Unless>
            </Frame>
        </div>
    }
}

fn bind_keys(shared: Shared) {
    let order = shared.order;
    let nav = nav();
    let clear = move || {
        if shared.typed.with_untracked(|text| !text.is_empty()) {
            shared.typed.set(String::new());
            let place = shared.place.get_untracked();
            nav.replace(Route::Groups(GroupsRoute { q: String::new(), ..place }));
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
            key("o", "Open it (so does Enter)", move || {
                if let Some(id) = order.cursor() {
                    nav.go(Route::group(&id));
                }
            }),
            key("/", "Filter", focus_filter),
            key("Escape", "Clear the filter", clear),
            key(".", "Show what is new", move || order.show_new(shared)),
        ],
    );
}
