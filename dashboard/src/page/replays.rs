//! The list of replays.

use crate::api;
use crate::component::{Frame, Unless};
use crate::poll::{Live, Pace};
use domain::wire::ReplaysAnswer;
use leptos::prelude::*;

/// The list of replays, newest first.
#[component]
pub fn ReplaysPage() -> impl IntoView {
    let live = Live::new(|seen| api::replays(None, seen), |_: &ReplaysAnswer| Pace::Calm);
    view! {
        <Frame title="Replays" pulse=live.pulse()>
            <Unless live>
                <p>"Replays"</p>
            </Unless>
        </Frame>
    }
}
