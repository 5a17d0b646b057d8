//! Leptos with its types erased. Leptos compiles its machinery anew for each type of value in a signal and for each
//! closure in a view, and that was most of what a browser had to load. Here every signal holds one type of value, and
//! every closure of a view stands behind one boxed type, so that the machinery is compiled once. It is used like
//! Leptos: what these modules name stands in for what Leptos names so. In views, what follows a signal is written
//! `{part(move || …)}`, `name=attr(move || …)` and `on:click=on(move |_| …)`; a piece of a view that may be there, or
//! is one of many, ends in `.into_any()`, so that it too is one type.

mod control;
mod effect;
mod erased;
mod signal;
mod stored;
mod view;

/// Leptos's prelude, with what is erased in place of its own.
pub mod prelude {
    pub use super::control::{For, Show};
    pub use super::effect::Effect;
    pub use super::signal::{Memo, RwSignal, Signal};
    pub use super::stored::StoredValue;
    pub use super::view::{attr, on, part};
    pub use leptos::prelude::*;
}
