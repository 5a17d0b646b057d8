//! The letters of the group.

use super::filter::{FilterLine, PlanThese};
use super::here::Here;
use super::plan::Planning;
use super::release::ReleaseCard;
use super::side::{Asks, Press};
use crate::api;
use crate::component::{At, Empty, Loss, Tab, Tabs, Unless};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::letters::{Seen, matching};
use dashboard_model::money::{amount, count_signed, counted};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::words;
use domain::filter::LetterFilter;
use domain::letter::{LetterState, LetterStateKind};
use wire::{GroupDetail, LetterRow, LettersPage};

/// The letters that fit, oldest send first, page by page, and the plan that takes just these.
#[component]
pub(super) fn LettersTab(
    here: Here,
    place: Memo<Option<GroupRoute>>,
    filter: Memo<LetterFilter>,
    planning: Planning,
    asks: Asks,
) -> impl IntoView {
    let state = place.map(move |place| place.as_ref().and_then(|place| place.state));
    let at = move |state: Option<LetterStateKind>| {
        let filter = filter.get();
        Route::Group(GroupRoute { tab: GroupTab::Letters, state, filter, ..GroupRoute::new(here.id()) }).to_string()
    };
    let tab = |of: Option<LetterStateKind>| {
        let n = here.part(move |detail| letters_in(detail, of));
        Tab {
            href: Signal::derive(move || at(of)),
            label: of.map_or("All", words::letter_state),
            count: Signal::derive(move || Some(count_signed(n.get()))),
            here: Signal::derive(move || state.get() == of),
        }
    };
    let tabs: Vec<Tab> = [None].into_iter().chain(LetterStateKind::ALL.map(Some)).map(tab).collect();
    // Rows that were seen under any filter: what is offered in the form.
    let seen = RwSignal::new(Seen::default());
    view! {
        <Tabs label="Letters by state" tabs />
        <FilterLine filter seen />
        {part(move || (state.get() == Some(LetterStateKind::Quarantined)).then(|| view! { <ReleaseCard here /> }.into_any()))}
        {part(move || view! { <Letters here state=state.get() filter=filter.get() seen planning asks /> })}
    }
}

#[component]
fn Letters(
    here: Here,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    seen: RwSignal<Seen>,
    planning: Planning,
    asks: Asks,
) -> impl IntoView {
    let (id, asking) = (here.id(), filter.clone());
    let is_filtered = !filter.is_none();
    let filter = StoredValue::new(filter);
    let busy = here.part(|detail| detail.row.state.replay().is_some());
    let live = Live::new(
        move |seen| api::letters(id.clone(), state, asking.clone(), None, seen),
        move |_: &LettersPage| {
            if busy.try_get_untracked() == Some(true) { Pace::Busy } else { Pace::Calm }
        },
    );
    let paged =
        Paged::new(live, |page: &LettersPage| (page.letters.clone(), page.next.clone()), |row| row.id.to_string());
    let rows = paged.rows();
    let keys = rows.map(move |rows| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    let more = paged.next().map(Option::is_some);
    Effect::new(move || rows.with(|rows| seen.update(|seen| seen.see(rows))));
    let all = here.part(move |detail| letters_in(detail, state));
    let none = Signal::derive(move || match (is_filtered, state) {
        (true, _) if more.get() => "None of the first letters fits the filter.".to_string(),
        (true, _) => {
            format!("None of {} here fits the filter.", counted(all.get().max(0).unsigned_abs(), "letter", "letters"))
        }
        (_, None | Some(LetterStateKind::Delivered)) if all.get() > 0 => {
            "What was delivered long ago is no longer kept.".to_string()
        }
        (_, None) => "This group has no letters.".to_string(),
        (_, Some(LetterStateKind::Waiting)) => "No letter of this group waits.".to_string(),
        (_, Some(LetterStateKind::InReplay)) => "No letter of this group is in a replay.".to_string(),
        (_, Some(LetterStateKind::Quarantined)) => "No letter of this group is in quarantine.".to_string(),
        (_, Some(LetterStateKind::Delivered)) => "No letter of this group was delivered yet.".to_string(),
    });
    let way_out = move || {
        is_filtered.then(|| view! { <p class="muted">"Remove a piece of it above, or clear it."</p> }.into_any())
    };
    view! {
        <Unless live rows=8>
            <Show when=move || keys.with(|keys| !keys.is_empty())
                fallback=move || view! { <Empty title=none>{way_out()}</Empty> }>
                {is_filtered.then(|| view! { <Found here state filter paged planning asks /> }.into_any())}
                <div class="scroll" role="region" aria-label="Table of letters" tabindex="0">
                    <table class="rows">
                        <thead><tr>
                            <th scope="col">"Letter"</th>
                            <th scope="col" class="wide">"Type, tenant"</th>
                            <th scope="col" class="wide">"Customer"</th>
                            <th scope="col" class="num">"Money"</th>
                            <th scope="col" class="wide">"Sent"</th>
                            <th scope="col">"Died"</th>
                            <th scope="col" class="wide">"To loss"</th>
                            <th scope="col" class="num wide">"Deaths"</th>
                            <th scope="col" class="num wide">"Replays"</th>
                            <th scope="col">"State"</th>
                        </tr></thead>
                        <tbody>
                            <For each=move || rows.get() key=|row| (row.id.clone(), row.deaths, row.replays, row.state.kind())
                                children=move |row| line(here, row, filter.get_value()) />
                        </tbody>
                    </table>
                </div>
            </Show>
            <More paged what="letters" ask=move |cursor| {
                let id = here.id();
                let page = api::letters(id, state, filter.get_value(), Some(cursor), api::Seen::default());
                async move { page.await.map(|answer| answer.into_new()) }
            } />
        </Unless>
    }
}

/// How many letters fit, and the replay of just these.
#[component]
fn Found(
    here: Here,
    state: Option<LetterStateKind>,
    filter: StoredValue<LetterFilter>,
    paged: Paged<LettersPage, LetterRow>,
    planning: Planning,
    asks: Asks,
) -> impl IntoView {
    let (rows, next) = (paged.rows(), paged.next());
    let all = here.part(move |detail| letters_in(detail, state));
    let told = move || {
        let shown = rows.with(|rows| rows.len());
        matching(shown, all.get(), next.with(Option::is_some))
    };
    let may_go = matches!(state, None | Some(LetterStateKind::Waiting));
    if may_go {
        // What is seen is what the key plans.
        asks.on(Press::Plan, move || planning.take(filter.get_value()));
    }
    view! {
        <div class="found">
            <p class="found-count" role="status">{part(told)}</p>
            {may_go.then(|| view! { <PlanThese here planning filter=filter.get_value() state /> }.into_any())}
        </div>
    }
}

fn letters_in(detail: &GroupDetail, state: Option<LetterStateKind>) -> i64 {
    match state {
        Some(kind) => detail.counts.of(kind).letters,
        None => detail.counts.by_state.values().map(|tally| tally.letters).sum(),
    }
}

fn line(here: Here, row: LetterRow, filter: LetterFilter) -> impl IntoView {
    let href = super::payload::place_of(&here.id(), &row.id, filter);
    let short: String = row.id.as_str().chars().take(8).collect();
    let money = row.impact.money.as_ref().map_or("—".to_string(), |money| amount(money).text());
    let left_out = row
        .replayability
        .reason()
        .map(|reason| view! { <span class="cell-more">{format!("{}: {reason}", words::unsendable(&row.replayability))}</span> });
    let state = match &row.state {
        LetterState::InReplay { replay } | LetterState::Delivered { replay, .. } => {
            let word = words::letter_state(row.state.kind());
            view! { <a href=format!("/replays/{replay}")>{word}</a> }.into_any()
        }
        LetterState::Quarantined { .. } => {
            view! { <b class="tone-warn">{words::letter_state(row.state.kind())}</b> }.into_any()
        }
        LetterState::Waiting => words::letter_state(row.state.kind()).into_any(),
    };
    let loss = (row.state.kind().is_open()).then_some(row.loss_at);
    view! {
        <tr>
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
            <td>{state}{left_out}</td>
        </tr>
    }
}
