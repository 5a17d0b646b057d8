//! The replay beside its group.

use super::controls::{Buttons, Controls};
use super::pause::PauseText;
use crate::component::{Bar, Pill, segments};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{pause_rule, progress, short};
use dashboard_model::money::count;
use dashboard_model::words;
use domain::replay::{OutcomeKind, ReplayState};

/// Shows the replay's progress and controls.
#[component]
pub(in crate::page) fn Compact(controls: Controls) -> impl IntoView {
    let view = controls.view;
    let id = view.with_untracked(|view| view.replay.id().clone());
    let total = view.map(move |view| view.total.clone());
    let look = view.map(words::replay);
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
            <Bar segments=Signal::derive(move || total.with(|total| segments(total, "info"))) large=true
                total=Signal::derive(move || total.with(|t| t.selected())) label="Whole replay"
                words=Signal::derive(move || total.with(progress)) />
            <dl class="sums">{sums}</dl>
            <Show when=move || running.get()>
                <p class="muted">{part(move || view.with(pause_rule))}</p>
            </Show>
            <PauseText controls on_group=true />
            <Buttons controls />
            <p><a href=href.clone()>"Waves, ledger and letters →"</a></p>
        </section>
    }
}
