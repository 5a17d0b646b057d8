//! The filter of letters: its form and its conditions.

use crate::clock;
use crate::component::{Button, Dialog, Field, Kind, chip, chips, span};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::reactive::prelude::*;
use dashboard_model::letters::{CHARS_MAX, Fields, Suggestions, conditions};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::when;
use domain::filter::LetterFilter;
use domain::id::GroupId;
use domain::letter::LetterStateKind;

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

/// Shows the URL's filter, with buttons to change and to clear it.
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
            <Button press=move |()| open.set(true) key="/">"Filter letters…"</Button>
            {condition_chips(move || filter.get(), apply)}
            <Show when=move || filter.with(|filter| !filter.is_none())>
                <Button kind=Kind::Quiet press=|()| apply(LetterFilter::default())>"Clear filter"</Button>
            </Show>
        </div>
        <FilterDialog open filter suggestions />
    }
}

/// Edits the filter. It applies when the form is sent.
#[component]
fn FilterDialog(open: RwSignal<bool>, filter: Memo<LetterFilter>, suggestions: RwSignal<Suggestions>) -> impl IntoView {
    let fields = RwSignal::new(Fields::default());
    Effect::new(move || {
        if open.get() {
            fields.set(Fields::from_filter(&filter.get(), clock::zone_min));
        }
    });
    let edited = Memo::new(move |_| fields.with(|fields| fields.filter(clock::zone_min)));
    let why_not = edited.map(|edited| edited.as_ref().err().map(|error| error.to_string()));
    let send = move |()| {
        if let Ok(filter) = edited.get_untracked() {
            open.set(false);
            apply(filter);
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
                value chars_max=CHARS_MAX first=label == TYPE on_input=move |text| fields.update(|f| *get(f) = text) />
        }
        .into_any()
    };
    let form = move || {
        let zone = when::zone(clock::zone_min(clock::now()));
        view! {
            <div class="options">
                {field(TYPE, "Exact message type".into(), |f| &mut f.message_type)}
                {field(TENANT, "Exact tenant".into(), |f| &mut f.tenant)}
                {field(FROM, format!("In {zone}"), |f| &mut f.from)}
                {field(BEFORE, format!("In {zone}"), |f| &mut f.before)}
                {field("Replays at most", "0 for letters never replayed".into(), |f| &mut f.replays)}
            </div>
        }
        .into_any()
    };
    view! {
        <Dialog open title="Filter letters" confirm="Apply filter" kind=Kind::Primary why_not on_confirm=Callback::new(send)>
            {span("muted", "Leave a field blank for any value.".to_string())}
            {part(form)}
        </Dialog>
    }
}

const TYPE: &str = "Type";
const TENANT: &str = "Tenant";
const FROM: &str = "Failed at or after";
const BEFORE: &str = "Failed before";
