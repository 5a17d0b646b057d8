//! Tabs as links: the URL contains the open tab.

use crate::reactive::prelude::*;

/// A tab.
#[derive(Clone)]
pub struct Tab {
    /// The link.
    pub href: Signal<String>,
    /// The label.
    pub label: &'static str,
    /// The number of items in the tab.
    pub count: Signal<Option<String>>,
    /// Whether the tab is open.
    pub is_open: Signal<bool>,
}

/// Shows a row of tabs.
#[component]
pub fn Tabs(
    /// The label of the row.
    label: &'static str,
    /// The tabs.
    tabs: Vec<Tab>,
) -> impl IntoView {
    let tabs = tabs
        .into_iter()
        .map(|tab| {
            view! {
                <li>
                    <a class="tab" href=tab.href aria-current=attr(move || tab.is_open.get().then_some("true"))>
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
