//! Failures per hour as a chart with a scale, and as a table.

use crate::reactive::prelude::*;
use dashboard_model::money::count;
use dashboard_model::spark::{heights, words};

const HEIGHT: u32 = 100;
const STEP: usize = 10;

/// Shows failures per hour, oldest first.
#[component]
pub fn Arrivals(
    /// The failures of each hour.
    #[prop(into)]
    values: Signal<Vec<u64>>,
    /// Failures in the last 60 minutes.
    #[prop(into)]
    last_hour: Signal<u64>,
    /// Whether the group grows.
    #[prop(into)]
    growing: Signal<bool>,
) -> impl IntoView {
    let top = values.map(move |values| scale(values.iter().copied().max().unwrap_or(0)));
    let bars = Memo::new(move |_| {
        // Scaling the axis's maximum as one more bar keeps bars and labels consistent.
        let mut scaled = values.get();
        scaled.push(top.get());
        let mut heights = heights(&scaled, HEIGHT);
        heights.pop();
        let bar = |(at, height): (usize, &u32)| format!("M{}.5 {HEIGHT}v-{height}h9v{height}z", at * STEP);
        let before = heights.len().saturating_sub(1);
        let all: Vec<String> = heights.iter().enumerate().map(bar).collect();
        (all[..before].concat(), all[before..].concat(), heights.len().max(1) * STEP)
    });
    let label = move || format!("Failed letters by hour: {}", values.with(|values| words(values, last_hour.get())));
    let hours = move || values.with(Vec::len);
    let table = move || {
        let values = values.get();
        let last = values.len();
        let row = |(at, n): (usize, u64)| {
            let hour = if at + 1 == last { "this hour".to_string() } else { format!("{} h ago", last - 1 - at) };
            view! { <tr><th scope="row">{hour}</th><td>{count(n)}</td></tr> }.into_any()
        };
        values.into_iter().enumerate().rev().map(row).collect_view()
    };
    view! {
        <figure class="arrivals" class:arrivals-growing=move || growing.get()>
            <figcaption>
                <span class="arrivals-title">"Failures per hour"</span>
                <span class="muted">{part(move || values.with(|values| words(values, last_hour.get())))}</span>
            </figcaption>
            <div class="arrivals-chart">
                <span class="arrivals-y" aria-hidden="true">
                    <span>{part(move || count(top.get()))}</span><span>{part(move || count(top.get() / 2))}</span><span>"0"</span>
                </span>
                <svg role="img" aria-label=attr(label) preserveAspectRatio="none"
                    viewBox=attr(move || format!("0 0 {} {HEIGHT}", bars.get().2))>
                    <path class="arrivals-line" d=attr(move || format!("M0 .5h{0}M0 50h{0}", bars.get().2)) />
                    <path class="arrivals-ground" d=attr(move || format!("M0 {}.5h{}", HEIGHT - 1, bars.get().2)) />
                    <path class="spark-before" d=attr(move || bars.get().0) />
                    <path class="spark-last" d=attr(move || bars.get().1) />
                </svg>
                <span class="arrivals-x" aria-hidden="true">
                    <span>{part(move || format!("−{} h", hours()))}</span>
                    <span>{part(move || format!("−{} h", hours() / 2))}</span>
                    <span>"now"</span>
                </span>
            </div>
            <details class="arrivals-table">
                <summary>"Table"</summary>
                <table>
                    <thead><tr><th scope="col">"Hour"</th><th scope="col">"Failures"</th></tr></thead>
                    <tbody>{part(table)}</tbody>
                </table>
            </details>
        </figure>
    }
}

/// Returns the axis's maximum: the next round even number, such as 6, 10, 20, 40, 50 or 100.
fn scale(top: u64) -> u64 {
    let rounds = [6, 10, 20, 40, 50, 100];
    let mut times = 1_u64;
    loop {
        if let Some(round) = rounds.iter().map(|round| round * times).find(|round| *round >= top) {
            return round;
        }
        times = times.saturating_mul(10);
        if times > u64::MAX / 100 {
            return top;
        }
    }
}
