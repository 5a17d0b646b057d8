//! Signing out a person who makes no input, after a warning.

use crate::api;
use crate::clock;
use crate::component::{Countdown, Dialog};
use crate::reactive::prelude::*;
use crate::session::{self, tab};
use dashboard_model::stay::{DRAFTS_KEPT, Idle, idle};
use leptos::task::spawn_local;
use std::time::Duration;

/// The events that count as input.
const INPUTS: [&str; 4] = ["pointerdown", "keydown", "wheel", "touchstart"];
/// How often the time since the last input is checked. Also in hidden tabs, where browsers check less often.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Watches for input while somebody is signed in.
#[component]
pub fn IdleWatch() -> impl IntoView {
    let tab = tab();
    let last_input = RwSignal::new(clock::here());
    let ends_at = RwSignal::new(clock::here());
    let open = RwSignal::new(false);
    let input = move || {
        last_input.set(clock::here());
        open.set(false);
    };
    let listeners = INPUTS.map(|name| window_event_listener_untyped(name, move |_| input()));
    let check = move || {
        let limit = tab.me_untracked().and_then(|me| me.idle_ms);
        match idle(last_input.get_untracked(), limit, clock::here()) {
            Idle::Active => {}
            Idle::Warned(at) => {
                ends_at.set(clock::of_here(at));
                open.set(true);
            }
            Idle::Over => {
                // First nothing is shown any more; then the session ends.
                tab.hide();
                let token = session::token();
                spawn_local(async move {
                    let _ = api::sign_out().await;
                    // Unless somebody has signed in meanwhile.
                    if session::token() == token {
                        tab.clear();
                    }
                });
            }
        }
    };
    let timer = set_interval_with_handle(check, CHECK_EVERY).ok();
    on_cleanup(move || {
        listeners.into_iter().for_each(|listener| listener.remove());
        if let Some(timer) = timer {
            timer.clear();
        }
    });
    // Any input closes the dialog, so also a click on its button.
    view! {
        <Dialog open title="Stay signed in?" close="Stay signed in">
            <p>"There was no input for a while. You will be signed out in "<Countdown to=ends_at />"."</p>
            <p class="muted">{DRAFTS_KEPT}</p>
        </Dialog>
    }
}
