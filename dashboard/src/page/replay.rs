//! One replay: its waves, its ledger, and the switches.

use crate::api;
use crate::component::{Frame, Unless};
use crate::poll::{Live, Pace};
use domain::id::ReplayId;
use domain::wire::ReplayView;
use leptos::prelude::*;

/// A replay's page.
#[component]
pub fn ReplayPage(id: ReplayId) -> impl IntoView {
    let asked = id.clone();
    let live = Live::new(
        move |seen| api::replay(asked.clone(), seen),
        |view: &ReplayView| {
            if view.replay.is_finished() { Pace::Calm } else { Pace::Busy }
        },
    );
    let title = live.part(|view| view.group_title.clone());
    let back = ("/replays".to_string(), Signal::stored("Replays".to_string()));
    view! {
        <Frame title="Replay" back pulse=live.pulse()>
            <Unless live>
                <p>{move || title.get()}</p>
            </Unless>
        </Frame>
    }
}
