//! Signing out a person who makes no input in any tab, after a warning, or who has signed out in another tab.

use crate::browser;
use crate::clock;
use crate::component::{Countdown, Dialog};
use crate::leave;
use crate::reactive::prelude::*;
use crate::session::tab;
use dashboard_model::stay::{DRAFTS_KEPT, Idle, idle};
use domain::time::{Span, Timestamp};
use std::time::Duration;

/// The events that count as input.
const INPUTS: [&str; 4] = ["pointerdown", "keydown", "wheel", "touchstart"];
/// How often the time since the last input is checked. Also in hidden tabs, where browsers check less often.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How often input is noted for the other tabs at most.
const NOTE_EVERY: Span = Span::from_secs(1);

/// Watches for input while somebody is signed in.
#[component]
pub fn IdleWatch(
    /// Whether the warning is open.
    open: RwSignal<bool>,
    /// When the session ends, while the warning is open.
    ends_at: RwSignal<Timestamp>,
) -> impl IntoView {
    let tab = tab();
    let now = clock::here();
    // A page that was loaded again, or brought back by the browser, is no input.
    let last_input = RwSignal::new(browser::last_used(now).unwrap_or(now));
    let close = move || {
        if open.get_untracked() {
            open.set(false);
        }
    };
    let input = move || {
        let now = clock::here();
        last_input.set(now);
        if browser::last_used(now).is_none_or(|noted| now.since(noted) >= NOTE_EVERY) {
            browser::used(now);
        }
        close();
    };
    let check = move || {
        if tab.has_left() {
            leave::follow(tab);
            return;
        }
        let limit = tab.me_untracked().and_then(|me| me.idle_ms);
        let now = clock::here();
        // A clock that was ahead keeps no session alive: the input counts as of now.
        last_input.update(|last| *last = now.min(*last));
        let last = last_input.get_untracked();
        match idle(browser::last_used(now).map_or(last, |noted| noted.max(last)), limit, now) {
            Idle::Active => close(),
            Idle::Warned(at) => {
                ends_at.set(clock::of_here(at));
                if !open.get_untracked() {
                    open.set(true);
                }
            }
            Idle::Over => leave::for_lack_of_input(tab),
        }
    };
    let mut listeners: Vec<_> = INPUTS.map(|name| window_event_listener_untyped(name, move |_| input())).into();
    // Another tab has noted something: a sign-out counts at once, also in hidden tabs.
    listeners.push(window_event_listener_untyped("storage", move |_| check()));
    let timer = set_interval_with_handle(check, CHECK_EVERY).ok();
    on_cleanup(move || {
        listeners.into_iter().for_each(|listener| listener.remove());
        if let Some(timer) = timer {
            timer.clear();
        }
    });
}

/// Warns that the session is about to end. Any input closes the dialog, so also a click on its button.
#[component]
pub fn IdleWarning(open: RwSignal<bool>, ends_at: RwSignal<Timestamp>) -> impl IntoView {
    view! {
        <Dialog open title="Stay signed in?" close="Stay signed in">
            <p>"There was no input for a while. You will be signed out in "<Countdown to=ends_at />"."</p>
            <p class="muted">{DRAFTS_KEPT}</p>
        </Dialog>
    }
}
