//! What the list remembers while another page is shown, so that coming back finds it as it was left.

use super::Shared;
use super::order::scroll_top;
use crate::reactive::prelude::*;
use dashboard_model::route::GroupsRoute;
use domain::id::GroupId;
use wire::GroupsAnswer;

/// The list as it was left.
#[derive(Clone)]
pub(super) struct Left {
    pub answer: GroupsAnswer,
    pub place: GroupsRoute,
    pub shown: Vec<GroupId>,
    pub cursor: Option<GroupId>,
    pub scroll_px: i32,
}

/// Where it is remembered, for as long as the tab lives.
#[derive(Clone, Copy)]
pub struct Memory(StoredValue<Option<Left>>);

impl Memory {
    /// Provides itself to everything below.
    pub fn provide() {
        provide_context(Self(StoredValue::new(None)));
    }

    /// Forgets: another person signed in.
    pub fn forget(self) {
        self.0.set_value(None);
    }
}

pub(super) fn recall() -> Option<Left> {
    use_context::<Memory>().and_then(|memory| memory.0.get_value())
}

/// Remembers the list when its page goes. What the DOM knows is noted while it is still there.
pub(super) fn keep(shared: Shared) {
    let Some(memory) = use_context::<Memory>() else { return };
    let scroll_px = StoredValue::new(0);
    // Every way out of the list begins with one of these.
    let clicked = window_event_listener(leptos::ev::pointerdown, move |_| scroll_px.set_value(scroll_top()));
    let pressed = window_event_listener(leptos::ev::keydown, move |_| scroll_px.set_value(scroll_top()));
    on_cleanup(move || {
        clicked.remove();
        pressed.remove();
        let answer = shared.live.data().try_get_untracked().flatten();
        let (place, shown) = (shared.place.try_get_untracked(), shared.order.shown_untracked());
        if let (Some(answer), Some(place), Some(shown)) = (answer, place, shown) {
            let left = Left {
                answer,
                place,
                shown,
                cursor: shared.order.cursor(),
                scroll_px: scroll_px.try_get_value().unwrap_or(0),
            };
            memory.0.set_value(Some(left));
        }
    });
}
