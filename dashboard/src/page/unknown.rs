//! The page for unknown URLs.

use crate::component::{Empty, Frame};
use crate::reactive::prelude::*;

/// Tells that a page does not exist.
#[component]
pub fn UnknownPage(path: String) -> impl IntoView {
    view! {
        <Frame title="Page not found">
            <Empty title=format!("No page at {path}.")>
                <p>"The link may be incomplete. Find groups and replays in their lists."</p>
                <a class="button" href="/groups">"Go to groups"</a>
            </Empty>
        </Frame>
    }
}
