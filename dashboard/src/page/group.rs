//! One group: what broke, what it costs, and the way to its replay.

use crate::api;
use crate::component::{Frame, Unless};
use crate::poll::{Live, Pace};
use domain::id::GroupId;
use domain::wire::GroupDetail;
use leptos::prelude::*;

/// A group's page.
#[component]
pub fn GroupPage(id: GroupId) -> impl IntoView {
    let asked = id.clone();
    let live = Live::new(
        move |seen| api::group(asked.clone(), seen),
        |detail: &GroupDetail| {
            if detail.row.state.replay().is_some() { Pace::Busy } else { Pace::Calm }
        },
    );
    let title = live.part(|detail| detail.row.title.clone());
    let back = ("/groups".to_string(), Signal::stored("Groups".to_string()));
    view! {
        <Frame title=Signal::derive(move || title.get().unwrap_or_else(|| "Group".to_string())) back pulse=live.pulse()>
            <Unless live>
                <p>{move || title.get()}</p>
            </Unless>
        </Frame>
    }
}
