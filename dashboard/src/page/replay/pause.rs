//! A paused replay: the reason, the returned letters, and the next step.

use super::controls::Controls;
use super::returned::Causes;
use crate::component::{At, Countdown};
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::pause::{Next, next, why};
use domain::id::Actor;
use domain::replay::{Backlog, ReplayState};
use wire::ReplayAnswer;

/// Shows the pause across the replay's page.
#[component]
pub(super) fn PauseNotice(controls: Controls) -> impl IntoView {
    view! { <div class="halt-wide"><PauseText controls on_group=false /></div> }
}

/// Shows the reason, the returned letters by cause, and the next step. Shows nothing unless the replay is paused.
#[component]
pub(super) fn PauseText(controls: Controls, on_group: bool) -> impl IntoView {
    let view = controls.view;
    let paused = Memo::new(move |_| {
        view.with(|view| match &view.replay.state {
            ReplayState::Paused { wave, why: reason, by, at } => {
                Some((by.as_str() == Actor::OFFICE, why(reason, *wave), by.clone(), *at))
            }
            _ => None,
        })
    });
    part(move || {
        paused.get().map(|(is_automatic, why, by, at)| {
            let title = if is_automatic { "Paused automatically".to_string() } else { format!("Paused by {by}") };
            view! {
                <div class="halt" class:halt-automatic=is_automatic>
                    <p><b>{title}</b>" "<At at=Signal::stored(at) />". "{why}</p>
                    <Causes view />
                    <NextStep controls on_group />
                </div>
            }
            .into_any()
        })
    })
}

#[component]
fn NextStep(controls: Controls, on_group: bool) -> impl IntoView {
    let view = controls.view;
    let next = view.map(move |view| controls.fix.with(|fix| next(view, fix.as_ref())));
    // The end of a backlog cannot be predicted.
    let until = view.map(move |view| {
        view.observed_until.filter(|until| {
            let is_known = |backlog: &Backlog| backlog.gone_since.is_some() || backlog.seen_at < *until;
            view.replay.backlog.is_none_or(|backlog| backlog.is_drained() && is_known(&backlog))
        })
    });
    let group = view.with_untracked(|view| format!("/groups/{}", view.replay.group()));
    let unsent = view.map(move |view| view.total.pending + view.total.sending);
    part(move || {
        let group = group.clone();
        let words = match next.get()? {
            Next::DeclareFix if on_group => "Find the cause, then declare a new fix to resume, or abort.".into_any(),
            Next::DeclareFix => view! {
                "Find the cause, then "<a href=group>"declare a new fix"</a>" to resume, or abort."
            }
            .into_any(),
            Next::Resume => format!("Resume to send the remaining {}, or abort.", letters(unsent.get())).into_any(),
            Next::Wait(n) => {
                let until = until.get().map(|at| view! { ", in at most "<Countdown to=at /> }.into_any());
                view! { {format!("{} still in flight. You can resume when their outcomes are known", letters(n))}{until}"." }
                    .into_any()
            }
        };
        Some(view! { <p class="halt-next"><b>"Next: "</b>{words}</p> })
    })
}

/// Shows how many letters a finished replay did not deliver. They still wait in their groups.
#[component]
pub(super) fn Undelivered(view: Signal<ReplayAnswer>) -> impl IntoView {
    let undelivered = Memo::new(move |_| {
        view.with(|view| {
            view.replay.is_finished().then_some(view.total.returned + view.total.expired + view.total.skipped)
        })
    });
    let group = view.with_untracked(|view| format!("/groups/{}", view.replay.group()));
    part(move || {
        undelivered.get().filter(|n| *n > 0).map(|n| {
            view! {
                <p class="notice">
                    <span>{format!("Not delivered: {}.", letters(n))}</span>
                    <a href=group.clone()>"See the group's next step"</a>
                </p>
            }
            .into_any()
        })
    })
}
