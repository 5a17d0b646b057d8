//! Why there is nothing: no dead letters at all, nothing in this view, nothing that the filter lets through.

use super::Shared;
use super::bar::counts;
use crate::clock;
use crate::component::Empty;
use crate::nav::nav;
use crate::poll::Reading;
use crate::reactive::prelude::*;
use dashboard_model::route::{GroupsRoute, Route};
use dashboard_model::view::View;

/// No groups at all.
#[component]
pub(super) fn NothingHere(shared: Shared) -> impl IntoView {
    let live = shared.live;
    let watching = live.part(|answer| answer.watching.clone());
    let checked = move || match live.pulse().reading() {
        Reading::Live(at) | Reading::Paused(at) | Reading::Reconnecting(at) => Some(clock::time_of_day(at)),
        _ => None,
    };
    let words = move || {
        let queues = watching.get().unwrap_or_default();
        let names = queues.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        let more = queues.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let checked = checked().map(|at| format!(" Last checked {at}.")).unwrap_or_default();
        format!("Watching {names}{more}.{checked}")
    };
    part(move || {
        if watching.get().is_none_or(|queues| queues.is_empty()) {
            view! {
                <Empty title="No queue is watched yet.">
                    <p>"Point the office at a dead-letter queue with "<code>"dlo open"</code>", or try it out with "
                        <code>"dlo demo"</code>"."</p>
                </Empty>
            }
            .into_any()
        } else {
            view! {
                <Empty title="No dead letters.">
                    <p>{part(words)}</p>
                </Empty>
            }
            .into_any()
        }
    })
}

/// Groups, but none here.
#[component]
pub(super) fn NoneMatch(shared: Shared) -> impl IntoView {
    let nav = nav();
    let view_here = move || shared.place.get().view;
    let filtered = move || shared.typed.with(|text| !text.trim().is_empty());
    let title = move || {
        let label = view_here().label();
        match (filtered(), view_here()) {
            (true, _) => format!("Nothing in {label} matches “{}”.", shared.typed.get().trim()),
            (false, View::Open) => "Nothing is open.".to_string(),
            (false, _) => format!("Nothing in {label}."),
        }
    };
    let elsewhere = move || {
        let counts = counts(shared).unwrap_or_default();
        let others = View::ALL.into_iter().zip(counts).filter(|(view, n)| *view != view_here() && *n > 0);
        others
            .map(|(view, n)| {
                let href = Route::Groups(GroupsRoute { view, ..shared.place.get() }).to_string();
                view! { <a class="button" href=href>{format!("{n} in {}", view.label())}</a> }.into_any()
            })
            .collect_view()
    };
    let clear = move |_| {
        shared.typed.set(String::new());
        nav.replace(Route::Groups(GroupsRoute { q: String::new(), ..shared.place.get_untracked() }));
    };
    view! {
        <Empty title=Signal::derive(title)>
            <div class="empty-ways">
                <Show when=filtered>
                    <button type="button" class="button button-primary" on:click=on(clear)>"Clear the filter"</button>
                </Show>
                {part(elsewhere)}
            </div>
        </Empty>
    }
}
