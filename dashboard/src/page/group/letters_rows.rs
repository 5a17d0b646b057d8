//! The table of letters: its headings, and the rows near the viewport.

use super::chosen::Chosen;
use super::current::CurrentGroup;
use super::letters_table::{Headings, line};
use crate::page::viewport::{follow, window_px};
use crate::reactive::prelude::*;
use dashboard_model::letter_order::LetterOrder;
use dashboard_model::window::{self, Viewport};
use domain::filter::LetterFilter;
use domain::id::LetterId;
use leptos::html;
use std::ops::Range;
use wire::LetterRow;

/// Shows the letters. Of a long list only those near the viewport are in the document.
#[component]
pub(super) fn Rows(
    current: CurrentGroup,
    shown: Memo<Vec<LetterRow>>,
    /// Whether the list has more letters than these.
    #[prop(into)]
    has_more: Signal<bool>,
    order: Memo<LetterOrder>,
    filter: StoredValue<LetterFilter>,
    chosen: Chosen,
) -> impl IntoView {
    let body: NodeRef<html::Tbody> = NodeRef::new();
    let viewport = RwSignal::new(Viewport::default());
    let count = shown.map(Vec::len);
    let window = Memo::new(move |_| window::range(count.get(), viewport.get(), window::LETTERS));
    watch_viewport(body, viewport, count, window);
    let near = move || shown.with(|shown| shown.get(window.get()).unwrap_or_default().to_vec());
    // The index of the heading is 1. The number of rows is unknown until all letters are loaded.
    let row_count = move || if has_more.get() { "-1".to_string() } else { (count.get() + 1).to_string() };
    view! {
        <table class="rows" aria-rowcount=attr(row_count)>
            <Headings chosen order />
            <tbody node_ref=body>
                {gap(viewport, Memo::new(move |_| window.get().start))}
                <For each=near key=|row| (row.id.clone(), row.deaths, row.replays, row.state.kind())
                    children=move |row| {
                        let index = row_index(row.id.clone(), shown, window);
                        line(current, row, filter.get_value(), chosen, index)
                    } />
                {gap(viewport, Memo::new(move |_| count.get().saturating_sub(window.get().end)))}
            </tbody>
        </table>
    }
}

/// Shows the space of rows that are not in the document.
fn gap(viewport: RwSignal<Viewport>, rows: Memo<usize>) -> AnyView {
    part(move || {
        let px = viewport.get().row_px * rows.get() as f64;
        (px > 0.0).then(|| {
            view! { <tr class="gap" aria-hidden="true"><td colspan="10" style:height=format!("{px:.0}px")></td></tr> }.into_any()
        })
    })
}

/// Returns a row's index in the table. Searches only the rows near the viewport.
fn row_index(id: LetterId, shown: Memo<Vec<LetterRow>>, window: Memo<Range<usize>>) -> Memo<usize> {
    Memo::new(move |_| {
        let window = window.get();
        let at = shown.with(|shown| shown.get(window.clone())?.iter().position(|row| row.id == id));
        window.start + at.unwrap_or_default() + 2
    })
}

/// Keeps the viewport up to date. Rows have different heights: their average is measured once for each width of the table.
fn watch_viewport(
    body: NodeRef<html::Tbody>,
    viewport: RwSignal<Viewport>,
    count: Memo<usize>,
    window: Memo<Range<usize>>,
) {
    let width = StoredValue::new(0.0);
    let measure = move || {
        let Some(Some(body)) = body.try_get_untracked() else { return };
        let (Some(before), Some(count), Some(window)) =
            (viewport.try_get_untracked(), count.try_get_untracked(), window.try_get_untracked())
        else {
            return;
        };
        let list = body.get_bounding_client_rect();
        let is_same_width = width.get_value() == list.width();
        width.set_value(list.width());
        let row_px = match before.row_px {
            px if px > 0.0 && is_same_width => px,
            _ => before.average_px(list.height(), window.len(), count.saturating_sub(window.len())),
        };
        let now = Viewport { above_px: (-list.top()).max(0.0), height_px: window_px(), row_px };
        if before != now {
            viewport.try_set(now);
        }
    };
    // Rows that come later move the end of the list, and may be the first.
    follow(move || count.get() > 0 && body.get().is_some(), measure);
}
