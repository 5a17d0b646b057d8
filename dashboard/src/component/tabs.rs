//! Tabs that are links: which one is open stands in the URL.

use crate::reactive::prelude::*;

/// A tab.
#[derive(Clone)]
pub struct Tab {
    /// Where it leads.
    pub href: Signal<String>,
    /// Its name.
    pub label: &'static str,
    /// How many things are behind it.
    pub count: Signal<Option<String>>,
    /// Whether it is the open one.
    pub here: Signal<bool>,
}

/// A row of tabs.
#[component]
pub fn Tabs(
    /// What they are tabs of.
    label: &'static str,
    /// The tabs.
    tabs: Vec<Tab>,
) -> impl IntoView {
    let tabs = tabs
        .into_iter()
        .map(|tab| {
            view! {
                <li>
                    <a class="tab" href=tab.href aria-current=attr(move || tab.here.get().then_some("true"))>
                        {tab.label}
                        <span class="tab-count">{part(move || tab.count.get())}</span>
                    </a>
                </li>
            }
            .into_any()
        })
        .collect_view();
    view! {
        <nav class="tabs" aria-label=label>
            <ul>{tabs}</ul>
        </nav>
    }
}
