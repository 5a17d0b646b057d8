//! Calls over time as SVG.

use super::simulation::{OUTAGE, Outcome, SECONDS, Setup};
use std::fmt::Write;

const WIDTH: usize = 720;
const HEIGHT: usize = 320;
/// Room for the scale at the left, the legend above, the times below and half of the last time at the right.
const LEFT: usize = 56;
const TOP: usize = 64;
const BOTTOM: usize = 28;
const RIGHT: usize = 24;
/// Colours that people with any colour vision can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 4] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7"];

/// Returns the picture of some setups on one scale.
pub fn svg(title: &str, outcomes: &[(Setup, Outcome)]) -> String {
    let top = outcomes.iter().flat_map(|(_, outcome)| &outcome.calls).copied().max().unwrap_or(1).max(1);
    let x = |second: usize| LEFT + second * (WIDTH - LEFT - RIGHT) / SECONDS;
    let y = |calls: u32| HEIGHT - BOTTOM - calls as usize * (HEIGHT - TOP - BOTTOM) / top as usize;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\" role=\"img\" aria-label=\"{title}\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    let (from, until) = (x(OUTAGE.0 as usize), x(OUTAGE.1 as usize));
    let height = HEIGHT - TOP - BOTTOM;
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!("<rect x=\"{from}\" y=\"{TOP}\" width=\"{}\" height=\"{height}\" fill=\"#eee\"/>", until - from));
    line(format!("<text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{title}</text>"));
    line(format!("<text x=\"{}\" y=\"{}\">outage</text>", from + 4, TOP + 14));
    for calls in [0, top / 2, top] {
        line(format!("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{calls}</text>", LEFT - 6, y(calls) + 4));
        line(format!("<path d=\"M{LEFT} {}H{}\" stroke=\"#ccc\"/>", y(calls), WIDTH - RIGHT));
    }
    for second in (0..=SECONDS).step_by(60) {
        line(format!("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{second} s</text>", x(second), HEIGHT - 10));
    }
    for (at, (setup, outcome)) in outcomes.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let mut points = String::new();
        for (second, calls) in outcome.calls.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = write!(points, "{},{} ", x(second), y(*calls));
        }
        let points = points.trim_end();
        line(format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"));
        let left = LEFT + at * 165;
        line(format!("<rect x=\"{left}\" y=\"32\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"));
        line(format!("<text x=\"{}\" y=\"42\">{}</text>", left + 18, setup.name));
    }
    svg.push_str("</svg>\n");
    svg
}
