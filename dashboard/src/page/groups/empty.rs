//! Empty states of the list: no dead letters, an empty view, or no match for the filter.

use super::query::Query;
use crate::clock;
use crate::component::Empty;
use crate::nav::nav;
use crate::poll::Reading;
use crate::reactive::prelude::*;
use dashboard_model::route::{GroupsRoute, Route};
use dashboard_model::view::View;

/// Tells that there are no groups at all.
#[component]
pub(super) fn NothingHere(query: Query) -> impl IntoView {
    let live = query.live;
    let watching = live.part(|answer| answer.watching.clone());
    let checked = move || match live.pulse().reading() {
        Reading::Live(at) | Reading::Paused(at) | Reading::Reconnecting(at) => Some(clock::time_in_zone(at)),
        _ => None,
    };
    // A name breaks only where a line has no room for it, and not at its hyphens.
    let names = move || {
        let queues = watching.get().unwrap_or_default();
        let (shown, more) = (queues.len().min(5), queues.len().saturating_sub(5));
        let name = |(at, queue): (usize, &String)| {
            let mark = match at + 1 < shown {
                true => ",",
                false if more == 0 => ".",
                false => "",
            };
            view! { " "<span class="empty-name">{format!("{queue}{mark}")}</span> }.into_any()
        };
        let names = queues.iter().take(shown).enumerate().map(name).collect_view();
        let more = if more > 0 { format!(" and {more} more.") } else { String::new() };
        view! { {names}{more} }.into_any()
    };
    let checked = move || checked().map(|at| format!(" Last checked {at}.")).unwrap_or_default();
    part(move || {
        if watching.get().is_none_or(|queues| queues.is_empty()) {
            view! {
                <Empty title="No queues connected yet.">
                    <p>"Connect a dead-letter queue with "<code>"dlo open"</code>", or try the demo with "
                        <code>"dlo demo"</code>"."</p>
                </Empty>
            }
            .into_any()
        } else {
            view! {
                <Empty title="No dead letters.">
                    <p>"Failed messages appear here automatically, grouped with others of the same cause."</p>
                    <p>"Watching"{part(names)}{part(checked)}</p>
                </Empty>
            }
            .into_any()
        }
    })
}

/// Tells that no group is in the view or matches the filter.
#[component]
pub(super) fn NoneMatch(query: Query) -> impl IntoView {
    let nav = nav();
    let current_view = move || query.route.get().view;
    let filtered = move || query.typed.with(|text| !text.trim().is_empty());
    let title = move || {
        let label = current_view().label();
        match (filtered(), current_view()) {
            (true, _) => format!("No groups in {label} match “{}”.", query.typed.get().trim()),
            (false, View::Open) => "No open groups.".to_string(),
            (false, _) => format!("No groups in {label}."),
        }
    };
    let others = move || {
        let counts = query.counts().unwrap_or_default();
        View::ALL.into_iter().zip(counts).filter(move |(view, n)| *view != current_view() && *n > 0)
    };
    let has_others = move || others().next().is_some();
    let advice = move || match (filtered(), current_view()) {
        (true, _) if has_others() => "The groups that match are under another tab.",
        (true, _) => "Use fewer words, or a field such as queue:orders. The help (?) lists all fields.",
        (false, View::Open) => "All letters are delivered or discarded.",
        (false, View::Growing) => "No group is gaining failures right now.",
        (false, View::FixDeclared) => "Groups appear here from their fix until their replay starts.",
        (false, View::ForMe) => "Plans that you may approve appear here. Every page shows their number.",
        (false, View::Replaying) => "No replay is running or paused.",
        (false, View::Resolved) => "Groups appear here once their last letter is delivered or discarded.",
    };
    let elsewhere = move || {
        let class = if filtered() { "button button-primary" } else { "button" };
        others()
            .map(|(view, n)| {
                let href = Route::Groups(GroupsRoute { view, q: query.typed.get(), ..query.route.get() }).to_string();
                view! { <a class=class href=href>{format!("{n} in {}", view.label())}</a> }.into_any()
            })
            .collect_view()
    };
    let clear_class = move || if has_others() { "button" } else { "button button-primary" };
    let clear = move |_| {
        query.typed.set(String::new());
        nav.replace(Route::Groups(GroupsRoute { q: String::new(), ..query.route.get_untracked() }));
    };
    view! {
        <Empty title=Signal::derive(title)>
            <p>{part(advice)}</p>
            <div class="empty-ways">
                {part(elsewhere)}
                <Show when=filtered>
                    <button type="button" class=attr(clear_class) on:click=on(clear)>"Clear filter"</button>
                </Show>
            </div>
        </Empty>
    }
}
