//! Which part of a long list is visible: measured again on scrolling, on resizing, and when rows change their height.

use crate::prefs::prefs;
use crate::reactive::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

/// Measures now and whenever the visible part may have changed. `is_shown` says whether the list is in the document; its
/// signals are tracked.
pub fn follow(is_shown: impl Fn() -> bool + 'static, measure: impl Fn() + Copy + 'static) {
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    // Captured at the window, because scroll events of inner elements do not bubble.
    let scrolled = Closure::<dyn Fn()>::new(measure);
    let listener = scrolled.as_ref().clone();
    let _ = window().add_event_listener_with_callback_and_bool("scroll", listener.unchecked_ref(), true);
    let scrolled = StoredValue::new(scrolled);
    on_cleanup(move || {
        resized.remove();
        scrolled.with_value(|scrolled| {
            let callback = scrolled.as_ref().unchecked_ref();
            let _ = window().remove_event_listener_with_callback_and_bool("scroll", callback, true);
        });
    });
    let dense = prefs().dense;
    Effect::new(move || {
        dense.get();
        if is_shown() {
            request_animation_frame(measure);
        }
    });
}

/// Returns the height of the window in pixels.
pub fn window_px() -> f64 {
    window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(0.0)
}
