//! A number with its subject; a link where there is a list behind it.

use crate::reactive::prelude::*;

/// A number.
#[component]
pub fn Stat(
    /// The list behind it.
    #[prop(optional, into)]
    href: Option<String>,
    /// What is counted.
    #[prop(into)]
    label: Signal<String>,
    /// How it is coloured: empty, `danger`, `warn`, `info`.
    #[prop(optional, into)]
    tone: Signal<&'static str>,
    /// The number.
    children: Children,
) -> impl IntoView {
    let inner = view! {
        <span class="stat-value">{children()}</span>
        " "
        <span class="stat-label">{label}</span>
    };
    let class = move || match tone.get() {
        "" => "stat".to_string(),
        tone => format!("stat tone-{tone}"),
    };
    match href {
        Some(href) => view! { <a class=attr(class) href=href>{inner}</a> }.into_any(),
        None => view! { <span class=attr(class)>{inner}</span> }.into_any(),
    }
}
