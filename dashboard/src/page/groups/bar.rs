//! The tools above the list: the filter and its chips, the views with their counts, and the sort order on small screens.

use super::order::Order;
use super::query::Query;
use crate::component::{Glyph, Icon, Tab, Tabs, chip, chips, span};
use crate::nav::nav;
use crate::reactive::prelude::*;
use dashboard_model::filter::{Filter, Term, Test};
use dashboard_model::money::count;
use dashboard_model::route::{GroupsRoute, Route};
use dashboard_model::sort::Sort;
use dashboard_model::view::View;
use leptos::ev::KeyboardEvent;
use leptos::leptos_dom::helpers::TimeoutHandle;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

const FILTER: &str = "filter";

/// The pause in typing after which the URL follows. Browsers refuse more than about 100 URL changes in 30 s.
const TYPING_PAUSE: Duration = Duration::from_millis(300);

/// Focuses the filter.
pub(super) fn focus_filter() {
    let field = document().get_element_by_id(FILTER).and_then(|field| field.dyn_into::<HtmlElement>().ok());
    if let Some(field) = field {
        let _ = field.focus();
    }
}

/// Shows the filter.
#[component]
pub(super) fn FilterBar(query: Query, order: Order) -> impl IntoView {
    let (nav, typed, route) = (nav(), query.typed, query.route);
    let timer: StoredValue<Option<TimeoutHandle>> = StoredValue::new(None);
    let settle = move || {
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        let (Some(q), Some(now)) = (typed.try_get_untracked(), route.try_get_untracked()) else { return };
        if now.q != q {
            nav.replace(Route::Groups(GroupsRoute { q, ..now }));
        }
    };
    let write = move |text: String| {
        typed.set(text);
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        timer.set_value(set_timeout_with_handle(settle, TYPING_PAUSE).ok());
    };
    // Links and the back button change the filter in the URL. While the reader types, the field is ahead of the URL.
    Effect::new(move |before: Option<String>| {
        let q = route.get().q;
        if before.is_some_and(|before| before != q) && timer.with_value(Option::is_none) {
            typed.set(q.clone());
        }
        q
    });
    let pressed = move |event: KeyboardEvent| match event.key().as_str() {
        "Escape" | "Enter" | "ArrowDown" => {
            event.prevent_default();
            settle();
            order.step(0);
        }
        _ => {}
    };
    view! {
        <div class="filter">
            <div class="filter-field">
                <Icon glyph=Glyph::Search />
                <input id=FILTER type="search" class="input" autocomplete="off" spellcheck="false"
                    placeholder="Filter by error, queue, consumer or ID" aria-label="Filter"
                    prop:value=move || typed.get()
                    on:input:target=move |event| write(event.target().value())
                    on:keydown=on(pressed) on:blur=on(move |_| settle()) />
                <kbd aria-hidden="true">"/"</kbd>
            </div>
            <Chips query write=Callback::new(move |text| { write(text); settle(); }) />
        </div>
    }
}

/// Shows a chip for each term, in amber if it is not recognized.
#[component]
fn Chips(query: Query, write: Callback<String>) -> impl IntoView {
    let filter = Memo::new(move |_| query.filter());
    let plain =
        |filter: &Filter| filter.terms.iter().all(|term| matches!(term.test, Some(Test::Anywhere(_))) && !term.not);
    part(move || {
        let filter = filter.get();
        (!plain(&filter)).then(|| {
            let one = |(at, term): (usize, &Term)| {
                let others = filter.without(at);
                let text = match term.test {
                    Some(_) => span("mono", term.text.clone()),
                    None => span("chip-unknown", format!("{}: not recognized, ignored", term.text)),
                };
                chip(format!("Remove {}", term.text), text, move || write.run(others.clone()))
            };
            chips("Active filters", filter.terms.iter().enumerate().map(one).collect())
        })
    })
}

/// Shows the views with the number of matching groups, and the sort order on small screens.
#[component]
pub(super) fn Views(query: Query) -> impl IntoView {
    let (nav, route) = (nav(), query.route);
    let counts = Memo::new(move |_| query.counts());
    let tabs = View::ALL
        .into_iter()
        .enumerate()
        .map(|(at, view)| Tab {
            href: Signal::derive(move || {
                Route::Groups(GroupsRoute { view, q: query.typed.get(), ..route.get() }).to_string()
            }),
            label: view.label(),
            count: Signal::derive(move || counts.get().map(|counts| count(counts[at]))),
            is_open: Signal::derive(move || route.get().view == view),
        })
        .collect();
    let reorder = move |word: String| {
        if let Some(sort) = Sort::ALL.into_iter().find(|sort| sort.as_str() == word) {
            nav.replace(Route::Groups(GroupsRoute { sort, dir: None, ..route.get_untracked() }));
        }
    };
    view! {
        <Tabs label="Views" tabs />
        <label class="sorter">
            <span>"Sort by"</span>
            <select class="input" prop:value=move || route.get().sort.as_str()
                on:change:target=move |event| reorder(event.target().value())>
                {Sort::ALL.into_iter().map(|sort| view! {
                    <option value=sort.as_str() selected=attr(move || route.get().sort == sort)>{sort.label()}</option>
                }.into_any()).collect_view()}
            </select>
        </label>
    }
}

/// Offers to show new rows.
#[component]
pub(super) fn NewLine(query: Query, order: Order) -> impl IntoView {
    let words = move || order.pending().words();
    view! {
        <div class="new-line" role="status">
            <Show when=move || !order.pending().is_none()>
                <button type="button" class="new-button" aria-keyshortcuts="." on:click=on(move |_| order.show_new(query))>
                    {words}" — show "<kbd aria-hidden="true">"."</kbd>
                </button>
            </Show>
        </div>
    }
}
