//! Arrivals of a day as bars.

use crate::model::spark::{heights, words};
use leptos::prelude::*;

const HEIGHT: u32 = 24;
const STEP: usize = 4;

/// Deaths per hour, oldest first; the last bar stands out, and is red while the group grows.
#[component]
pub fn Spark(
    /// The bars.
    #[prop(into)]
    values: Signal<Vec<u64>>,
    /// Deaths in the last 60 minutes, for the words.
    #[prop(into)]
    last_hour: Signal<u64>,
    /// Whether the group grows.
    #[prop(into)]
    growing: Signal<bool>,
) -> impl IntoView {
    // One path for all bars but the last: 24 elements a row would double the size of a list's document.
    let paths = Memo::new(move |_| {
        let heights = values.with(|values| heights(values, HEIGHT));
        let bar = |(at, height): (usize, &u32)| format!("M{} {}v-{height}h3v{height}z", at * STEP, HEIGHT);
        let before = heights.len().saturating_sub(1);
        let all: Vec<String> = heights.iter().enumerate().map(bar).collect();
        (all[..before].concat(), all[before..].concat(), heights.len().max(1) * STEP)
    });
    let label = move || values.with(|values| words(values, last_hour.get()));
    view! {
        <svg
            class="spark"
            class:spark-growing=growing
            role="img"
            aria-label=label
            viewBox=move || format!("0 0 {} {HEIGHT}", paths.get().2)
            width=move || paths.get().2
            height=HEIGHT
        >
            <path class="spark-ground" d=move || format!("M0 {}h{}", HEIGHT as f32 - 0.5, paths.get().2) />
            <path class="spark-before" d=move || paths.get().0 />
            <path class="spark-last" d=move || paths.get().1 />
        </svg>
    }
}
