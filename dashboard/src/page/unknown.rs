//! A URL that leads nowhere.

use crate::component::{Empty, Frame};
use crate::reactive::prelude::*;

/// There is no such page.
#[component]
pub fn UnknownPage(path: String) -> impl IntoView {
    view! {
        <Frame title="No such page">
            <Empty title=format!("There is nothing at {path}.")>
                <a class="button" href="/groups">"All groups"</a>
            </Empty>
        </Frame>
    }
}
