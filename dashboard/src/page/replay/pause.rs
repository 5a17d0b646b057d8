//! A replay that stands still: why, what came back, and what to do.

use super::levers::Levers;
use super::returned::Verdicts;
use crate::component::{At, Countdown};
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::pause::{Next, next, why};
use domain::id::Actor;
use domain::replay::ReplayState;
use wire::ReplayView;

/// Across the replay's page.
#[component]
pub(super) fn Halt(levers: Levers) -> impl IntoView {
    view! { <div class="halt-wide"><HaltText levers on_group=false /></div> }
}

/// Why it stands still, what came back by verdict, and what to do; nothing while it runs.
#[component]
pub(super) fn HaltText(levers: Levers, on_group: bool) -> impl IntoView {
    let view = levers.view;
    let paused = Memo::new(move |_| {
        view.with(|view| match &view.replay.state {
            ReplayState::Paused { wave, why: reason, by, at } => {
                Some((by.as_str() == Actor::OFFICE, why(reason, *wave), by.clone(), *at))
            }
            _ => None,
        })
    });
    part(move || {
        paused.get().map(|(itself, why, by, at)| {
            let title = if itself { "It stopped itself".to_string() } else { format!("{by} paused it") };
            view! {
                <div class="halt" class:halt-itself=itself>
                    <p><b>{title}</b>" "<At at=Signal::stored(at) />". "{why}</p>
                    <Verdicts view />
                    <What levers on_group />
                </div>
            }
            .into_any()
        })
    })
}

#[component]
fn What(levers: Levers, on_group: bool) -> impl IntoView {
    let view = levers.view;
    let next = view.map(move |view| levers.fix.with(|fix| next(view, fix.as_ref())));
    // When a backlog drains nobody knows.
    let until = view.map(move |view| {
        view.observed_until.filter(|_| view.replay.backlog.is_none_or(|backlog| backlog.is_drained()))
    });
    let group = view.with_untracked(|view| format!("/groups/{}", view.replay.group()));
    let to_go = view.map(move |view| view.total.pending + view.total.sending);
    part(move || {
        let group = group.clone();
        let words = match next.get()? {
            Next::DeclareFixRequest if on_group => {
                "Find out why, and declare the fix that came after it; then it can be resumed. Or abort it.".into_any()
            }
            Next::DeclareFixRequest => view! {
                "Find out why, and "<a href=group>"declare the fix"</a>" that came after it; then it can be resumed. Or abort it."
            }
            .into_any(),
            Next::ResumeRequest => view! { {format!("Resume it: {} to go. Or abort it.", letters(to_go.get()))} }.into_any(),
            Next::Wait(n) => {
                let until = until.get().map(|at| view! { ", at most "<Countdown to=at /> }.into_any());
                view! { {format!("{} still in flight: it can be resumed when they have their outcome", letters(n))}{until}"." }
                    .into_any()
            }
        };
        Some(view! { <p class="halt-next"><b>"Next: "</b>{words}</p> })
    })
}

/// What a finished replay leaves to do: letters that came back or were not sent still wait.
#[component]
pub(super) fn Left(view: Signal<ReplayView>) -> impl IntoView {
    let left = Memo::new(move |_| {
        view.with(|view| {
            view.replay.is_finished().then_some(view.total.returned + view.total.expired + view.total.skipped)
        })
    });
    let group = view.with_untracked(|view| format!("/groups/{}", view.replay.group()));
    part(move || {
        left.get().filter(|left| *left > 0).map(|left| {
            view! {
                <p class="notice">
                    {format!("Not delivered: {}.", letters(left))}" "
                    <a href=group.clone()>"What is next for the group"</a>
                </p>
            }
            .into_any()
        })
    })
}
