//! The live badge: how old what is shown is, and the switch that pauses it.

use crate::clock;
use crate::component::{Glyph, Icon};
use crate::model::when;
use crate::poll::{Pulse, Reading};
use leptos::prelude::*;

/// How fresh the page is. Pressed, it pauses or goes on.
#[component]
pub fn LiveBadge(pulse: Pulse) -> impl IntoView {
    let reading = Memo::new(move |_| pulse.reading());
    let tone = move || match reading.get() {
        Reading::Connecting | Reading::Paused(_) | Reading::Nothing => "quiet",
        Reading::Live(_) => "ok",
        Reading::Reconnecting(_) => "warn",
        Reading::Offline(_) | Reading::SignedOut => "danger",
    };
    let word = move || match reading.get() {
        Reading::Connecting => "Connecting…".to_string(),
        Reading::Live(_) => "Live".to_string(),
        Reading::Paused(_) => "Paused".to_string(),
        Reading::Reconnecting(_) => "Reconnecting…".to_string(),
        Reading::Offline(_) => "Offline".to_string(),
        Reading::SignedOut => "Signed out".to_string(),
        Reading::Nothing => String::new(),
    };
    let rest = move || match reading.get() {
        Reading::Live(at) => when::relative(at, clock::ticking()),
        Reading::Paused(at) | Reading::Offline(Some(at)) => format!("showing {}", clock::time_of_day(at)),
        Reading::Reconnecting(at) => format!("data from {}", clock::time_of_day(at)),
        Reading::Connecting | Reading::Offline(None) | Reading::SignedOut | Reading::Nothing => String::new(),
    };
    let paused = pulse.paused();
    let press = move |_| {
        if matches!(reading.get_untracked(), Reading::Reconnecting(_) | Reading::Offline(_)) {
            pulse.refresh();
        } else {
            paused.update(|paused| *paused = !*paused);
        }
    };
    let does = move || match reading.get() {
        Reading::Reconnecting(_) | Reading::Offline(_) => "Try again now",
        _ if paused.get() => "Go on updating",
        _ => "Pause updating",
    };
    view! {
        <button type="button" class=move || format!("badge tone-{}", tone()) on:click=press title=does
            hidden=move || reading.get() == Reading::Nothing>
            <span class="badge-dot" aria-hidden="true"></span>
            <span class="badge-word">{word}</span>
            <span class="badge-rest">{rest}</span>
            <span class="sr-only">{move || format!(". {}", does())}</span>
            <Show when=move || paused.get()>
                <Icon glyph=Glyph::Play />
            </Show>
        </button>
        // Only changes of the word are announced, never the seconds.
        <span class="sr-only" role="status">{word}</span>
    }
}
