//! One replay: its waves, its ledger, and the switches.

mod about;
mod compact;
mod entries;
mod levers;
mod pause;
mod returned;

pub(super) use compact::Compact;
pub(super) use levers::Levers;

use crate::api;
use crate::clock;
use crate::component::{At, Bar, Frame, LedgerTable, Pill, Stat, Unless, WaveRows, parts};
use crate::keys::{self, key};
use crate::page::download::Download;
use crate::poll::{Live, Pace, Pulse};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{self, Rate, announcement, progress, stop_words, tab_title};
use dashboard_model::money::count;
use dashboard_model::route::ReplayRoute;
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::{Phase, ReplayState};
use levers::Switches;
use wire::{GroupDetail, ReplayView};

/// A replay's page.
#[component]
pub fn ReplayPage(id: ReplayId) -> impl IntoView {
    let asked = id.clone();
    let live = Live::new(
        move |seen| api::replay(asked.clone(), seen),
        |view: &ReplayView| {
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
            // The way back is known only with the answer.
            let back = (back_to.get(), back);
            let title = title.clone();
            view! {
                <Frame title tab_title back pulse=live.pulse()>
                    <Unless live rows=6>
                        {part(move || live.data().get_untracked().map(|first| view! { <Known live first /> }.into_any()))}
                    </Unless>
                </Frame>
            }.into_any()
        })}
    }
}

/// The page once its replay is known.
#[component]
fn Known(live: Live<ReplayView>, first: ReplayView) -> impl IntoView {
    let group_id = first.replay.group().clone();
    let finished = live.part(|view| view.replay.is_finished());
    let group = Live::new(
        move |seen| api::group(group_id.clone(), seen),
        move |detail: &GroupDetail| {
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
    let levers = Levers::new(view.into(), gate, fix, live.pulse(), done);
    keys::bind(
        "This replay",
        vec![
            key("p", "Pause", move || levers.pause()),
            key("v", "Resume", move || levers.ask_resume()),
            key("S", "Abort", move || levers.ask_abort()),
        ],
    );
    let said = view.map(announcement);
    let id = view.with_untracked(|view| view.replay.id().clone());
    let view = Signal::from(view);
    view! {
        <p class="sr-only" role="status">{said}</p>
        <Head view levers pulse=live.pulse() />
        <pause::Halt levers />
        <pause::Left view />
        <div class="replay">
            <div class="replay-main">
                <section class="part" aria-label="Waves"><h2>"Waves"</h2><WaveRows view /></section>
                <section class="part">
                    <h2>"Ledger"</h2>
                    <LedgerTable view />
                    <Download path=format!("/replays/{id}/history") name=format!("replay-{id}") />
                </section>
                <entries::Chosen view />
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
fn Head(view: Signal<ReplayView>, levers: Levers, pulse: Pulse) -> impl IntoView {
    let total = view.map(move |view| view.total.clone());
    let look = view.map(move |view| words::replay(&view.replay.state, view.replay.plan.waves.len()));
    let bar = Signal::derive(move || {
        let done = if view.with(|view| view.replay.is_finished()) { "ok" } else { "info" };
        total.with(|total| parts(total, done))
    });
    let stop = view.map(stop_words);
    let tone = Signal::derive(move || if total.with(|t| t.returned) > 0 { "danger" } else { "" });
    let to = view.with_untracked(|view| view.replay.plan.main_queue.name().to_string());
    let skipped = total.map(move |t| t.expired + t.skipped);
    view! {
        <div class="replay-head">
            <div class="figures">
                <Stat label="delivered">{part(move || count(total.with(|t| t.delivered)))}</Stat>
                <Stat label="came back" tone>{part(move || count(total.with(|t| t.returned)))}</Stat>
                <Stat label="in flight">{part(move || count(total.with(|t| t.in_flight + t.sending)))}</Stat>
                <Stat label="to go">{part(move || count(total.with(|t| t.pending)))}</Stat>
                <Show when=move || { skipped.get() > 0 }>
                    <Stat label="not sent">{part(move || count(skipped.get()))}</Stat>
                </Show>
                <Speed view pulse />
            </div>
            <Switches levers />
        </div>
        <div class="whole">
            <Bar parts=bar total=Signal::derive(move || total.with(|t| t.selected())) large=true label="Whole replay"
                words=Signal::derive(move || total.with(progress)) />
            <p class="facts">
                <Pill tone=Signal::derive(move || look.get().0) shape=Signal::derive(move || look.get().1)
                    text=Signal::derive(move || look.get().2) />
                <span class="fact">{format!("to {to}")}</span>
                <Ended view />
                <Show when=move || view.with(|view| !view.replay.is_finished())>
                    <span class="fact">{part(move || stop.get())}</span>
                </Show>
            </p>
        </div>
    }
}

#[component]
fn Ended(view: Signal<ReplayView>) -> impl IntoView {
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

/// Letters a second as this page sees them go out, beside the pace that the plan allows.
#[component]
fn Speed(view: Signal<ReplayView>, pulse: Pulse) -> impl IntoView {
    let rate = RwSignal::new(Rate::default());
    Effect::new(move || {
        // Each answer is a look, whether or not it brought anything new.
        pulse.beats();
        let sent = view.with(|view| view.total.sent());
        rate.update(|rate| rate.saw(clock::now(), sent));
    });
    let sending = Memo::new(move |_| {
        view.with(|view| matches!(view.replay.state, ReplayState::Running { phase: Phase::Sending, .. }))
    });
    let pace = view.with_untracked(|view| view.replay.plan.pace_per_s);
    let now = move || rate.with(Rate::per_s).filter(|_| sending.get());
    let label = Signal::derive(move || match now() {
        Some(_) => format!("a second, of {} allowed", count(pace.into())),
        None => "a second allowed".to_string(),
    });
    let finished = view.map(move |view| view.replay.is_finished());
    view! {
        <Show when=move || !finished.get()>
            <Stat label>{part(move || count(now().unwrap_or_else(|| pace.into())))}</Stat>
        </Show>
    }
}

/// Where the letters that the URL asks for are shown.
fn place_of(route: &dashboard_model::route::Route) -> Option<ReplayRoute> {
    match route {
        dashboard_model::route::Route::Replay(place) => Some(place.clone()),
        _ => None,
    }
}
