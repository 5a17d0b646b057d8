//! One replay: its waves, ledger and controls.

mod about;
mod compact;
mod controls;
mod entries;
mod pause;
mod returned;

pub(super) use compact::Compact;
pub(super) use controls::Controls;

use crate::api;
use crate::clock;
use crate::component::{At, Bar, Frame, LedgerTable, Loaded, Pill, Stat, WaveRows, segments};
use crate::keys::{self, key};
use crate::page::download::Download;
use crate::poll::{Live, Pace, Pulse};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{self, announcement, pause_rule, progress, tab_title};
use dashboard_model::money::count;
use dashboard_model::rate::Rate;
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::{Phase, ReplayState};
use wire::{GroupAnswer, ReplayAnswer};

/// A replay's page.
#[component]
pub fn ReplayPage(id: ReplayId) -> impl IntoView {
    let fetched_id = id.clone();
    let live = Live::new(
        move |seen| api::replay(fetched_id.clone(), seen),
        |view: &ReplayAnswer| {
            if view.replay.is_finished() { Pace::Calm } else { Pace::Busy }
        },
    );
    let short = ledger::short(&id);
    let group = live.part(|view| (view.group_title.clone(), view.replay.group().clone()));
    let back = Signal::derive(move || group.get().map_or("Replays".to_string(), |(title, _)| title));
    let back_to = Signal::derive(move || group.get().map_or("/replays".to_string(), |(_, id)| format!("/groups/{id}")));
    let shown = live.part(tab_title);
    let title = format!("Replay {short}");
    let plain = title.clone();
    let tab_title = Signal::derive(move || shown.get().unwrap_or_else(|| plain.clone()));
    view! {
        {part(move || {
            // The parent group is known only with the answer.
            let back = (back_to.get(), back);
            let title = title.clone();
            view! {
                <Frame title tab_title back pulse=live.pulse()>
                    <Loaded live what="replay" rows=6>
                        {part(move || live.data().get_untracked().map(|first| view! { <Known live first /> }.into_any()))}
                    </Loaded>
                </Frame>
            }.into_any()
        })}
    }
}

/// Shows a loaded replay.
#[component]
fn Known(live: Live<ReplayAnswer>, first: ReplayAnswer) -> impl IntoView {
    let group_id = first.replay.group().clone();
    let finished = live.part(|view| view.replay.is_finished());
    let group = Live::new(
        move |seen| api::group(group_id.clone(), seen),
        move |detail: &GroupAnswer| {
            let finished = finished.try_get_untracked().flatten() == Some(true);
            if detail.row.state.replay().is_some() && !finished { Pace::Busy } else { Pace::Calm }
        },
    );
    let view = Memo::new(move |_| live.get().unwrap_or_else(|| first.clone()));
    let gate = Signal::from(group.part(|detail| detail.gate.clone()));
    let fix = group.part(|detail| detail.row.state.fix().cloned());
    let fix = Signal::derive(move || fix.get().flatten());
    let done = Callback::new(move |view| {
        live.put(view);
        group.hurry();
    });
    let controls = Controls::new(view.into(), gate, fix, live.pulse(), done);
    keys::bind(
        "This replay",
        vec![
            key("p", "Pause replay", move || controls.pause()),
            key("v", "Resume replay", move || controls.ask_resume()),
            key("S", "Abort replay", move || controls.ask_abort()),
        ],
    );
    let announced = view.map(announcement);
    let id = view.with_untracked(|view| view.replay.id().clone());
    let view = Signal::from(view);
    view! {
        <p class="sr-only" role="status">{announced}</p>
        <Head view controls pulse=live.pulse() />
        <pause::PauseNotice controls />
        <pause::Undelivered view />
        <div class="replay">
            <div class="replay-main">
                <section class="part" aria-label="Waves"><h2>"Waves"</h2><WaveRows view /></section>
                <section class="part">
                    <h2>"Ledger"</h2>
                    <LedgerTable view />
                    <Download path=format!("/replays/{id}/history") name=format!("replay-{id}") />
                </section>
                <entries::EntriesInUrl view />
                <returned::ReturnedPart view />
            </div>
            <aside class="replay-side" aria-label="Approval, plan and events" tabindex="0">
                <about::Approved view />
                <about::Planned view />
                <about::Events view />
            </aside>
        </div>
    }
}

#[component]
fn Head(view: Signal<ReplayAnswer>, controls: Controls, pulse: Pulse) -> impl IntoView {
    let total = view.map(move |view| view.total.clone());
    let look = view.map(words::replay);
    let bar = Signal::derive(move || {
        let done = if view.with(|view| view.replay.is_finished()) { "ok" } else { "info" };
        total.with(|total| segments(total, done))
    });
    let rule = view.map(pause_rule);
    let tone = Signal::derive(move || if total.with(|t| t.returned) > 0 { "danger" } else { "" });
    let to = view.with_untracked(|view| view.replay.plan.main_queue.name().to_string());
    let skipped = total.map(move |t| t.expired + t.skipped);
    view! {
        <div class="replay-head">
            <div class="figures">
                <Stat label="delivered">{part(move || count(total.with(|t| t.delivered)))}</Stat>
                <Stat label="returned" tone>{part(move || count(total.with(|t| t.returned)))}</Stat>
                <Stat label="in flight">{part(move || count(total.with(|t| t.in_flight + t.sending)))}</Stat>
                <Stat label="pending">{part(move || count(total.with(|t| t.pending)))}</Stat>
                <Show when=move || { skipped.get() > 0 }>
                    <Stat label="skipped or expired">{part(move || count(skipped.get()))}</Stat>
                </Show>
                <Speed view pulse />
            </div>
            <controls::Buttons controls />
        </div>
        <div class="whole">
            <Bar segments=bar total=Signal::derive(move || total.with(|t| t.selected())) large=true label="Whole replay"
                words=Signal::derive(move || total.with(progress)) />
            <p class="facts">
                <Pill tone=Signal::derive(move || look.get().0) shape=Signal::derive(move || look.get().1)
                    text=Signal::derive(move || look.get().2) />
                <span class="fact">{format!("to {to}")}</span>
                <Ended view />
                <Show when=move || view.with(|view| !view.replay.is_finished())>
                    <span class="fact">{part(move || rule.get())}</span>
                </Show>
            </p>
        </div>
    }
}

#[component]
fn Ended(view: Signal<ReplayAnswer>) -> impl IntoView {
    let ended = Memo::new(move |_| {
        view.with(|view| match view.replay.state {
            ReplayState::Finished { at, .. } => Some((at, at.since(view.replay.approval.at))),
            _ => None,
        })
    });
    let started = view.with_untracked(|view| view.replay.approval.at);
    part(move || {
        match ended.get() {
        Some((at, took)) => view! {
            <span class="fact">"ended "<At at=Signal::stored(at) />{format!(" after {}", dashboard_model::when::countdown(took))}</span>
        }
        .into_any(),
        None => view! { <span class="fact">"started "<At at=Signal::stored(started) /></span> }.into_any(),
    }
    })
}

/// Shows the measured rate of sending, and the plan's limit.
#[component]
fn Speed(view: Signal<ReplayAnswer>, pulse: Pulse) -> impl IntoView {
    let rate = RwSignal::new(Rate::default());
    Effect::new(move || {
        // Each answer is an observation, changed or not.
        pulse.beats();
        let sent = view.with(|view| view.total.sent());
        rate.update(|rate| rate.add(clock::here(), sent));
    });
    let sending = Memo::new(move |_| {
        view.with(|view| matches!(view.replay.state, ReplayState::Running { phase: Phase::Sending, .. }))
    });
    let pace = view.with_untracked(|view| view.replay.plan.pace_per_s);
    let now = move || rate.with(Rate::per_s).filter(|_| sending.get());
    let label = Signal::derive(move || match now() {
        Some(_) => format!("limit {}/s", count(pace.into())),
        None => "limit".to_string(),
    });
    let finished = view.map(move |view| view.replay.is_finished());
    view! {
        <Show when=move || !finished.get()>
            <Stat label>{part(move || format!("{}/s", count(now().unwrap_or_else(|| pace.into()))))}</Stat>
        </Show>
    }
}
