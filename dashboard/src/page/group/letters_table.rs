//! The table of a group's letters, and the line above it: what is selected, and what can be done with it.

use super::chosen::{Choice, Chosen, Tick, TickAll};
use super::current::CurrentGroup;
use super::discard::{DiscardButton, too_many};
use super::payload::letter_href;
use super::plan::Planning;
use crate::api;
use crate::component::{At, Button, Kind, Loss, span};
use crate::nav::nav;
use crate::page::download::Download;
use crate::reactive::prelude::*;
use dashboard_model::discard::why;
use dashboard_model::letter_order::{LetterColumn, LetterOrder};
use dashboard_model::letters::sent_before;
use dashboard_model::money::{amount, counted};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::words;
use domain::filter::LetterFilter;
use domain::letter::{LetterState, LetterStateKind};
use domain::role::Permission;
use wire::LetterRow;

/// The columns after the ticks: CSS class, and what its heading says and sorts by. The times of sending and of failing
/// mostly say the same, so they share a column.
const COLUMNS: [(&str, &[Heading]); 9] = [
    ("", &[("Letter", None)]),
    ("wide", &[("Type, tenant", None)]),
    ("wide", &[("Customer", None)]),
    ("num", &[("Money", Some(LetterColumn::Money))]),
    ("", &[("Failed", Some(LetterColumn::Failed)), ("Sent", Some(LetterColumn::Sent))]),
    ("wide", &[("Expires in", Some(LetterColumn::Loss))]),
    ("num wide", &[("Failures", Some(LetterColumn::Failures))]),
    ("num wide", &[("Replays", Some(LetterColumn::Replays))]),
    ("", &[("State", None)]),
];

/// A label, and the order of those that are sorted by it.
type Heading = (&'static str, Option<LetterColumn>);

/// Changes the order of the list in the URL.
fn sort_by(order: LetterOrder) {
    let nav = nav();
    if let Route::Group(route) = nav.route_untracked() {
        nav.replace(Route::Group(GroupRoute { order, ..route }));
    }
}

/// Shows the headings, which sort the letters.
#[component]
pub(super) fn Headings(chosen: Chosen, #[prop(into)] order: Signal<LetterOrder>) -> impl IntoView {
    let sort = move |&(label, column): &Heading| {
        let Some(column) = column else { return label.into_any() };
        let arrow = move || match order.get().aria(column) {
            "ascending" => "↑",
            "descending" => "↓",
            _ => "",
        };
        view! {
            <button type="button" class="sort" on:click=on(move |_| sort_by(order.get_untracked().clicked(column)))>
                {label}<span class="sort-arrow" aria-hidden="true">{part(arrow)}</span>
            </button>
        }
        .into_any()
    };
    let heading = move |(class, headings): (&'static str, &'static [Heading])| {
        let aria = move || {
            let order = order.get();
            let sorted = headings.iter().filter_map(|(_, column)| *column).map(|column| order.aria(column));
            // Of two in one column at most one sorts.
            sorted.max_by_key(|aria| *aria != "none")
        };
        view! { <th scope="col" class=class aria-sort=attr(aria)>{headings.iter().map(sort).collect_view()}</th> }
            .into_any()
    };
    view! {
        <thead><tr>
            <th scope="col" class="tick"><TickAll chosen /></th>
            {COLUMNS.map(heading).into_iter().collect_view()}
        </tr></thead>
    }
}

/// Shows the choice of the order where the table has no room for all headings.
#[component]
pub(super) fn Sorter(#[prop(into)] order: Signal<LetterOrder>) -> impl IntoView {
    let headings = COLUMNS.into_iter().flat_map(|(_, headings)| headings);
    let sorted = headings.filter_map(|(label, column)| Some((*label, (*column)?)));
    let options = sorted.map(|(label, column)| {
        let is_chosen = move || order.get().column == column;
        view! { <option value=column.as_str() selected=attr(is_chosen)>{label}</option> }.into_any()
    });
    view! {
        <label class="letters-sorter">
            <span>"Sort by"</span>
            <select class="input" on:change:target=move |event| sort_by(LetterOrder::parse(&event.target().value()).unwrap_or_default())>
                {options.collect_view()}
            </select>
        </label>
    }
}

/// Shows what can be done with the whole list, whatever is selected.
#[component]
pub(super) fn OfTheList(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    /// Incremented after each change of letters.
    changes: RwSignal<u32>,
) -> impl IntoView {
    let file = api::letters_file(&current.id(), state, filter.clone());
    let name = format!("letters-{}", current.id());
    let shared = GroupRoute { tab: GroupTab::Payload, filter: filter.clone(), ..GroupRoute::new(current.id()) };
    let nothing = Chosen::new(Memo::new(|_| Vec::new()));
    // Who may not is told so beside the letters that they have selected.
    let may_not = current.why_not(Permission::Approve, |_| None);
    let is_shown = may_not.map(Option::is_none);
    view! {
        <div class="of-list">
            <a class="button button-quiet" href=Route::Group(shared).to_string()>"What they share"</a>
            <Download path=file name=name />
        </div>
        <div class="discard-all"><DiscardButton current state filter chosen=nothing changes is_shown /></div>
    }
}

/// Shows how many letters are selected, and what can be done with them.
#[component]
pub(super) fn Acts(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    chosen: Chosen,
    planning: Planning,
    /// Whether the list has more letters than are loaded.
    #[prop(into)]
    has_more: Signal<bool>,
    changes: RwSignal<u32>,
) -> impl IntoView {
    let count = Memo::new(move |_| chosen.named().len());
    let is_filtered = !filter.is_none();
    let words = move || match (chosen.is_all(), count.get(), is_filtered) {
        (true, _, true) => Some("All matching letters selected".to_string()),
        (true, _, false) => Some("All letters selected".to_string()),
        (false, 0, _) => None,
        (false, n, _) => Some(format!("{} selected", counted(n as u64, "letter", "letters"))),
    };
    let has_choice = Memo::new(move |_| chosen.is_all() || count.get() > 0);
    // Discards and plans of a filter are about letters in all open states.
    let offers_all = move || {
        let is_of_state = matches!(state, Some(LetterStateKind::InReplay | LetterStateKind::Delivered));
        has_more.get() && !is_of_state && !chosen.is_all() && chosen.is_whole_list()
    };
    let can_plan = matches!(state, None | Some(LetterStateKind::Waiting));
    let filter = StoredValue::new(filter);
    let plan = move |()| {
        let letters = untrack(|| chosen.named());
        let filter = if letters.is_empty() { filter.get_value() } else { LetterFilter::default() };
        planning.plan(Choice { letters, filter });
    };
    let why_not = Signal::derive(move || planning.why_not().get().or_else(|| too_many(count.get())));
    let verb = move || match count.get() {
        0 => "Plan replay of all waiting letters".to_string(),
        n => format!("Plan replay of {}", counted(n as u64, "letter", "letters")),
    };
    view! {
        <div class="found acts" class:acts-chosen=move || has_choice.get()>
            <p class="found-count" role="status">{part(words)}</p>
            <Show when=offers_all>
                <Button kind=Kind::Quiet press=move |()| chosen.choose_all()>
                    {if is_filtered { "Select all that match" } else { "Select all letters of the group" }}
                </Button>
            </Show>
            <Show when=move || has_choice.get()>
                <Button kind=Kind::Quiet press=move |()| chosen.clear()>"Clear selection"</Button>
                <Show when=move || can_plan>
                    <Button press=plan busy=planning.busy() why_not>{part(verb)}</Button>
                </Show>
            </Show>
            <DiscardButton current state filter=filter.get_value() chosen changes is_shown=has_choice />
        </div>
    }
}

/// Shows a letter's row, with its index in the table.
pub(super) fn line(
    current: CurrentGroup,
    row: LetterRow,
    filter: LetterFilter,
    chosen: Chosen,
    index: Memo<usize>,
) -> impl IntoView {
    let href = letter_href(&current.id(), &row.id, filter);
    let short: String = row.id.as_str().chars().take(8).collect();
    let money = row.impact.money.as_ref().map_or("—".to_string(), |money| amount(money).text());
    let not_replayable = row
        .replayability
        .reason()
        .map(|reason| view! { <span class="cell-more">{format!("{}: {reason}", words::not_replayable(&row.replayability))}</span> });
    let state = match &row.state {
        LetterState::InReplay { replay } | LetterState::Delivered { replay, .. } => {
            let word = words::letter_state(row.state.kind());
            view! { <a href=format!("/replays/{replay}")>{word}</a> }.into_any()
        }
        LetterState::Quarantined { .. } => {
            view! { <b class="tone-warn">{words::letter_state(row.state.kind())}</b> }.into_any()
        }
        LetterState::Discarded { discard } => view! {
            <b>{words::letter_state(row.state.kind())}</b>
            <span class="cell-more">{why(discard)}</span>
        }
        .into_any(),
        LetterState::Waiting => words::letter_state(row.state.kind()).into_any(),
    };
    let loss = (row.state.kind().is_open()).then_some(row.loss_at).flatten();
    let id = row.id.clone();
    view! {
        <tr class:row-chosen=move || chosen.is_ticked(&id) aria-rowindex=attr(move || index.get().to_string())>
            <td class="tick"><Tick chosen id=row.id.clone() short=short.clone() /></td>
            <th scope="row"><a class="mono" href=href>{short}</a></th>
            <td class="wide">
                {row.message_type.clone().unwrap_or_else(|| "—".into())}
                <span class="cell-more">{row.tenant.clone()}</span>
            </td>
            <td class="wide mono">{row.impact.customer.clone().unwrap_or_else(|| "—".into())}</td>
            <td class="num">{money}</td>
            <td>
                {row.died_after.map(|_| "before ")}<At at=Signal::stored(row.died_at) absolute={row.died_after.is_some()} />
                {sent_before(row.sent_at, row.died_at).map(|words| span("cell-more wide", words))}
            </td>
            <td class="wide"><Loss at=Signal::stored(loss) /></td>
            <td class="num wide">{row.deaths}</td>
            <td class="num wide">{row.replays}</td>
            <td>{state}{not_replayable}</td>
        </tr>
    }
}
