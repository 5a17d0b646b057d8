//! Remembers the list while another page is shown, so that the reader finds it unchanged on return.

use super::order::Order;
use super::query::Query;
use super::scroll::scroll_top;
use super::snapshot::Snapshot;
use crate::reactive::prelude::*;

/// The list's last state, for as long as the tab lives.
#[derive(Clone, Copy)]
pub struct Memory(StoredValue<Option<Snapshot>>);

impl Memory {
    /// Provides itself to all components below.
    pub fn provide() {
        provide_context(Self(StoredValue::new(None)));
    }

    /// Deletes the stored list, because the next person may see other data.
    pub fn clear(self) {
        self.0.set_value(None);
    }
}

/// Returns the stored list.
pub(super) fn recall() -> Option<Snapshot> {
    use_context::<Memory>().and_then(|memory| memory.0.get_value())
}

/// Stores the list when its page is removed. The scroll position is read earlier, while the list is in the document.
pub(super) fn keep(query: Query, order: Order) {
    let Some(memory) = use_context::<Memory>() else { return };
    let scroll_px = StoredValue::new(0);
    // Every navigation away from the list starts with one of these events.
    let clicked = window_event_listener(leptos::ev::pointerdown, move |_| scroll_px.set_value(scroll_top()));
    let pressed = window_event_listener(leptos::ev::keydown, move |_| scroll_px.set_value(scroll_top()));
    on_cleanup(move || {
        clicked.remove();
        pressed.remove();
        let answer = query.live.data().try_get_untracked().flatten();
        let (route, shown) = (query.route.try_get_untracked(), order.shown_untracked());
        if let (Some(answer), Some(route), Some(shown)) = (answer, route, shown) {
            let snapshot = Snapshot {
                answer,
                route,
                shown,
                cursor: order.cursor(),
                scroll_px: scroll_px.try_get_value().unwrap_or(0),
            };
            memory.0.set_value(Some(snapshot));
        }
    });
}
