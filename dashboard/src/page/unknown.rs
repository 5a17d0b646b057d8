//! The page for unknown URLs.

use crate::component::{Empty, Frame};
use crate::reactive::prelude::*;

/// Tells that a page does not exist.
#[component]
pub fn UnknownPage(path: String) -> impl IntoView {
    view! {
        <Frame title="Page not found">
            <Empty title=format!("No page at {path}.")>
                <a class="button" href="/groups">"Go to groups"</a>
            </Empty>
        </Frame>
    }
}
