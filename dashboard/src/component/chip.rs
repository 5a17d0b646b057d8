//! Pieces of a filter, each with a button that takes it away. One view for all: each shape of a view is code to load.

use crate::component::{Glyph, Icon};
use crate::reactive::prelude::*;

/// A piece; its button has this name.
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

/// The pieces in a row; nothing where there is none.
pub fn chips(label: &'static str, chips: Vec<AnyView>) -> Option<AnyView> {
    (!chips.is_empty()).then(|| view! { <ul class="chips" aria-label=label>{chips}</ul> }.into_any())
}
