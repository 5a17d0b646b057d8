//! The letters of the group.

use super::here::Here;
use super::release::ReleaseCard;
use crate::api;
use crate::component::{At, Empty, Loss, Tab, Tabs, Unless};
use crate::model::money::{amount, count_of};
use crate::model::words;
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use crate::route::{GroupPlace, GroupTab, Route};
use domain::letter::{LetterState, LetterStateKind};
use domain::wire::{LetterRow, LettersPage};

/// The letters, in the order of their ids, page by page.
#[component]
pub(super) fn LettersTab(here: Here, place: Memo<Option<GroupPlace>>) -> impl IntoView {
    let state = place.map(move |place| place.as_ref().and_then(|place| place.state));
    let at = move |state: Option<LetterStateKind>| {
        Route::Group(GroupPlace { tab: GroupTab::Letters, state, ..GroupPlace::new(here.id()) }).to_string()
    };
    let tab = |of: Option<LetterStateKind>| {
        let n = here.part(move |detail| match of {
            Some(kind) => detail.counts.of(kind).letters,
            None => detail.counts.by_state.values().map(|tally| tally.letters).sum(),
        });
        Tab {
            href: Signal::stored(at(of)),
            label: of.map_or("All", words::letter_state),
            count: Signal::derive(move || Some(count_of(n.get()))),
            here: Signal::derive(move || state.get() == of),
        }
    };
    let tabs: Vec<Tab> = [None].into_iter().chain(LetterStateKind::ALL.map(Some)).map(tab).collect();
    view! {
        <Tabs label="Letters by state" tabs />
        {part(move || (state.get() == Some(LetterStateKind::Quarantined)).then(|| view! { <ReleaseCard here /> }.into_any()))}
        {part(move || view! { <Letters here state=state.get() /> })}
    }
}

#[component]
fn Letters(here: Here, state: Option<LetterStateKind>) -> impl IntoView {
    let id = here.id();
    let busy = here.part(|detail| detail.row.state.replay().is_some());
    let live = Live::new(
        move |seen| api::letters(id.clone(), state, None, seen),
        move |_: &LettersPage| {
            if busy.try_get_untracked() == Some(true) { Pace::Busy } else { Pace::Calm }
        },
    );
    let paged =
        Paged::new(live, |page: &LettersPage| (page.letters.clone(), page.next.clone()), |row| row.id.to_string());
    let rows = paged.rows();
    let keys = rows.map(move |rows| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    let none = match state {
        None => "This group has no letters.",
        Some(LetterStateKind::Waiting) => "No letter of this group waits.",
        Some(LetterStateKind::InReplay) => "No letter of this group is in a replay.",
        Some(LetterStateKind::Quarantined) => "No letter of this group is in quarantine.",
        Some(LetterStateKind::Delivered) => "No letter of this group was delivered yet.",
    };
    view! {
        <Unless live rows=8>
            <Show when=move || keys.with(|keys| !keys.is_empty()) fallback=move || view! { <Empty title=none /> }>
                <div class="scroll" role="region" aria-label="Table of letters" tabindex="0">
                    <table class="rows">
                        <thead><tr>
                            <th scope="col">"Letter"</th>
                            <th scope="col" class="wide">"Type"</th>
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
                                children=move |row| line(here, row) />
                        </tbody>
                    </table>
                </div>
                <More paged what="letters" ask=move |cursor| {
                    let id = here.id();
                    async move {
                        api::letters(id, state, Some(cursor), api::Seen::default()).await.map(|answer| answer.into_new())
                    }
                } />
            </Show>
        </Unless>
    }
}

fn line(here: Here, row: LetterRow) -> impl IntoView {
    let href = super::payload::place_of(&here.id(), &row.id);
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
            <td class="wide">{row.message_type.clone().unwrap_or_else(|| "—".into())}</td>
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
