//! The rows on the screen and their order. The order changes only when the reader asks for it, or does not use the list.

use super::query::Query;
use super::scroll::{focus_row, focused_row, frame, is_idle};
use super::snapshot::Snapshot;
use crate::reactive::prelude::*;
use dashboard_model::pending::Pending;
use dashboard_model::route::GroupsRoute;
use domain::id::GroupId;
use std::collections::HashMap;
use wire::{GroupRow, GroupsAnswer};

/// The rows and their order. Each row is a signal, so that values change in place while the order stays.
#[derive(Clone, Copy)]
pub(super) struct Order {
    rows: StoredValue<HashMap<GroupId, ArcRwSignal<GroupRow>>>,
    shown: RwSignal<Vec<GroupId>>,
    pending: RwSignal<Pending>,
    cursor: RwSignal<Option<GroupId>>,
    restore: StoredValue<Option<Snapshot>>,
    /// Whether the first answer after a return to the list has not come yet.
    is_back: StoredValue<bool>,
}

impl Order {
    /// Restores the list as the reader left it: always its rows, and its order and position if the URL is the same.
    pub fn new(snapshot: Option<Snapshot>, route: &GroupsRoute) -> Self {
        let same = snapshot.as_ref().filter(|snapshot| snapshot.route == *route);
        let (shown, cursor) = same.map(|same| (same.shown.clone(), same.cursor.clone())).unwrap_or_default();
        let order = Self {
            rows: StoredValue::new(HashMap::new()),
            shown: RwSignal::new(shown),
            pending: RwSignal::new(Pending::default()),
            cursor: RwSignal::new(cursor),
            restore: StoredValue::new(same.cloned()),
            is_back: StoredValue::new(snapshot.is_some()),
        };
        // Not deferred to the effect below: a row that is rendered before its value is known would stay empty.
        if let Some(snapshot) = &snapshot {
            order.update_rows(&snapshot.answer);
        }
        order
    }

    /// Applies each answer, and follows the reader's choices.
    pub fn follow(self, query: Query) {
        Effect::new(move |before: Option<(GroupsRoute, String)>| {
            let asked = (query.route.get(), query.typed.get());
            query.live.data().with(|answer| {
                let Some(answer) = answer else { return };
                self.update_rows(answer);
                let wanted = query.ids(answer);
                let is_new_query = before.as_ref().is_some_and(|before| *before != asked);
                // The reader left the list and came back: the order may have changed meanwhile, and is shown as it is now.
                let is_free = is_new_query || self.is_back.get_value() || is_idle();
                if is_free || self.shown.with_untracked(Vec::is_empty) {
                    self.set(wanted);
                } else {
                    self.pending.set(self.shown.with_untracked(|shown| Pending::between(shown, &wanted)));
                }
            });
            asked
        });
        Effect::new(move || {
            if query.live.pulse().beats().is_some() {
                self.is_back.set_value(false);
            }
        });
    }

    /// Shows new rows, in the current order.
    pub fn show_new(self, query: Query) {
        query.live.data().with_untracked(|answer| {
            if let Some(answer) = answer {
                self.set(query.ids(answer));
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

    fn update_rows(self, answer: &GroupsAnswer) {
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

    /// Returns a row. A row that is no longer in the answer keeps its last values.
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

    /// Moves cursor and focus by some rows. If no row has the focus, a single step focuses the row at the cursor.
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

    /// Restores scroll position and focus after a return to the list.
    pub fn restore(self) {
        let Some(snapshot) = self.restore.try_update_value(Option::take).flatten() else { return };
        request_animation_frame(move || {
            if let Some(frame) = frame() {
                frame.set_scroll_top(snapshot.scroll_px);
                window().scroll_to_with_x_and_y(0.0, f64::from(snapshot.scroll_px));
            }
            if let Some(cursor) = snapshot.cursor
                && let Some(at) = self.shown.with_untracked(|shown| shown.iter().position(|id| *id == cursor))
            {
                focus_row(at, cursor);
            }
        });
    }
}
