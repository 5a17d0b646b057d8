//! One group in the list. The row is rendered once, and its values change in place.

use super::order::Order;
use super::scroll::row_id;
use crate::component::{Age, Loss, MoneyText, Spark, StepPill};
use crate::reactive::prelude::*;
use dashboard_model::money::{count, count_signed, customers};
use dashboard_model::route::Route;
use dashboard_model::words;
use domain::id::GroupId;
use wire::{GroupRow, NextStep};

/// Shows a row. Its link covers the whole row, so that it can be opened in a new tab.
#[component]
pub(super) fn Row(
    id: GroupId,
    row: ArcRwSignal<GroupRow>,
    order: Order,
    /// The row's index in the table, where the header is 1.
    index: Memo<usize>,
) -> impl IntoView {
    let (cursor_id, focus_id) = (id.clone(), id.clone());
    let class = move || if order.is_cursor(&cursor_id) { "row row-cursor" } else { "row" };
    // One closure for all cells: a changed row is patched in place, and each closure adds to the download.
    view! {
        <div role="row" class=attr(class) aria-rowindex=attr(move || index.get().to_string())
            on:focusin=on(move |_| order.set_cursor(&focus_id))>
            {part(move || row.with(cells))}
        </div>
    }
}

fn cells(row: &GroupRow) -> impl IntoView + use<> {
    let growing = row.next == NextStep::Growing;
    let letters = row.open.letters;
    let is_resolved = row.next == NextStep::Resolved;
    let per_hour = if row.arrivals_last_hour > 0 && !is_resolved {
        format!("+{} in 1 h", count(row.arrivals_last_hour))
    } else {
        String::new()
    };
    let total = Signal::stored(row.about);
    view! {
        <div role="cell" class="cell-error">
            <a class="row-link" id=row_id(&row.id) href=Route::group(&row.id).to_string() title=tooltip(row)>
                {row.title.clone()}
            </a>
            <span class="row-sub"><b>{row.queue.clone()}</b>{subtitle(row)}</span>
        </div>
        <div role="cell" class="cell-class">
            <span>{words::classified(&row.classification)}</span>
            <span class="row-sub">{words::beside_class(row)}</span>
        </div>
        <div role="cell" class="cell-spark">
            <Spark values=row.arrivals.clone() last_hour=row.arrivals_last_hour growing />
            <span class=if growing { "per-hour per-hour-growing" } else { "per-hour" } aria-hidden="true">{per_hour}</span>
        </div>
        <div role="cell" class="cell-letters">
            {count_signed(letters)}<span class="narrow-word">{if letters == 1 { " letter" } else { " letters" }}</span>
        </div>
        <div role="cell" class="cell-risk"><MoneyText tally=row.open.clone() total /></div>
        <div role="cell" class="cell-customers">{customers(row.customers)}</div>
        <div role="cell" class="cell-age"><Age since=row.oldest_sent_at /></div>
        <div role="cell" class="cell-loss"><Loss at=row.loss_at /><span class="narrow-word loss-word">" to expiry"</span></div>
        <div role="cell" class="cell-step">
            <StepPill step=row.next.clone() />
            <span class="row-sub">{beside_step(row)}</span>
        </div>
    }
}

/// Returns what the next step is about: what blocks it, how fast the group grows, what is in a replay; and the owner.
fn beside_step(row: &GroupRow) -> String {
    let about = match (&row.next, &row.blocked) {
        (_, Some(blocked)) => Some(blocked.clone()),
        (NextStep::Growing, _) => Some(format!("{} in 15 min", count(row.arrivals_recent))),
        _ if row.in_replay > 0 => Some(format!("{} in replay", count_signed(row.in_replay))),
        _ => None,
    };
    [row.owner.clone(), about].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns what stands behind the queue. A consumer that is called like its queue says nothing more.
fn subtitle(row: &GroupRow) -> String {
    let consumer = row.consumer.as_ref().filter(|consumer| **consumer != row.queue);
    [consumer, row.culprit.as_ref()].into_iter().flatten().map(|part| format!(" · {part}")).collect()
}

/// Returns the tooltip of the link, which covers the whole row and hides all other tooltips.
fn tooltip(row: &GroupRow) -> String {
    let culprit = row.culprit.as_ref().map(|culprit| format!("\n{culprit}")).unwrap_or_default();
    let blocked = row.blocked.as_ref().map(|blocked| format!("\nBlocked: {blocked}")).unwrap_or_default();
    format!("{}{culprit}\n{}{blocked}", row.title, row.classification.reason)
}
