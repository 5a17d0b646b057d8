//! Returned letters, grouped by failure and cause.

use crate::api;
use crate::component::{At, Loaded};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::money::{amount, count};
use dashboard_model::pause::{Returns, cause, named, returns};
use domain::replay::{Outcome, OutcomeKind, ReturnCause};
use wire::{EntriesAnswer, EntryRow, ReplayAnswer};

type List = Paged<EntriesAnswer, EntryRow>;

/// Returns the list of returned letters, which is fetched again when their number changes.
fn list(view: Signal<ReplayAnswer>) -> (Live<EntriesAnswer>, List) {
    let id = view.with_untracked(|view| view.replay.id().clone());
    let returned = view.map(move |view| view.total.returned);
    let live = Live::new(
        move |seen| api::entries(id.clone(), Some(OutcomeKind::Returned), None, None, seen),
        |_: &EntriesAnswer| Pace::Calm,
    );
    Effect::new(move |before: Option<u64>| {
        let now = returned.get();
        if before.is_some_and(|before| before != now) {
            live.refresh();
        }
        now
    });
    let split = |page: &EntriesAnswer| (page.entries.clone(), page.next.clone());
    (live, Paged::new(live, split, |row: &EntryRow| row.entry.letter.to_string()))
}

/// Shows the returned letters in full.
#[component]
pub(super) fn ReturnedPart(view: Signal<ReplayAnswer>) -> impl IntoView {
    let any = view.map(move |view| view.total.returned > 0);
    view! {
        <Show when=move || any.get()>
            <section class="part"><h2>"Returned"</h2><Returned view /></section>
        </Show>
    }
}

#[component]
fn Returned(view: Signal<ReplayAnswer>) -> impl IntoView {
    let (live, paged) = list(view);
    let groups = Memo::new(move |_| paged.rows().with(|rows| view.with(|view| named(returns(rows), view))));
    let id = view.with_untracked(|view| view.replay.id().clone());
    let id = StoredValue::new(id);
    view! {
        <Loaded live what="list" rows=3>
            <ul class="returns">
                {part(move || groups.get().into_iter().map(card).collect_view())}
            </ul>
            <More paged what="returned letters" load=move |cursor| {
                let id = id.get_value();
                async move {
                    let seen = api::Seen::default();
                    let page = api::entries(id, Some(OutcomeKind::Returned), None, Some(cursor), seen).await;
                    page.map(|answer| answer.into_new())
                }
            } />
        </Loaded>
    }
}

fn card(returns: Returns) -> impl IntoView {
    let (name, meaning) = cause(returns.cause);
    let n = returns.rows.len() as u64;
    let group = returns.group.clone();
    let rows = returns.rows.iter().take(5).map(|row| {
        let letter = row.entry.letter.clone();
        let short: String = letter.as_str().chars().take(8).collect();
        let at = match row.entry.outcome {
            Outcome::Returned { at, .. } => Some(view! { <At at=Signal::stored(at) /> }),
            _ => None,
        };
        let money = row.impact.as_ref().and_then(|i| i.money.as_ref()).map(|money| amount(money).text());
        let href = format!("/groups/{group}?tab=payload&letter={letter}");
        view! { <li><a class="mono" href=href>{short}</a><span>{money}</span><span class="muted">{at}</span></li> }
            .into_any()
    });
    let more = (n > 5).then(|| view! { <li class="muted">{format!("and {} more", count(n - 5))}</li> }.into_any());
    view! {
        <li class="return-card" class:return-refutes=returns.cause == ReturnCause::SameCause>
            <p><b>{name}</b>{format!(" · {}", letters(n))}</p>
            <p><a href=format!("/groups/{}", returns.group)>{returns.title.clone()}</a></p>
            <p class="muted">{meaning}</p>
            <ul class="return-rows">{rows.collect_view()}{more}</ul>
        </li>
    }
}

/// Shows the returned letters by cause in short form.
#[component]
pub(super) fn Causes(view: Signal<ReplayAnswer>) -> impl IntoView {
    let any = view.map(move |view| view.total.returned > 0);
    view! { <Show when=move || any.get()><CauseList view /></Show> }
}

#[component]
fn CauseList(view: Signal<ReplayAnswer>) -> impl IntoView {
    let (_, paged) = list(view);
    let groups = Memo::new(move |_| paged.rows().with(|rows| view.with(|view| named(returns(rows), view))));
    let more = paged.next();
    part(move || {
        let rows = groups.get().into_iter().map(|returns| {
            let (name, meaning) = cause(returns.cause);
            let least = if more.with(Option::is_some) { "at least " } else { "" };
            view! {
                <li>
                    <b>{name}</b>{format!(": {least}{}, ", letters(returns.rows.len() as u64))}
                    <a href=format!("/groups/{}", returns.group)>{returns.title.clone()}</a>
                    <span class="muted">" "{meaning}</span>
                </li>
            }
            .into_any()
        });
        view! { <ul class="causes">{rows.collect_view()}</ul> }.into_any()
    })
}
