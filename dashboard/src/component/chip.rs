//! Chips: the conditions of a filter, each with a button to remove it. All chips share one view, because each shape of a
//! view adds to the download.

use crate::component::{Glyph, Icon};
use crate::reactive::prelude::*;

/// Returns a chip. `name` is the label of its button.
pub fn chip(name: String, words: AnyView, remove: impl Fn() + Send + Sync + 'static) -> AnyView {
    view! {
        <li class="chip">
            {words}
            <button type="button" class="tool" title=name.clone() aria-label=name on:click=on(move |_| remove())>
                <Icon glyph=Glyph::Close />
            </button>
        </li>
    }
    .into_any()
}

/// Returns a row of chips, or `None` without a chip.
pub fn chips(label: &'static str, chips: Vec<AnyView>) -> Option<AnyView> {
    (!chips.is_empty()).then(|| view! { <ul class="chips" aria-label=label>{chips}</ul> }.into_any())
}
