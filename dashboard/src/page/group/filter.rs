//! Which letters: the form, what is asked piece by piece, and the plan that takes just these.

use super::here::Here;
use super::plan::Planning;
use crate::clock;
use crate::component::{Button, Dialog, Field, Kind, chip, chips, words};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::reactive::prelude::*;
use dashboard_model::letters::{CHARS_MAX, Fields, Seen, pieces};
use dashboard_model::money::counted;
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::when;
use domain::filter::LetterFilter;
use domain::id::GroupId;
use domain::letter::LetterStateKind;

/// The filter that the URL has.
pub(super) fn filter_of(route: Route) -> LetterFilter {
    match route {
        Route::Group(place) => place.filter,
        _ => LetterFilter::default(),
    }
}

/// Where the letters that fit are listed: those that wait.
pub(super) fn list_of(group: GroupId, filter: LetterFilter) -> String {
    let state = Some(LetterStateKind::Waiting);
    Route::Group(GroupRoute { tab: GroupTab::Letters, state, filter, ..GroupRoute::new(group) }).to_string()
}

/// Where the page is, with another filter.
fn go(filter: LetterFilter) {
    let nav = nav();
    if let Route::Group(place) = nav.route_untracked() {
        nav.go(Route::Group(GroupRoute { filter, letter: None, ..place }));
    }
}

/// What a filter asks, each piece with a button that takes it away; nothing where it asks for nothing.
pub(super) fn pieces_of(
    filter: impl Fn() -> LetterFilter + Send + 'static,
    on_less: impl Fn(LetterFilter) + Send + Sync + 'static,
) -> AnyView {
    let on_less = Callback::new(on_less);
    part(move || {
        let pieces = pieces(&filter(), clock::absolute).into_iter();
        let chip = move |(text, less): (String, LetterFilter)| {
            let name = format!("Remove {text}");
            chip(name, words("", text), move || on_less.run(less.clone()))
        };
        chips("Only letters with", pieces.map(chip).collect())
    })
}

/// What the URL's filter asks, changing it, and the way back to all letters.
#[component]
pub(super) fn FilterLine(
    filter: Memo<LetterFilter>,
    /// What may be asked for.
    seen: RwSignal<Seen>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    keys::bind("Letters", vec![key("/", "Filter the letters", move || open.set(true))]);
    view! {
        <div class="found">
            <Button press=move |()| open.set(true) key="/">"Filter…"</Button>
            {pieces_of(move || filter.get(), go)}
            <Show when=move || filter.with(|filter| !filter.is_none())>
                <Button kind=Kind::Quiet press=|()| go(LetterFilter::default())>"Clear the filter"</Button>
            </Show>
        </div>
        <FilterDialog open filter seen />
    }
}

/// The form. What is typed asks for nothing before it is sent.
#[component]
fn FilterDialog(open: RwSignal<bool>, filter: Memo<LetterFilter>, seen: RwSignal<Seen>) -> impl IntoView {
    let fields = RwSignal::new(Fields::default());
    Effect::new(move || {
        if open.get() {
            fields.set(Fields::of(&filter.get(), clock::zone_min));
        }
    });
    let asked = Memo::new(move |_| fields.with(|fields| fields.filter(clock::zone_min)));
    let why_not = asked.map(|asked| asked.as_ref().err().map(|wrong| wrong.to_string()));
    let send = move |()| {
        if let Ok(filter) = asked.get_untracked() {
            open.set(false);
            go(filter);
        }
    };
    let field = move |label: &'static str, hint: String, get: fn(&mut Fields) -> &mut String| {
        let value = Signal::derive(move || fields.with(|f| get(&mut f.clone()).clone()));
        let is_moment = label.starts_with("Died");
        // A moment that has milliseconds keeps them.
        let step = is_moment.then(|| if value.get_untracked().contains('.') { "0.001" } else { "1" });
        let offers = seen.map(move |seen| match label {
            TYPE => seen.types.clone(),
            TENANT => seen.tenants.clone(),
            _ => Vec::new(),
        });
        view! {
            <Field label kind=if is_moment { "datetime-local" } else { "text" } step offers hint=Some(hint)
                value chars_max=CHARS_MAX first=label == TYPE on_input=move |text| fields.update(|f| *get(f) = text) />
        }
        .into_any()
    };
    let form = move || {
        let zone = when::zone(clock::zone_min(clock::now()));
        view! {
            <div class="options">
                {field(TYPE, "The kind of message, exactly".into(), |f| &mut f.message_type)}
                {field(TENANT, "Whose message it is, exactly".into(), |f| &mut f.tenant)}
                {field("Died at or after", format!("In {zone}"), |f| &mut f.from)}
                {field("Died before", format!("In {zone}"), |f| &mut f.before)}
                {field("Replays at most", "0 for letters that were never replayed".into(), |f| &mut f.replays)}
            </div>
        }
        .into_any()
    };
    view! {
        <Dialog open title="Which letters?" confirm="Show these letters" kind=Kind::Primary why_not on_confirm=Callback::new(send)>
            {words("muted", "An empty field asks for nothing.".to_string())}
            {part(form)}
        </Dialog>
    }
}

const TYPE: &str = "Type";
const TENANT: &str = "Tenant";

/// The plan of the letters that are listed: made here, and what it has once it is.
#[component]
pub(super) fn PlanThese(
    here: Here,
    planning: Planning,
    filter: LetterFilter,
    state: Option<LetterStateKind>,
) -> impl IntoView {
    let of = filter.clone();
    let planned = here.part(move |detail| {
        let plan = detail.plan.as_ref().filter(|plan| plan.plan.filter == of)?;
        Some(plan.plan.letters.letters)
    });
    let verb = move || match (planned.get().is_some(), state.is_some()) {
        (true, _) => "Plan again",
        (false, true) => "Plan a replay of these letters",
        (false, false) => "Plan a replay of those that wait",
    };
    let told = move || {
        let letters = counted(planned.get()?.max(0).unsigned_abs(), "letter", "letters");
        Some(words("muted", format!("The plan takes {letters} of this filter.")))
    };
    view! {
        {part(told)}
        <Button press=move |()| planning.take(filter.clone()) busy=planning.busy() why_not=planning.why_not() key="r">
            {part(verb)}
        </Button>
    }
}
