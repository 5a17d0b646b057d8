//! The failures of a day as a sparkline.

use crate::reactive::prelude::*;
use dashboard_model::spark::{heights, words};

const HEIGHT: u32 = 24;
const STEP: usize = 4;

/// Shows failures per hour, oldest first. The last bar stands out, and is red while the group grows.
#[component]
pub fn Spark(
    /// The failures of each hour.
    values: Vec<u64>,
    /// Failures in the last 60 minutes, for the description.
    last_hour: u64,
    /// Whether the group grows.
    growing: bool,
) -> impl IntoView {
    let heights = heights(&values, HEIGHT);
    // One path for all bars but the last: 24 elements per row would double the list's document.
    let bar = |(at, height): (usize, &u32)| format!("M{} {HEIGHT}v-{height}h3v{height}z", at * STEP);
    let before = heights.len().saturating_sub(1);
    let bars: Vec<String> = heights.iter().enumerate().map(bar).collect();
    let width = heights.len().max(1) * STEP;
    view! {
        <svg class=if growing { "spark spark-growing" } else { "spark" } role="img"
            aria-label=words(&values, values.len() as u64, last_hour) viewBox=format!("0 0 {width} {HEIGHT}")
            width=width.to_string() height=HEIGHT.to_string()>
            <path class="spark-ground" d=format!("M0 23.5h{width}") />
            <path class="spark-before" d=bars[..before].concat() />
            <path class="spark-last" d=bars[before..].concat() />
        </svg>
    }
}
