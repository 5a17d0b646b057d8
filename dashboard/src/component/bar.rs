//! A progress bar of segments. Delivered is solid and returned is hatched, so that it is readable without colour.

use crate::reactive::prelude::*;

/// A segment of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The amount.
    pub n: u64,
    /// The style: `ok`, `info`, `flight`, `danger` (hatched), `warn` or `quiet`.
    pub look: &'static str,
}

/// Shows progress as segments of a whole, with a description for screen readers.
#[component]
pub fn Bar(
    /// The segments, in order.
    #[prop(into)]
    segments: Signal<Vec<Segment>>,
    /// The total amount.
    #[prop(into)]
    total: Signal<u64>,
    /// The measured quantity.
    #[prop(into)]
    label: Signal<String>,
    /// The progress in words.
    #[prop(into)]
    words: Signal<String>,
    /// Whether the bar is large.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    let done = move || segments.with(|segments| segments.iter().map(|segment| segment.n).sum::<u64>());
    let width = move |n: u64| {
        let total = total.get().max(1);
        // Per mille is finer than a pixel. A small share is at least 2 pixels wide, so that it is visible.
        let mille = (u128::from(n) * 1000 / u128::from(total)).min(1000);
        if n > 0 { format!("max(2px, {}.{}%)", mille / 10, mille % 10) } else { "0".to_string() }
    };
    view! {
        <div
            class="bar"
            class:bar-large=large
            role="progressbar"
            aria-label=label
            aria-valuemin="0"
            aria-valuemax=attr(move || total.get().to_string())
            aria-valuenow=attr(move || done().to_string())
            aria-valuetext=words
        >
            {part(move || {
                segments
                    .get()
                    .into_iter()
                    .map(|segment| {
                        view! { <span class=format!("bar-part bar-{}", segment.look) style:width=width(segment.n)></span> }.into_any()
                    })
                    .collect_view()
            })}
        </div>
    }
}
