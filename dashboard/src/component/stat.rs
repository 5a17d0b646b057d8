//! A number with its label, optionally a link.

use crate::reactive::prelude::*;

/// Shows a number.
#[component]
pub fn Stat(
    /// The link to the counted items.
    #[prop(optional, into)]
    href: Option<String>,
    /// The label.
    #[prop(into)]
    label: Signal<String>,
    /// The tone: empty, `danger`, `warn` or `info`.
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
