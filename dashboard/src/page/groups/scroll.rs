//! The list's elements in the document: scroll position and focus.

use crate::reactive::prelude::*;
use domain::id::GroupId;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// The ID of the element that scrolls.
pub(super) const FRAME: &str = "list-frame";

/// Returns the element that scrolls.
pub(super) fn frame() -> Option<HtmlElement> {
    document().get_element_by_id(FRAME)?.dyn_into().ok()
}

/// Returns the scroll position: of the list's frame on large screens, of the page on small ones.
pub(super) fn scroll_top() -> i32 {
    let page = window().scroll_y().unwrap_or(0.0) as i32;
    frame().map_or(0, |frame| frame.scroll_top()).max(page)
}

/// Returns whether the list may be reordered: it has neither focus nor pointer, and is not scrolled.
pub(super) fn is_idle() -> bool {
    let Some(frame) = frame() else { return true };
    let in_use = frame.matches(":hover").unwrap_or(false) || frame.matches(":focus-within").unwrap_or(false);
    !in_use && scroll_top() == 0
}

/// Returns the row that has the focus.
pub(super) fn focused_row() -> Option<HtmlElement> {
    let focused = document().active_element()?;
    focused.closest(".row").ok().flatten()?.dyn_into().ok()
}

/// Returns the ID of a row's link.
pub(super) fn row_id(id: &GroupId) -> String {
    format!("row-{id}")
}

/// Focuses a row's link. A row outside the document is scrolled into view first.
pub(super) fn focus_row(index: usize, id: GroupId) {
    let focus = move || {
        let link = document().get_element_by_id(&row_id(&id)).and_then(|link| link.dyn_into::<HtmlElement>().ok());
        link.is_some_and(|link| link.focus().is_ok())
    };
    if focus() {
        return;
    }
    if let Some(frame) = frame() {
        let row_px = document().query_selector(".row").ok().flatten().map_or(52, |row| row.client_height());
        let target = row_px * i32::try_from(index).unwrap_or(i32::MAX / 100);
        frame.set_scroll_top(target);
        // One frame for the scroll event, one for the rows to be rendered.
        request_animation_frame(move || {
            request_animation_frame(move || {
                focus();
            });
        });
    }
}
