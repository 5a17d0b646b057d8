//! Effects with erased types.

use leptos::prelude::{Effect as LeptosEffect, EffectFunction};
use std::any::Any;

/// A side effect of reactive values.
pub struct Effect;

impl Effect {
    /// Runs `f` now, and again after each change of a value that it reads. `f` may take its previous result.
    #[allow(clippy::new_ret_no_self, reason = "used like Leptos's effect; this crate never keeps the handle")]
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
