//! The table of groups: its header, and the rows near the viewport.

use super::empty::NoneMatch;
use super::order::Order;
use super::query::Query;
use super::row::Row;
use super::scroll::{FRAME, frame};
use crate::page::viewport::{follow, window_px};
use crate::poll::State;
use crate::reactive::prelude::*;
use dashboard_model::route::{GroupsRoute, Route};
use dashboard_model::sort::{Dir, Sort};
use dashboard_model::window::{self, Viewport};
use domain::id::GroupId;
use leptos::html;
use std::ops::Range;

/// The columns: CSS class, label, and the header's sort order.
const COLUMNS: [(&str, &str, Option<Sort>); 9] = [
    ("cell-error", "Error", Some(Sort::Title)),
    ("cell-class", "Class", None),
    ("cell-spark", "Last 24 h", Some(Sort::Arrivals)),
    ("cell-letters", "Letters", Some(Sort::Letters)),
    ("cell-risk", "At risk", Some(Sort::Risk)),
    ("cell-customers", "Customers", Some(Sort::Customers)),
    ("cell-age", "Oldest", Some(Sort::Age)),
    ("cell-loss", "Expires in", Some(Sort::Loss)),
    ("cell-step", "Next step", Some(Sort::Attention)),
];

/// Shows the list.
#[component]
pub(super) fn List(query: Query, order: Order) -> impl IntoView {
    let body: NodeRef<html::Div> = NodeRef::new();
    let viewport = RwSignal::new(Viewport::default());
    watch_viewport(body, viewport);
    Effect::new(move || {
        if body.get().is_some() {
            order.restore();
        }
    });
    let shown = order.shown();
    let window = Memo::new(move |_| window::range(shown.with(Vec::len), viewport.get(), window::GROUPS));
    let rows = move || shown.with(|shown| shown.get(window.get()).unwrap_or_default().to_vec());
    let spacer = move |rows: usize| format!("{}px", (viewport.get().row_px * rows as f64) as u64);
    let above = move || spacer(window.get().start);
    let below = move || spacer(shown.with(Vec::len).saturating_sub(window.get().end));
    let is_stale = move || matches!(query.live.state(), State::Stale { .. });
    let is_empty = shown.map(Vec::is_empty);
    view! {
        <div class="list" class:list-stale=is_stale>
            <div class="list-frame" id=FRAME>
                <Show when=move || !is_empty.get() fallback=move || view! { <NoneMatch query /> }>
                    <div class="table" role="table" aria-label="Groups"
                        aria-rowcount=attr(move || (shown.with(Vec::len) + 1).to_string())>
                        <Header query />
                        <div role="rowgroup" class="rows" node_ref=body>
                            <div style:height=above></div>
                            <For each=rows key=|id| id.clone() children=move |id| {
                                let index = row_index(id.clone(), shown, window);
                                order.row(&id).map(|row| view! { <Row id row order index /> }.into_any())
                            } />
                            <div style:height=below></div>
                        </div>
                    </div>
                </Show>
            </div>
        </div>
    }
}

/// Returns a row's index in the table, where the header is 1. Searches only the rows near the viewport.
fn row_index(id: GroupId, shown: RwSignal<Vec<GroupId>>, window: Memo<Range<usize>>) -> Memo<usize> {
    Memo::new(move |_| {
        let window = window.get();
        let at = shown.with(|shown| shown.get(window.clone())?.iter().position(|row| *row == id));
        window.start + at.unwrap_or_default() + 2
    })
}

#[component]
fn Header(query: Query) -> impl IntoView {
    let route = query.route;
    let cells = COLUMNS.map(|(class, name, sort)| {
        let Some(sort) = sort else {
            return view! { <div role="columnheader" class=class>{name}</div> }.into_any();
        };
        let dir = move || {
            let route = route.get();
            (route.sort == sort).then(|| route.dir.unwrap_or(sort.worst_first()))
        };
        // A click on the sorted column reverses its order. Another column starts with the worst first.
        let href = move || {
            let reversed = dir().map(Dir::opposite).filter(|dir| *dir != sort.worst_first());
            Route::Groups(GroupsRoute { sort, dir: reversed, q: query.typed.get(), ..route.get() }).to_string()
        };
        let aria = move || match dir() {
            Some(Dir::Asc) => "ascending",
            Some(Dir::Desc) => "descending",
            None => "none",
        };
        let arrow = move || match dir() {
            Some(Dir::Asc) => "↑",
            Some(Dir::Desc) => "↓",
            None => "",
        };
        view! {
            <div role="columnheader" class=class aria-sort=attr(aria)>
                <a class="sort" href=attr(href)>{name}<span class="sort-arrow" aria-hidden="true">{part(arrow)}</span></a>
            </div>
        }
        .into_any()
    });
    view! {
        <div role="rowgroup" class="head">
            <div role="row" aria-rowindex="1" class="head-row">{cells.into_iter().collect_view()}</div>
        </div>
    }
}

/// Keeps the viewport up to date.
fn watch_viewport(body: NodeRef<html::Div>, viewport: RwSignal<Viewport>) {
    let measure = move || {
        let (Some(Some(body)), Some(frame)) = (body.try_get_untracked(), frame()) else { return };
        let frame = frame.get_bounding_client_rect();
        let top = frame.top().max(0.0);
        let row = body.query_selector(".row").ok().flatten();
        let now = Viewport {
            above_px: top - body.get_bounding_client_rect().top(),
            height_px: (frame.bottom().min(window_px()) - top).max(0.0),
            row_px: row.map_or(0.0, |row| row.get_bounding_client_rect().height()),
        };
        if viewport.try_get_untracked() != Some(now) {
            viewport.try_set(now);
        }
    };
    follow(move || body.get().is_some(), measure);
}
