//! A replay in the side of its group's page.

use super::levers::{Levers, Switches};
use super::pause::HaltText;
use crate::component::{Bar, Pill, parts};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{progress, short, stop_words};
use dashboard_model::money::count;
use dashboard_model::words;
use domain::replay::{OutcomeKind, ReplayState};

/// The replay: how far it is, and the switches.
#[component]
pub(in crate::page) fn Compact(levers: Levers) -> impl IntoView {
    let view = levers.view;
    let id = view.with_untracked(|view| view.replay.id().clone());
    let total = view.map(move |view| view.total.clone());
    let look = view.map(move |view| words::replay(&view.replay.state, view.replay.plan.waves.len()));
    let running = view.map(move |view| matches!(view.replay.state, ReplayState::Running { .. }));
    let href = format!("/replays/{id}");
    let sum = |kind: OutcomeKind| {
        let href = format!("/replays/{}?outcome={}", id, kind.as_str());
        view! {
            <div>
                <dt>{words::outcome(kind)}</dt>
                <dd><a href=href>{part(move || count(total.with(|total| total.get(kind))))}</a></dd>
            </div>
        }
        .into_any()
    };
    let sums = [OutcomeKind::Delivered, OutcomeKind::Returned, OutcomeKind::InFlight, OutcomeKind::Pending]
        .map(sum)
        .collect_view();
    view! {
        <section class="side-part">
            <div class="side-line">
                <h2><a href=href.clone()>"Replay "{short(&id)}</a></h2>
                <Pill tone=Signal::derive(move || look.get().0) shape=Signal::derive(move || look.get().1)
                    text=Signal::derive(move || look.get().2) />
            </div>
            <Bar parts=Signal::derive(move || total.with(|total| parts(total, "info"))) large=true
                total=Signal::derive(move || total.with(|t| t.selected())) label="Whole replay"
                words=Signal::derive(move || total.with(progress)) />
            <dl class="sums">{sums}</dl>
            <Show when=move || running.get()>
                <p class="muted">{part(move || view.with(stop_words))}</p>
            </Show>
            <HaltText levers on_group=true />
            <Switches levers />
            <p><a href=href.clone()>"Waves, ledger and letters →"</a></p>
        </section>
    }
}
