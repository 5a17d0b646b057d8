//! Tabs as links: the URL contains the open tab.

use crate::reactive::prelude::*;
use leptos::html;
use web_sys::Element;

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

/// Shows a row of tabs. On a phone it scrolls to the open one.
#[component]
pub fn Tabs(
    /// The label of the row.
    label: &'static str,
    /// The tabs.
    tabs: Vec<Tab>,
) -> impl IntoView {
    let node: NodeRef<html::Nav> = NodeRef::new();
    let open: Vec<Signal<bool>> = tabs.iter().map(|tab| tab.is_open).collect();
    Effect::new(move || {
        for is_open in &open {
            let _ = is_open.get();
        }
        if let Some(row) = node.get() {
            request_animation_frame(move || show_open_tab(&row));
        }
    });
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
        <nav class="tabs" aria-label=label node_ref=node>
            <ul>{tabs}</ul>
        </nav>
    }
}

/// Scrolls the row of tabs, which may be wider than a phone, to the open one.
fn show_open_tab(row: &Element) {
    if let Ok(Some(open)) = row.query_selector(".tab[aria-current]") {
        let (around, tab) = (row.get_bounding_client_rect(), open.get_bounding_client_rect());
        let off_px = tab.left() - around.left() - (around.width() - tab.width()) / 2.0;
        row.set_scroll_left(row.scroll_left() + off_px as i32);
    }
}
