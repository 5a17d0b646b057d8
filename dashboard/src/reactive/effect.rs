//! What is done when something changes.

use leptos::prelude::{Effect as LeptosEffect, EffectFunction};
use std::any::Any;

/// What is done when something changes.
pub struct Effect;

impl Effect {
    /// Runs `f` now and after each change of what it reads; `f` may take what it gave the time before.
    #[allow(clippy::new_ret_no_self, reason = "used like Leptos's, whose handle nobody here keeps")]
    pub fn new<T: 'static, M>(mut f: impl EffectFunction<T, M> + 'static) {
        run(Box::new(move |before| {
            let before = before.and_then(|before| before.downcast().ok()).map(|before| *before);
            Box::new(f.run(before))
        }));
    }
}

type Before = Box<dyn Any>;

fn run(f: Box<dyn FnMut(Option<Before>) -> Before>) {
    LeptosEffect::new(f);
}
