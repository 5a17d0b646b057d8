//! The list of the group's letters.

use super::actions::{Action, Actions};
use super::chosen::{Choice, Chosen};
use super::current::CurrentGroup;
use super::filter::FilterLine;
use super::letters_rows::Rows;
use super::letters_table::{Acts, OfTheList, Sorter};
use super::plan::{PlanThese, Planning};
use super::release::ReleaseCard;
use crate::api;
use crate::command::Command;
use crate::component::{Button, Empty, Loaded, Problem, Tab, Tabs};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::letter_order::{LetterOrder, SORTED_MAX, partly_sorted};
use dashboard_model::letters::{Suggestions, matching};
use dashboard_model::money::{count_signed, counted};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::words;
use domain::filter::LetterFilter;
use domain::letter::LetterStateKind;
use wire::{GroupAnswer, LetterRow, LettersAnswer};

/// The number of sorted letters that are shown at first, and by each click.
const SHOWN_STEP: usize = 200;

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
    let order = route.map(move |route| route.as_ref().map(|route| route.order).unwrap_or_default());
    // Collected from rows under any filter, and suggested in the form.
    let suggestions = RwSignal::new(Suggestions::default());
    // Counts the changes that this page has made to letters.
    let changes = RwSignal::new(0_u32);
    let quarantined = current.part(|detail| letters_in(detail, Some(LetterStateKind::Quarantined)));
    let offers_release = move || state.get() == Some(LetterStateKind::Quarantined) && quarantined.get() > 0;
    let tools_open = RwSignal::new(false);
    let is_listed = RwSignal::new(false);
    view! {
        <div class="letters-bar" class:letters-open=move || tools_open.get()>
            <Tabs label="Letters by state" tabs />
            <button type="button" class="button letters-more" aria-expanded=attr(move || tools_open.get().to_string())
                on:click=on(move |_| tools_open.update(|open| *open = !*open))>
                "Filter and sort"
            </button>
            <FilterLine filter suggestions />
            <Show when=move || is_listed.get()>
                <Sorter order />
                {part(move || view! { <OfTheList current state=state.get() filter=filter.get() changes /> })}
            </Show>
        </div>
        {part(move || offers_release().then(|| view! { <ReleaseCard current /> }.into_any()))}
        {part(move || {
            // Pages that were loaded on demand do not change by themselves.
            let _ = changes.get();
            view! {
                <Letters current state=state.get() filter=filter.get() order suggestions planning actions changes is_listed />
            }
        })}
    }
}

#[component]
fn Letters(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    order: Memo<LetterOrder>,
    suggestions: RwSignal<Suggestions>,
    planning: Planning,
    actions: Actions,
    changes: RwSignal<u32>,
    /// Set to whether any letter is listed.
    is_listed: RwSignal<bool>,
) -> impl IntoView {
    let (id, fetched_filter) = (current.id(), filter.clone());
    let is_filtered = !filter.is_none();
    let filter = StoredValue::new(filter);
    let is_replaying = current.part(|detail| detail.row.state.replay().is_some());
    let live = Live::new(
        move |seen| api::letters(id.clone(), state, fetched_filter.clone(), None, seen),
        move |_: &LettersAnswer| {
            if is_replaying.try_get_untracked() == Some(true) { Pace::Busy } else { Pace::Calm }
        },
    );
    let paged =
        Paged::new(live, |page: &LettersAnswer| (page.letters.clone(), page.next.clone()), |row| row.id.to_string());
    let rows = paged.rows();
    let more = paged.next().map(Option::is_some);
    let is_sorted = move || order.get() != LetterOrder::default();
    // Sorted letters are loaded before they are shown, so that the page shows no more of them than a reader looks at.
    let shown_max = RwSignal::new(SHOWN_STEP);
    let shown = Memo::new(move |_| {
        let max = if is_sorted() { shown_max.get() } else { usize::MAX };
        rows.with(|rows| order.get().first(rows, max))
    });
    let keys = shown.map(move |rows| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    let chosen = Chosen::new(keys);
    Effect::new(move || is_listed.set(keys.with(|keys| !keys.is_empty())));
    let load = move |cursor: String| {
        let page = api::letters(current.id(), state, filter.get_value(), Some(cursor), api::Seen::default());
        async move { page.await.map(|answer| answer.into_new()) }
    };
    let filling = Command::new();
    let wants_more = move || is_sorted() && rows.with(Vec::len) < SORTED_MAX;
    paged.fill(filling, wants_more, load);
    let loaded = rows.map(Vec::len);
    let is_partly_sorted = Memo::new(move |_| is_sorted() && more.get());
    let has_more = Signal::derive(move || more.get() || shown.with(Vec::len) < loaded.get());
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
        let words = match (is_filtered, state) {
            (true, _) => "Remove a condition above, or clear the filter.",
            (_, None) => "Its letters were deleted when their retention ended.",
            (_, Some(LetterStateKind::Waiting)) => {
                "Letters wait here until a replay sends them, or somebody discards them."
            }
            (_, Some(LetterStateKind::InReplay)) => "Letters are here while a replay sends and observes them.",
            (_, Some(LetterStateKind::Quarantined)) => {
                "Letters come here after returning from as many replays as the policy allows."
            }
            (_, Some(LetterStateKind::Delivered)) => {
                "Letters come here once their consumer confirms them, or once their observation window passes without a return."
            }
            (_, Some(LetterStateKind::Discarded)) => {
                "Letters that an approver discarded come here. They can be taken back until they are deleted."
            }
        };
        view! { <p>{words}</p> }.into_any()
    };
    view! {
        <Loaded live what="list" rows=8>
            <Show when=move || keys.with(|keys| !keys.is_empty())
                fallback=move || view! { <Empty title=nothing>{advice()}</Empty> }>
                <Acts current state filter=filter.get_value() chosen planning has_more changes />
                {is_filtered.then(|| view! { <Matches current state filter paged planning actions /> }.into_any())}
                <Show when=move || is_partly_sorted.get()>
                    <p class="muted" role="status">{part(move || partly_sorted(loaded.get(), filling.busy().get()))}</p>
                </Show>
                <Problem error=filling.error() />
                <div class="scroll" role="region" aria-label="Table of letters" tabindex="0">
                    <Rows current shown has_more order filter chosen />
                </div>
            </Show>
            <Show when=move || is_sorted() && shown.with(Vec::len) < loaded.get()>
                <div class="more">
                    <Button press=move |()| shown_max.update(|max| *max += SHOWN_STEP)>"Show more letters"</Button>
                </div>
            </Show>
            <Show when=move || !is_sorted()><More paged what="letters" load /></Show>
        </Loaded>
    }
}

/// Shows the number of matching letters, and plans a replay of them.
#[component]
fn Matches(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: StoredValue<LetterFilter>,
    paged: Paged<LettersAnswer, LetterRow>,
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
        actions.on(Action::Plan, move || planning.plan(Choice::from_filter(filter.get_value())));
    }
    view! {
        <div class="found">
            <p class="found-count" role="status">{part(summary)}</p>
            {can_plan.then(|| view! { <PlanThese current planning filter=filter.get_value() state /> }.into_any())}
        </div>
    }
}

fn letters_in(detail: &GroupAnswer, state: Option<LetterStateKind>) -> i64 {
    match state {
        Some(kind) => detail.counts.tally(kind).letters,
        None => detail.counts.by_state.values().map(|tally| tally.letters).sum(),
    }
}
