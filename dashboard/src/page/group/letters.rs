//! The list of the group's letters.

use super::actions::{Action, Actions};
use super::current::CurrentGroup;
use super::discard::{Chosen, DiscardBar, Tick, TickAll};
use super::filter::FilterLine;
use super::plan::{PlanThese, Planning};
use super::release::ReleaseCard;
use crate::api;
use crate::component::{At, Empty, Loaded, Loss, Tab, Tabs};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::discard::why;
use dashboard_model::letters::{Suggestions, matching};
use dashboard_model::money::{amount, count_signed, counted};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::words;
use domain::filter::LetterFilter;
use domain::letter::{LetterState, LetterStateKind};
use wire::{GroupDetail, LetterRow, LettersPage};

/// Shows the matching letters, oldest first by time of sending, and plans a replay of them.
#[component]
pub(super) fn LettersTab(
    current: CurrentGroup,
    route: Memo<Option<GroupRoute>>,
    filter: Memo<LetterFilter>,
    planning: Planning,
    actions: Actions,
) -> impl IntoView {
    let state = route.map(move |route| route.as_ref().and_then(|route| route.state));
    let href = move |state: Option<LetterStateKind>| {
        let filter = filter.get();
        Route::Group(GroupRoute { tab: GroupTab::Letters, state, filter, ..GroupRoute::new(current.id()) }).to_string()
    };
    let tab = |this: Option<LetterStateKind>| {
        let n = current.part(move |detail| letters_in(detail, this));
        Tab {
            href: Signal::derive(move || href(this)),
            label: this.map_or("All", words::letter_state),
            count: Signal::derive(move || Some(count_signed(n.get()))),
            is_open: Signal::derive(move || state.get() == this),
        }
    };
    let tabs: Vec<Tab> = [None].into_iter().chain(LetterStateKind::ALL.map(Some)).map(tab).collect();
    // Collected from rows under any filter, and suggested in the form.
    let suggestions = RwSignal::new(Suggestions::default());
    // Counts the changes that this page has made to letters.
    let changes = RwSignal::new(0_u32);
    view! {
        <Tabs label="Letters by state" tabs />
        <FilterLine filter suggestions />
        {part(move || (state.get() == Some(LetterStateKind::Quarantined)).then(|| view! { <ReleaseCard current /> }.into_any()))}
        {part(move || {
            // Pages that were loaded on demand do not change by themselves.
            let _ = changes.get();
            view! { <Letters current state=state.get() filter=filter.get() suggestions planning actions changes /> }
        })}
    }
}

#[component]
fn Letters(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    suggestions: RwSignal<Suggestions>,
    planning: Planning,
    actions: Actions,
    changes: RwSignal<u32>,
) -> impl IntoView {
    let (id, fetched_filter) = (current.id(), filter.clone());
    let is_filtered = !filter.is_none();
    let filter = StoredValue::new(filter);
    let is_replaying = current.part(|detail| detail.row.state.replay().is_some());
    let live = Live::new(
        move |seen| api::letters(id.clone(), state, fetched_filter.clone(), None, seen),
        move |_: &LettersPage| {
            if is_replaying.try_get_untracked() == Some(true) { Pace::Busy } else { Pace::Calm }
        },
    );
    let paged =
        Paged::new(live, |page: &LettersPage| (page.letters.clone(), page.next.clone()), |row| row.id.to_string());
    let rows = paged.rows();
    let keys = rows.map(move |rows| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    let chosen = Chosen::new();
    let more = paged.next().map(Option::is_some);
    Effect::new(move || rows.with(|rows| suggestions.update(|suggestions| suggestions.add(rows))));
    let all = current.part(move |detail| letters_in(detail, state));
    let nothing = Signal::derive(move || match (is_filtered, state) {
        (true, _) if more.get() => "No match among the letters loaded so far.".to_string(),
        (true, _) => {
            format!("No match among {}.", counted(all.get().max(0).unsigned_abs(), "letter", "letters"))
        }
        (_, None | Some(LetterStateKind::Delivered)) if all.get() > 0 => {
            "Letters delivered long ago are no longer stored.".to_string()
        }
        (_, Some(LetterStateKind::Discarded)) if all.get() > 0 => {
            "Letters discarded long ago are no longer stored.".to_string()
        }
        (_, None) => "This group has no letters.".to_string(),
        (_, Some(LetterStateKind::Waiting)) => "No waiting letters.".to_string(),
        (_, Some(LetterStateKind::InReplay)) => "No letters in a replay.".to_string(),
        (_, Some(LetterStateKind::Quarantined)) => "No quarantined letters.".to_string(),
        (_, Some(LetterStateKind::Delivered)) => "No delivered letters yet.".to_string(),
        (_, Some(LetterStateKind::Discarded)) => "No discarded letters.".to_string(),
    });
    let advice = move || {
        is_filtered.then(|| view! { <p class="muted">"Remove a condition above, or clear the filter."</p> }.into_any())
    };
    view! {
        <Loaded live rows=8>
            <Show when=move || keys.with(|keys| !keys.is_empty())
                fallback=move || view! { <Empty title=nothing>{advice()}</Empty> }>
                <DiscardBar current state filter=filter.get_value() chosen loaded=keys changes />
                {is_filtered.then(|| view! { <Matches current state filter paged planning actions /> }.into_any())}
                <div class="scroll" role="region" aria-label="Table of letters" tabindex="0">
                    <table class="rows">
                        <thead><tr>
                            <th scope="col" class="tick"><TickAll chosen loaded=keys /></th>
                            <th scope="col">"Letter"</th>
                            <th scope="col" class="wide">"Type, tenant"</th>
                            <th scope="col" class="wide">"Customer"</th>
                            <th scope="col" class="num">"Money"</th>
                            <th scope="col" class="wide">"Sent"</th>
                            <th scope="col">"Failed"</th>
                            <th scope="col" class="wide">"Expires in"</th>
                            <th scope="col" class="num wide">"Failures"</th>
                            <th scope="col" class="num wide">"Replays"</th>
                            <th scope="col">"State"</th>
                        </tr></thead>
                        <tbody>
                            <For each=move || rows.get() key=|row| (row.id.clone(), row.deaths, row.replays, row.state.kind())
                                children=move |row| line(current, row, filter.get_value(), chosen) />
                        </tbody>
                    </table>
                </div>
            </Show>
            <More paged what="letters" load=move |cursor| {
                let id = current.id();
                let page = api::letters(id, state, filter.get_value(), Some(cursor), api::Seen::default());
                async move { page.await.map(|answer| answer.into_new()) }
            } />
        </Loaded>
    }
}

/// Shows the number of matching letters, and plans a replay of them.
#[component]
fn Matches(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: StoredValue<LetterFilter>,
    paged: Paged<LettersPage, LetterRow>,
    planning: Planning,
    actions: Actions,
) -> impl IntoView {
    let (rows, next) = (paged.rows(), paged.next());
    let all = current.part(move |detail| letters_in(detail, state));
    let summary = move || {
        let shown = rows.with(|rows| rows.len());
        matching(shown, all.get(), next.with(Option::is_some))
    };
    let can_plan = matches!(state, None | Some(LetterStateKind::Waiting));
    if can_plan {
        // The key plans the letters that are listed.
        actions.on(Action::Plan, move || planning.plan(filter.get_value()));
    }
    view! {
        <div class="found">
            <p class="found-count" role="status">{part(summary)}</p>
            {can_plan.then(|| view! { <PlanThese current planning filter=filter.get_value() state /> }.into_any())}
        </div>
    }
}

fn letters_in(detail: &GroupDetail, state: Option<LetterStateKind>) -> i64 {
    match state {
        Some(kind) => detail.counts.of(kind).letters,
        None => detail.counts.by_state.values().map(|tally| tally.letters).sum(),
    }
}

fn line(current: CurrentGroup, row: LetterRow, filter: LetterFilter, chosen: Chosen) -> impl IntoView {
    let href = super::payload::letter_href(&current.id(), &row.id, filter);
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
    view! {
        <tr>
            <td class="tick"><Tick chosen id=row.id.clone() short=short.clone() /></td>
            <th scope="row"><a class="mono" href=href>{short}</a></th>
            <td class="wide">
                {row.message_type.clone().unwrap_or_else(|| "—".into())}
                <span class="cell-more">{row.tenant.clone()}</span>
            </td>
            <td class="wide mono">{row.impact.customer.clone().unwrap_or_else(|| "—".into())}</td>
            <td class="num">{money}</td>
            <td class="wide"><At at=Signal::stored(row.sent_at) /></td>
            <td><At at=Signal::stored(row.died_at) /></td>
            <td class="wide"><Loss at=Signal::stored(loss) /></td>
            <td class="num wide">{row.deaths}</td>
            <td class="num wide">{row.replays}</td>
            <td>{state}{not_replayable}</td>
        </tr>
    }
}
