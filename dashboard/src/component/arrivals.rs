//! Failures over time as a chart with a scale, and as a table.

use crate::component::At;
use crate::reactive::prelude::*;
use dashboard_model::chart::{Mark, bar_name, hours, place, title, words};
use dashboard_model::money::count;
use dashboard_model::spark::heights;
use wire::DeathsChart;

const HEIGHT: u32 = 100;
const STEP: usize = 10;
/// The greatest width of a bar with its gap.
const BAR_REM: usize = 4;

/// Shows failures over time, oldest first, with the deployment and the fix.
#[component]
pub fn Arrivals(
    /// The failures.
    #[prop(into)]
    chart: Signal<DeathsChart>,
    /// What happened meanwhile.
    #[prop(into)]
    marks: Signal<Vec<Mark>>,
    /// Failures in the last 60 minutes.
    #[prop(into)]
    last_hour: Signal<u64>,
    /// Whether the group grows.
    #[prop(into)]
    growing: Signal<bool>,
) -> impl IntoView {
    let top = chart.map(move |chart| scale(chart.deaths.iter().copied().max().unwrap_or(0)));
    let bars = Memo::new(move |_| {
        // Scaling the axis's maximum as one more bar keeps bars and labels consistent.
        let mut scaled = chart.with(|chart| chart.deaths.clone());
        scaled.push(top.get());
        let mut heights = heights(&scaled, HEIGHT);
        heights.pop();
        let bar = |(at, height): (usize, &u32)| format!("M{}.5 {HEIGHT}v-{height}h9v{height}z", at * STEP);
        let before = heights.len().saturating_sub(1);
        let all: Vec<String> = heights.iter().enumerate().map(bar).collect();
        (all[..before].concat(), all[before..].concat(), heights.len().max(1) * STEP)
    });
    let lines = move || {
        let line = |mark: &Mark| chart.with(|chart| place(chart, mark.at)).map(|at| at * bars.get().2 as f64);
        let path = |x: f64| format!("M{x:.1} 0v{HEIGHT}");
        marks.with(|marks| marks.iter().filter_map(line).map(path).collect::<String>())
    };
    // A few bars are not drawn as wide as many.
    let max_width = move || format!("{}rem", chart.with(|chart| chart.deaths.len()) * BAR_REM);
    let described = move || chart.with(|chart| words(chart, last_hour.get()));
    let label = move || chart.with(|chart| format!("{}: {}", title(chart), words(chart, last_hour.get())));
    let table = move || {
        let chart = chart.get();
        let row = |(from_last, n): (usize, &u64)| {
            view! { <tr><th scope="row">{bar_name(&chart, from_last)}</th><td>{count(*n)}</td></tr> }.into_any()
        };
        chart.deaths.iter().rev().enumerate().map(row).collect_view()
    };
    let legend = move || {
        let mark = |mark: Mark| view! { <li>{mark.words}" "<At at=mark.at /></li> }.into_any();
        marks.get().into_iter().map(mark).collect_view()
    };
    view! {
        <figure class="arrivals" class:arrivals-growing=move || growing.get()>
            <figcaption>
                <span class="arrivals-title">{part(move || chart.with(title))}</span>
                <span class="muted">{part(described)}</span>
            </figcaption>
            <div class="arrivals-chart" style:max-width=max_width>
                <span class="arrivals-y" aria-hidden="true">
                    <span>{part(move || count(top.get()))}</span><span>{part(move || count(top.get() / 2))}</span><span>"0"</span>
                </span>
                <svg role="img" aria-label=attr(label) preserveAspectRatio="none"
                    viewBox=attr(move || format!("0 0 {} {HEIGHT}", bars.get().2))>
                    <path class="arrivals-line" d=attr(move || format!("M0 .5h{0}M0 50h{0}", bars.get().2)) />
                    <path class="arrivals-ground" d=attr(move || format!("M0 {}.5h{}", HEIGHT - 1, bars.get().2)) />
                    <path class="spark-before" d=attr(move || bars.get().0) />
                    <path class="spark-last" d=attr(move || bars.get().1) />
                    <path class="arrivals-mark" d=attr(lines) />
                </svg>
                <span class="arrivals-x" aria-hidden="true">
                    <span>{part(move || format!("−{} h", chart.with(hours)))}</span>
                    <span>{part(move || format!("−{} h", chart.with(hours) / 2))}</span>
                    <span>"now"</span>
                </span>
            </div>
            <Show when=move || marks.with(|marks| !marks.is_empty())>
                <ul class="arrivals-marks">{part(legend)}</ul>
            </Show>
            <details class="arrivals-table">
                <summary>"Table"</summary>
                <table>
                    <thead><tr><th scope="col">"Since"</th><th scope="col">"Failures"</th></tr></thead>
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
