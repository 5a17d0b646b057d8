//! The live badge: how old what is shown is, and the switch that pauses it.

use crate::clock;
use crate::component::{Glyph, Icon};
use crate::poll::{Pulse, Reading};
use crate::reactive::prelude::*;
use dashboard_model::when;

/// How fresh the page is. Pressed, it pauses or goes on.
#[component]
pub fn LiveBadge(pulse: Pulse) -> impl IntoView {
    let reading = Memo::new(move |_| pulse.reading());
    let paused = pulse.paused();
    let press = move |_| {
        if matches!(reading.get_untracked(), Reading::Reconnecting(_) | Reading::Offline(_)) {
            pulse.refresh();
        } else {
            paused.update(|paused| *paused = !*paused);
        }
    };
    let word = reading.map(move |reading| face(reading).1);
    let shown = move || {
        let reading = reading.get();
        let (tone, word, does) = face(&reading);
        let rest = match reading {
            Reading::Live(at) => when::relative(at, clock::ticking()),
            Reading::Paused(at) | Reading::Offline(Some(at)) => format!("showing {}", clock::time_of_day(at)),
            Reading::Reconnecting(at) => format!("data from {}", clock::time_of_day(at)),
            Reading::Connecting | Reading::Offline(None) | Reading::SignedOut | Reading::Nothing => String::new(),
        };
        view! {
            <button type="button" class=format!("badge tone-{tone}") title=does on:click=on(press)
                hidden=reading == Reading::Nothing>
                <span class="badge-dot" aria-hidden="true"></span>
                <span class="badge-word">{word}</span>
                <span class="badge-rest">{rest}</span>
                <span class="sr-only">". "{does}</span>
                {matches!(reading, Reading::Paused(_)).then(|| view! { <Icon glyph=Glyph::Play /> }.into_any())}
            </button>
        }
        .into_any()
    };
    view! {
        {part(shown)}
        // Only changes of the word are announced, never the seconds.
        <span class="sr-only" role="status">{word}</span>
    }
}

/// Tone, word, and what pressing does.
fn face(reading: &Reading) -> (&'static str, &'static str, &'static str) {
    match reading {
        Reading::Connecting => ("quiet", "Connecting…", "Pause updating"),
        Reading::Live(_) => ("ok", "Live", "Pause updating"),
        Reading::Paused(_) => ("quiet", "Paused", "Go on updating"),
        Reading::Reconnecting(_) => ("warn", "Reconnecting…", "Try again now"),
        Reading::Offline(_) => ("danger", "Offline", "Try again now"),
        Reading::SignedOut => ("danger", "Signed out", "Try again now"),
        Reading::Nothing => ("quiet", "", ""),
    }
}
