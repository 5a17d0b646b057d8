//! The rows on the screen and their order, which changes only when the person asks for it or is not looking closely.

use super::Shared;
use super::memory::Left;
use crate::clock;
use crate::reactive::prelude::*;
use dashboard_model::pending::Pending;
use dashboard_model::route::GroupsRoute;
use dashboard_model::sort::{Sort, sort};
use domain::id::GroupId;
use std::collections::HashMap;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use wire::{GroupRow, GroupsAnswer};

/// The id of the element that scrolls.
pub(super) const FRAME: &str = "list-frame";

/// The rows: each a signal, so that values change in place while the order stays.
#[derive(Clone, Copy)]
pub(super) struct Order {
    rows: StoredValue<HashMap<GroupId, ArcRwSignal<GroupRow>>>,
    shown: RwSignal<Vec<GroupId>>,
    pending: RwSignal<Pending>,
    cursor: RwSignal<Option<GroupId>>,
    restore: StoredValue<Option<Left>>,
}

impl Order {
    /// The list as it was left: its rows at once, its order and place only if the URL asks for the same.
    pub fn new(left: Option<Left>, place: &GroupsRoute) -> Self {
        let same = left.as_ref().filter(|left| left.place == *place);
        let (shown, cursor) = same.map(|left| (left.shown.clone(), left.cursor.clone())).unwrap_or_default();
        let order = Self {
            rows: StoredValue::new(HashMap::new()),
            shown: RwSignal::new(shown),
            pending: RwSignal::new(Pending::default()),
            cursor: RwSignal::new(cursor),
            restore: StoredValue::new(same.cloned()),
        };
        // Not left to the effect below: a row that is shown before it is known would stay empty.
        if let Some(left) = &left {
            order.take_in(&left.answer);
        }
        order
    }

    /// Takes each answer in, and follows what the person asks for.
    pub fn follow(self, shared: Shared) {
        Effect::new(move |before: Option<(GroupsRoute, String)>| {
            let asked = (shared.place.get(), shared.typed.get());
            shared.live.data().with(|answer| {
                let Some(answer) = answer else { return };
                self.take_in(answer);
                let wanted = wanted(answer, shared);
                let asked_anew = before.as_ref().is_some_and(|before| *before != asked);
                if asked_anew || self.shown.with_untracked(Vec::is_empty) || is_calm() {
                    self.set(wanted);
                } else {
                    self.pending.set(self.shown.with_untracked(|shown| Pending::between(shown, &wanted)));
                }
            });
            asked
        });
    }

    /// Shows what is new, in the order that it has now.
    pub fn show_new(self, shared: Shared) {
        shared.live.data().with_untracked(|answer| {
            if let Some(answer) = answer {
                self.set(wanted(answer, shared));
            }
        });
    }

    fn set(self, wanted: Vec<GroupId>) {
        if self.shown.with_untracked(|shown| *shown != wanted) {
            self.shown.set(wanted);
        }
        if !self.pending.with_untracked(Pending::is_none) {
            self.pending.set(Pending::default());
        }
    }

    fn take_in(self, answer: &GroupsAnswer) {
        self.rows.update_value(|rows| {
            for row in &answer.groups {
                match rows.get(&row.id) {
                    Some(signal) if signal.with_untracked(|known| known == row) => {}
                    Some(signal) => signal.set(row.clone()),
                    None => {
                        rows.insert(row.id.clone(), ArcRwSignal::new(row.clone()));
                    }
                }
            }
        });
    }

    pub fn shown(self) -> RwSignal<Vec<GroupId>> {
        self.shown
    }

    pub fn shown_untracked(self) -> Option<Vec<GroupId>> {
        self.shown.try_get_untracked()
    }

    pub fn pending(self) -> Pending {
        self.pending.get()
    }

    /// A row that was shown before but is not in the answer any more has its last values.
    pub fn row(self, id: &GroupId) -> Option<ArcRwSignal<GroupRow>> {
        self.rows.with_value(|rows| rows.get(id).cloned())
    }

    pub fn cursor(self) -> Option<GroupId> {
        self.cursor.try_get_untracked().flatten()
    }

    pub fn is_cursor(self, id: &GroupId) -> bool {
        self.cursor.with(|cursor| cursor.as_ref() == Some(id))
    }

    pub fn set_cursor(self, id: &GroupId) {
        if !self.cursor.with_untracked(|cursor| cursor.as_ref() == Some(id)) {
            self.cursor.set(Some(id.clone()));
        }
    }

    /// Moves the cursor by some rows and the focus with it; a first step stays on the row where the cursor is.
    pub fn step(self, by: isize) {
        let target = self.shown.with_untracked(|shown| {
            let last = shown.len().checked_sub(1)?;
            let at = self.cursor().and_then(|cursor| shown.iter().position(|id| *id == cursor));
            let to = match at {
                Some(at) if focused_row().is_none() && by.unsigned_abs() == 1 => at,
                Some(at) => at.saturating_add_signed(by).min(last),
                None => {
                    if by == isize::MAX {
                        last
                    } else {
                        0
                    }
                }
            };
            Some((to, shown[to].clone()))
        });
        if let Some((at, id)) = target {
            self.set_cursor(&id);
            focus_row(at, id);
        }
    }

    /// Puts scroll and focus back where they were when the list was left.
    pub fn restore(self) {
        let Some(left) = self.restore.try_update_value(Option::take).flatten() else { return };
        request_animation_frame(move || {
            if let Some(frame) = frame() {
                frame.set_scroll_top(left.scroll_px);
                window().scroll_to_with_x_and_y(0.0, f64::from(left.scroll_px));
            }
            if let Some(cursor) = left.cursor
                && let Some(at) = left.shown.iter().position(|id| *id == cursor)
            {
                focus_row(at, cursor);
            }
        });
    }
}

fn wanted(answer: &GroupsAnswer, shared: Shared) -> Vec<GroupId> {
    let (place, filter) = (shared.place.get_untracked(), untrack(|| shared.filter()));
    let now = clock::now();
    let mut rows: Vec<&GroupRow> =
        answer.groups.iter().filter(|row| place.view.has(row) && filter.matches(row, now)).collect();
    sort(&mut rows, place.sort, place.dir.unwrap_or(Sort::worst_first(place.sort)));
    rows.into_iter().map(|row| row.id.clone()).collect()
}

pub(super) fn frame() -> Option<HtmlElement> {
    document().get_element_by_id(FRAME)?.dyn_into().ok()
}

/// How far the list is scrolled: its own frame on large screens, the page on small ones.
pub(super) fn scroll_top() -> i32 {
    let page = window().scroll_y().unwrap_or(0.0) as i32;
    frame().map_or(0, |frame| frame.scroll_top()).max(page)
}

/// Whether a new order disturbs nobody: nothing in the list has the focus, nothing points at it, it is not scrolled.
fn is_calm() -> bool {
    let Some(frame) = frame() else { return true };
    let held = frame.matches(":hover").unwrap_or(false) || frame.matches(":focus-within").unwrap_or(false);
    !held && scroll_top() == 0
}

fn focused_row() -> Option<HtmlElement> {
    let focused = document().active_element()?;
    focused.closest(".row").ok().flatten()?.dyn_into().ok()
}

pub(super) fn row_id(id: &GroupId) -> String {
    format!("row-{id}")
}

/// Focuses a row's link; a row that is not in the document is scrolled to first.
fn focus_row(at: usize, id: GroupId) {
    let focus = move || {
        let link = document().get_element_by_id(&row_id(&id)).and_then(|link| link.dyn_into::<HtmlElement>().ok());
        link.is_some_and(|link| link.focus().is_ok())
    };
    if focus() {
        return;
    }
    if let Some(frame) = frame() {
        let row_px = document().query_selector(".row").ok().flatten().map_or(52, |row| row.client_height());
        let target = row_px * i32::try_from(at).unwrap_or(i32::MAX / 100);
        frame.set_scroll_top(target);
        // Two frames: one for the scroll to be seen, one for the rows to be there.
        request_animation_frame(move || {
            request_animation_frame(move || {
                focus();
            });
        });
    }
}
