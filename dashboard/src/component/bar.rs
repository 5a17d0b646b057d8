//! A bar of parts: delivered solid, returned hatched, so that it reads without colour.

use crate::reactive::prelude::*;

/// One part of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How much.
    pub n: u64,
    /// How it is drawn: `ok`, `info`, `danger` (hatched), `warn`, `quiet`.
    pub look: &'static str,
}

/// How far something is: parts of a whole, with the words a screen reader says.
#[component]
pub fn Bar(
    /// The parts, in order.
    #[prop(into)]
    parts: Signal<Vec<Part>>,
    /// The whole.
    #[prop(into)]
    total: Signal<u64>,
    /// What is measured.
    #[prop(into)]
    label: Signal<String>,
    /// How far it is, in words.
    #[prop(into)]
    words: Signal<String>,
    /// Whether it is the large one.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    let done = move || parts.with(|parts| parts.iter().map(|part| part.n).sum::<u64>());
    let width = move |n: u64| {
        let total = total.get().max(1);
        // Per mille is finer than a pixel; whatever is there is seen, however small its share.
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
                parts
                    .get()
                    .into_iter()
                    .map(|part| {
                        view! { <span class=format!("bar-part bar-{}", part.look) style:width=width(part.n)></span> }.into_any()
                    })
                    .collect_view()
            })}
        </div>
    }
}
