//! The filter with what was understood of it, the views with their counts, and the order where there is no header.

use super::Shared;
use crate::clock;
use crate::component::{Glyph, Icon, Tab, Tabs, chip, chips, words};
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

/// Browsers refuse more than about a hundred changes of the URL in half a minute, so it waits for a rest in typing.
const REST: Duration = Duration::from_millis(300);

/// Puts the cursor into the filter.
pub(super) fn focus_filter() {
    let field = document().get_element_by_id(FILTER).and_then(|field| field.dyn_into::<HtmlElement>().ok());
    if let Some(field) = field {
        let _ = field.focus();
    }
}

/// The filter.
#[component]
pub(super) fn FilterBar(shared: Shared) -> impl IntoView {
    let (nav, typed, place) = (nav(), shared.typed, shared.place);
    let timer: StoredValue<Option<TimeoutHandle>> = StoredValue::new(None);
    let settle = move || {
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        let (Some(q), Some(now)) = (typed.try_get_untracked(), place.try_get_untracked()) else { return };
        if now.q != q {
            nav.replace(Route::Groups(GroupsRoute { q, ..now }));
        }
    };
    let write = move |text: String| {
        typed.set(text);
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        timer.set_value(set_timeout_with_handle(settle, REST).ok());
    };
    // The browser's back button and links change the URL's filter; what is being typed is ahead of the URL.
    Effect::new(move |before: Option<String>| {
        let q = place.get().q;
        if before.is_some_and(|before| before != q) && timer.with_value(Option::is_none) {
            typed.set(q.clone());
        }
        q
    });
    let pressed = move |event: KeyboardEvent| match event.key().as_str() {
        "Escape" | "Enter" | "ArrowDown" => {
            event.prevent_default();
            settle();
            shared.order.step(0);
        }
        _ => {}
    };
    view! {
        <div class="filter">
            <div class="filter-field">
                <Icon glyph=Glyph::Search />
                <input id=FILTER type="search" class="input" autocomplete="off" spellcheck="false"
                    placeholder="Filter by error, queue, consumer or id" aria-label="Filter"
                    prop:value=move || typed.get()
                    on:input:target=move |event| write(event.target().value())
                    on:keydown=on(pressed) on:blur=on(move |_| settle()) />
                <kbd aria-hidden="true">"/"</kbd>
            </div>
            <Chips shared write=Callback::new(move |text| { write(text); settle(); }) />
        </div>
    }
}

/// What was understood, and in amber what was not.
#[component]
fn Chips(shared: Shared, write: Callback<String>) -> impl IntoView {
    let filter = Memo::new(move |_| shared.filter());
    let plain =
        |filter: &Filter| filter.terms.iter().all(|term| matches!(term.test, Some(Test::Anywhere(_))) && !term.not);
    part(move || {
        let filter = filter.get();
        (!plain(&filter)).then(|| {
            let one = |(at, term): (usize, &Term)| {
                let rest = filter.without(at);
                let text = match term.test {
                    Some(_) => words("mono", term.text.clone()),
                    None => words("chip-wrong", format!("{}: not understood, ignored", term.text)),
                };
                chip(format!("Remove {}", term.text), text, move || write.run(rest.clone()))
            };
            chips("What the filter asks", filter.terms.iter().enumerate().map(one).collect())
        })
    })
}

/// The views, each with how many rows the filter leaves in it; on small screens the order too.
#[component]
pub(super) fn Views(shared: Shared) -> impl IntoView {
    let (nav, place) = (nav(), shared.place);
    let counts = Memo::new(move |_| counts(shared));
    let tabs = View::ALL
        .into_iter()
        .enumerate()
        .map(|(at, view)| Tab {
            href: Signal::derive(move || {
                Route::Groups(GroupsRoute { view, q: shared.typed.get(), ..place.get() }).to_string()
            }),
            label: view.label(),
            count: Signal::derive(move || counts.get().map(|counts| count(counts[at]))),
            here: Signal::derive(move || place.get().view == view),
        })
        .collect();
    let reorder = move |word: String| {
        if let Some(sort) = Sort::ALL.into_iter().find(|sort| sort.as_str() == word) {
            nav.replace(Route::Groups(GroupsRoute { sort, dir: None, ..place.get_untracked() }));
        }
    };
    view! {
        <Tabs label="Views" tabs />
        <label class="sorter">
            <span>"Order"</span>
            <select class="input" prop:value=move || place.get().sort.as_str()
                on:change:target=move |event| reorder(event.target().value())>
                {Sort::ALL.into_iter().map(|sort| view! {
                    <option value=sort.as_str() selected=attr(move || place.get().sort == sort)>{sort.label()}</option>
                }.into_any()).collect_view()}
            </select>
        </label>
    }
}

/// What waits to be shown.
#[component]
pub(super) fn NewLine(shared: Shared) -> impl IntoView {
    let order = shared.order;
    let words = move || order.pending().words();
    view! {
        <div class="new-line" role="status">
            <Show when=move || !order.pending().is_none()>
                <button type="button" class="new-button" aria-keyshortcuts="." on:click=on(move |_| order.show_new(shared))>
                    {words}" — show "<kbd aria-hidden="true">"."</kbd>
                </button>
            </Show>
        </div>
    }
}

/// Rows that the filter leaves, by view. None while nothing is known.
pub(super) fn counts(shared: Shared) -> Option<[u64; 5]> {
    let filter = shared.filter();
    let now = clock::now();
    shared.live.data().with(|answer| {
        let rows: Vec<_> = answer.as_ref()?.groups.iter().filter(|row| filter.matches(row, now)).collect();
        Some(View::ALL.map(|view| rows.iter().filter(|row| view.has(row)).count() as u64))
    })
}
