//! The live badge: the age of the shown data, and the switch that pauses updates.

use crate::clock;
use crate::component::{Glyph, Icon};
use crate::poll::{Pulse, Reading};
use crate::reactive::prelude::*;
use dashboard_model::when;

/// Shows the page's freshness. A click pauses or resumes updates, or retries.
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
    let word = reading.map(move |reading| look(reading).1);
    let shown = move || {
        let reading = reading.get();
        let (tone, word, action) = look(&reading);
        let detail = match reading {
            Reading::Live(at) => when::relative(at, clock::ticking()),
            Reading::Paused(at) | Reading::Offline(Some(at)) => format!("showing {}", clock::time_of_day(at)),
            Reading::Reconnecting(at) => format!("data from {}", clock::time_of_day(at)),
            Reading::Connecting | Reading::Offline(None) | Reading::SignedOut | Reading::Nothing => String::new(),
        };
        view! {
            <button type="button" class=format!("badge tone-{tone}") title=action on:click=on(press)
                hidden=reading == Reading::Nothing>
                <span class="badge-dot" aria-hidden="true"></span>
                <span class="badge-word">{word}</span>
                <span class="badge-detail">{detail}</span>
                <span class="sr-only">". "{action}</span>
                {matches!(reading, Reading::Paused(_)).then(|| view! { <Icon glyph=Glyph::Play /> }.into_any())}
            </button>
        }
        .into_any()
    };
    view! {
        {part(shown)}
        // Screen readers hear changes of the state, never the seconds.
        <span class="sr-only" role="status">{word}</span>
    }
}

/// Returns the badge's tone, label, and the action of a click.
fn look(reading: &Reading) -> (&'static str, &'static str, &'static str) {
    match reading {
        Reading::Connecting => ("quiet", "Connecting…", "Pause updates"),
        Reading::Live(_) => ("ok", "Live", "Pause updates"),
        Reading::Paused(_) => ("quiet", "Paused", "Resume updates"),
        Reading::Reconnecting(_) => ("warn", "Reconnecting…", "Retry now"),
        Reading::Offline(_) => ("danger", "Offline", "Retry now"),
        Reading::SignedOut => ("danger", "Signed out", "Retry now"),
        Reading::Nothing => ("quiet", "", ""),
    }
}
