//! The list of groups.

use crate::api;
use crate::component::{Frame, Unless};
use crate::poll::{Live, Pace};
use domain::wire::GroupsAnswer;
use leptos::prelude::*;

/// The list of groups, which is also the home page.
#[component]
pub fn GroupsPage() -> impl IntoView {
    let live = Live::new(
        api::groups,
        |answer: &GroupsAnswer| {
            if answer.summary.replays > 0 { Pace::Busy } else { Pace::Calm }
        },
    );
    view! {
        <Frame title="Groups" pulse=live.pulse()>
            <Unless live>
                <p>"Groups"</p>
            </Unless>
        </Frame>
    }
}
