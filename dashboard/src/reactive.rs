//! Leptos with erased types, to keep the download small.
//!
//! Leptos compiles its internals once per type of signal value and per view closure; that was most of the download. Here
//! every signal holds the same erased type and every view closure is boxed behind the same type, so the internals are
//! compiled once. The names match Leptos's and replace them.
//!
//! In views, write reactive content as `{part(move || …)}`, attributes as `name=attr(move || …)`, and handlers as
//! `on:click=on(move |_| …)`. End optional or repeated content with `.into_any()`, so that it has one type too.

mod control;
mod effect;
mod erased;
mod signal;
mod stored;
mod view;

/// Leptos's prelude, with the erased types in place of Leptos's own.
pub mod prelude {
    pub use super::control::{For, Show};
    pub use super::effect::Effect;
    pub use super::signal::{Memo, RwSignal, Signal};
    pub use super::stored::StoredValue;
    pub use super::view::{attr, on, part};
    pub use leptos::prelude::*;
}
