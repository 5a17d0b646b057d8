//! The letters behind a number of the ledger. The URL contains which number.

use crate::api;
use crate::component::{At, Empty, Loaded};
use crate::nav::nav;
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::money::amount;
use dashboard_model::pause::cause;
use dashboard_model::route::{ReplayRoute, Route};
use dashboard_model::words;
use domain::id::GroupId;
use domain::replay::{Outcome, OutcomeKind};
use leptos::html;
use wire::{EntriesAnswer, EntryRow, ReplayAnswer};

/// Shows the letters that the URL selects, or nothing.
#[component]
pub(super) fn EntriesInUrl(view: Signal<ReplayAnswer>) -> impl IntoView {
    let nav = nav();
    let selected = Memo::new(move |_| match nav.route() {
        Route::Replay(route) if route.outcome.is_some() || route.wave.is_some() => Some(route),
        _ => None,
    });
    part(move || selected.get().map(|route| view! { <Entries view route /> }.into_any()))
}

fn title(outcome: Option<OutcomeKind>, wave: Option<u32>) -> String {
    let what = outcome.map_or("All letters", words::outcome);
    match wave {
        Some(wave) => format!("{what}, wave {}", wave + 1),
        None => what.to_string(),
    }
}

#[component]
fn Entries(view: Signal<ReplayAnswer>, route: ReplayRoute) -> impl IntoView {
    let (outcome, wave) = (route.outcome, route.wave);
    let id = StoredValue::new(route.id.clone());
    let live =
        Live::new(move |seen| api::entries(id.get_value(), outcome, wave, None, seen), |_: &EntriesAnswer| Pace::Calm);
    // A new number means a new list.
    let total = view.map(move |view| view.total.clone());
    Effect::new(move |before: Option<()>| {
        // An effect runs again only for signals that it reads.
        total.with(|_| ());
        if before.is_some() {
            live.refresh();
        }
    });
    let split = |page: &EntriesAnswer| (page.entries.clone(), page.next.clone());
    let paged = Paged::new(live, split, |row: &EntryRow| row.entry.letter.to_string());
    let rows = paged.rows();
    let group = view.with_untracked(|view| view.replay.group().clone());
    let group = StoredValue::new(group);
    let heading: NodeRef<html::H2> = NodeRef::new();
    Effect::new(move || {
        // A click on a number of the ledger leads here.
        if let Some(heading) = heading.get() {
            let _ = heading.focus();
        }
    });
    view! {
        <section class="part" id="letters">
            <div class="side-line">
                <h2 tabindex="-1" node_ref=heading>{title(outcome, wave)}</h2>
                <a href=Route::replay(&route.id).to_string()>"Close"</a>
            </div>
            <Loaded live what="list" rows=4>
                <Show when=move || rows.with(|rows| !rows.is_empty())
                    fallback=|| view! { <Empty title="No letters here now."><p>"Letters move on while the replay runs. The ledger above says where they are."</p></Empty> }>
                    <div class="scroll" role="region" aria-label="Letters of the replay" tabindex="0">
                        <table class="rows">
                            <thead><tr>
                                <th scope="col">"Letter"</th>
                                <th scope="col" class="num">"Wave"</th>
                                <th scope="col" class="wide">"Type"</th>
                                <th scope="col" class="num">"Money"</th>
                                <th scope="col" class="grow">"Outcome"</th>
                            </tr></thead>
                            <tbody>
                                <For each=move || rows.get()
                                    key=|row| (row.entry.letter.clone(), row.entry.outcome.clone().kind(), row.entry.sends)
                                    children=move |row| line(group.get_value(), row) />
                            </tbody>
                        </table>
                    </div>
                    <More paged what="letters" load=move |cursor| async move {
                        let page = api::entries(id.get_value(), outcome, wave, Some(cursor), api::Seen::default()).await;
                        page.map(|answer| answer.into_new())
                    } />
                </Show>
            </Loaded>
        </section>
    }
}

fn line(plan_group: GroupId, row: EntryRow) -> impl IntoView {
    let entry = row.entry;
    let group = match &entry.outcome {
        Outcome::Returned { group, .. } => group.clone(),
        _ => plan_group,
    };
    let short: String = entry.letter.as_str().chars().take(8).collect();
    let href = format!("/groups/{group}?tab=payload&letter={}", entry.letter);
    let money = row.impact.as_ref().and_then(|i| i.money.as_ref()).map_or("—".to_string(), |m| amount(m).text());
    let twice = (entry.sends > 1).then(|| view! {
        <span class="cell-more">{format!("sent {} times: a response of SQS was lost, so the consumer may have received it twice", entry.sends)}</span>
    }.into_any());
    let changed = entry.changed_by.as_ref().filter(|_| entry.sends > 0).map(|by| {
        view! {
            <span class="cell-more">{format!("changed by transform v{} before sending", by.version)}</span>
        }
        .into_any()
    });
    let when = match &entry.outcome {
        Outcome::InFlight { sent_at: at, .. } | Outcome::Sending { since: at } => Some(*at),
        Outcome::Delivered { at, .. } | Outcome::Returned { at, .. } | Outcome::Expired { at } => Some(*at),
        Outcome::Pending | Outcome::Skipped { .. } => None,
    };
    let more = match &entry.outcome {
        Outcome::Returned { cause: this, title, .. } => Some(format!("{}: {title}", cause(*this).0)),
        Outcome::Skipped { reason, detail: None } => Some(words::skip(*reason).to_string()),
        Outcome::Skipped { reason, detail: Some(why) } => Some(format!("{}. {why}", words::skip(*reason))),
        Outcome::Delivered { confirmed: Some(by), .. } => Some(format!("confirmed by {} {}", by.consumer, by.version)),
        Outcome::Delivered { confirmed: None, .. } => Some("no failure seen within its window".into()),
        _ => None,
    };
    view! {
        <tr>
            <th scope="row"><a class="mono" href=href>{short}</a></th>
            <td class="num">{entry.wave + 1}</td>
            <td class="wide">{row.message_type.unwrap_or_else(|| "—".into())}</td>
            <td class="num">{money}</td>
            <td>
                {words::outcome(entry.outcome.kind())}
                {when.map(|at| view! { <span class="muted">" "<At at=Signal::stored(at) /></span> }.into_any())}
                {more.map(|more| view! { <span class="cell-more">{more}</span> }.into_any())}
                {changed}
                {twice}
            </td>
        </tr>
    }
}
