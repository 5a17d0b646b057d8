//! The filter of letters: its form and its conditions.

use crate::clock;
use crate::component::{Button, Field, Kind, chip, chips, span};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::reactive::prelude::*;
use dashboard_model::letters::{CHARS_MAX, Fields, Suggestions, conditions, offers};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::when;
use domain::filter::LetterFilter;
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Returns the filter in a route.
pub(super) fn filter_in(route: Route) -> LetterFilter {
    match route {
        Route::Group(route) => route.filter,
        _ => LetterFilter::default(),
    }
}

/// Returns the link to the waiting letters that match a filter.
pub(super) fn waiting_letters_href(group: GroupId, filter: LetterFilter) -> String {
    let state = Some(LetterStateKind::Waiting);
    Route::Group(GroupRoute { tab: GroupTab::Letters, state, filter, ..GroupRoute::new(group) }).to_string()
}

/// Changes the page's filter.
fn apply(filter: LetterFilter) {
    let nav = nav();
    if let Route::Group(route) = nav.route_untracked() {
        nav.go(Route::Group(GroupRoute { filter, letter: None, ..route }));
    }
}

/// Shows a chip for each condition of a filter. Shows nothing for an empty filter.
pub(super) fn condition_chips(
    filter: impl Fn() -> LetterFilter + Send + 'static,
    on_change: impl Fn(LetterFilter) + Send + Sync + 'static,
) -> AnyView {
    let on_change = Callback::new(on_change);
    part(move || {
        let conditions = conditions(&filter(), clock::absolute).into_iter();
        let chip = move |(text, others): (String, LetterFilter)| {
            let name = format!("Remove {text}");
            chip(name, span("", text), move || on_change.run(others.clone()))
        };
        chips("Letter filter", conditions.map(chip).collect())
    })
}

/// Shows the URL's filter, with buttons to change and to clear it, and what the letters offer to filter by.
#[component]
pub(super) fn FilterLine(
    filter: Memo<LetterFilter>,
    /// Suggested values.
    suggestions: RwSignal<Suggestions>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    keys::bind("Letters", vec![key("/", "Filter the letters", move || open.set(true))]);
    view! {
        <div class="found">
            <Button press=move |()| open.update(|open| *open = !*open) key="/">"Filter letters…"</Button>
            {condition_chips(move || filter.get(), apply)}
            {part(move || suggestions.with(|seen| filter.with(|filter| offers(seen, filter))).map(offer_chips))}
            <Show when=move || filter.with(|filter| !filter.is_none())>
                <Button kind=Kind::Quiet press=|()| apply(LetterFilter::default())>"Clear filter"</Button>
            </Show>
        </div>
        <Show when=move || open.get()><FilterForm open filter suggestions /></Show>
    }
}

/// Shows conditions to add with one click.
fn offer_chips(offers: Vec<(String, LetterFilter)>) -> AnyView {
    let chip = |(text, narrowed): (String, LetterFilter)| {
        let press = move |_| apply(narrowed.clone());
        view! { <button type="button" class="offer-chip" on:click=on(press)>{text}</button> }.into_any()
    };
    view! { <span class="offers" role="group" aria-label="Narrow the list">{offers.into_iter().map(chip).collect_view()}</span> }
        .into_any()
}

/// Edits the filter, in the page and not above it: the list that it is about stays in sight. It applies when the form is
/// sent.
#[component]
fn FilterForm(open: RwSignal<bool>, filter: Memo<LetterFilter>, suggestions: RwSignal<Suggestions>) -> impl IntoView {
    let fields = RwSignal::new(Fields::from_filter(&filter.get_untracked(), clock::zone_min));
    let edited = Memo::new(move |_| fields.with(|fields| fields.filter(clock::zone_min)));
    let why_not = edited.map(|edited| edited.as_ref().err().map(|error| error.to_string()));
    let form: NodeRef<html::Form> = NodeRef::new();
    Effect::new(move || {
        let Some(form) = form.get() else { return };
        request_animation_frame(move || {
            let first =
                form.query_selector("input").ok().flatten().and_then(|input| input.dyn_into::<HtmlElement>().ok());
            if let Some(first) = first {
                let _ = first.focus();
            }
        });
    });
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        if let Ok(filter) = edited.get_untracked() {
            open.set(false);
            apply(filter);
        }
    };
    let escape = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.prevent_default();
            open.set(false);
        }
    };
    let field = move |label: &'static str, hint: String, get: fn(&mut Fields) -> &mut String| {
        let value = Signal::derive(move || fields.with(|f| get(&mut f.clone()).clone()));
        let is_time = label == FROM || label == BEFORE;
        // A time with milliseconds keeps them.
        let step = is_time.then(|| if value.get_untracked().contains('.') { "0.001" } else { "1" });
        let suggestions = suggestions.map(move |suggestions| match label {
            TYPE => suggestions.types.clone(),
            TENANT => suggestions.tenants.clone(),
            _ => Vec::new(),
        });
        view! {
            <Field label kind=if is_time { "datetime-local" } else { "text" } step suggestions hint=Some(hint)
                value chars_max=CHARS_MAX on_input=move |text| fields.update(|f| *get(f) = text) />
        }
        .into_any()
    };
    let zone = when::zone(clock::zone_min(clock::now()));
    view! {
        <form class="filter-form" aria-label="Filter letters" node_ref=form on:submit=on(send) on:keydown=on(escape)>
            <div class="options">
                {field(TYPE, "Exact message type".into(), |f| &mut f.message_type)}
                {field(TENANT, "Exact tenant".into(), |f| &mut f.tenant)}
                {field(FROM, format!("In {zone}"), |f| &mut f.from)}
                {field(BEFORE, format!("In {zone}"), |f| &mut f.before)}
                {field("Replays at most", "0 for letters never replayed".into(), |f| &mut f.replays)}
            </div>
            <div class="side-buttons">
                <Button kind=Kind::Primary submit=true press=|()| () why_not>"Apply filter"</Button>
                <Button press=move |()| open.set(false)>"Cancel"</Button>
                <span class="muted">"Leave a field blank for any value."</span>
            </div>
        </form>
    }
}

const TYPE: &str = "Type";
const TENANT: &str = "Tenant";
const FROM: &str = "Failed at or after";
const BEFORE: &str = "Failed before";
