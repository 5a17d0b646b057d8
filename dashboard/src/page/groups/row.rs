//! One group in the list. Its values change in place; the row itself is made once.

use super::order::{Order, row_id};
use crate::clock;
use crate::component::{Age, Loss, MoneyText, Spark, StepPill};
use crate::model::money::{count, count_of};
use crate::model::when::{Urgency, urgency};
use crate::model::words;
use crate::route::Route;
use domain::id::GroupId;
use domain::wire::{GroupRow, NextStep};
use leptos::prelude::*;

/// A row. The whole of it is its one link, so that it opens in a new tab like any other.
#[component]
pub(super) fn Row(
    id: GroupId,
    row: ArcRwSignal<GroupRow>,
    order: Order,
    /// Its place in the table, the header being 1.
    index: Signal<usize>,
) -> impl IntoView {
    let row = RwSignal::from(row);
    let part = move |read: fn(&GroupRow) -> u64| Signal::derive(move || row.with(read));
    let letters = part(|row| row.open.letters.max(0).unsigned_abs());
    let last_hour = part(|row| row.arrivals_last_hour);
    let tally = Memo::new(move |_| row.with(|row| row.open.clone()));
    let arrivals = Memo::new(move |_| row.with(|row| row.arrivals.clone()));
    let step = Memo::new(move |_| row.with(|row| row.next.clone()));
    let growing = Memo::new(move |_| step.get() == NextStep::Growing);
    let class = Memo::new(move |_| {
        row.with(|row| (words::class(row.class()), words::category(row.classification.category)))
    });
    // The link lies over the whole row, so its title is the only one that a pointer ever sees.
    let told = move || {
        row.with(|row| {
            let place = row.culprit.as_ref().map(|place| format!("\n{place}")).unwrap_or_default();
            format!("{}{place}\n{}", row.title, row.classification.reason)
        })
    };
    let oldest = Signal::derive(move || row.with(|row| row.oldest_sent_at));
    let loss = Signal::derive(move || row.with(|row| row.loss_at));
    let (cursor_id, focus_id) = (id.clone(), id.clone());
    let is_cursor = Memo::new(move |_| order.is_cursor(&cursor_id));
    let letters_word = move || if letters.get() == 1 { " letter" } else { " letters" };
    let overdue = Memo::new(move |_| loss.get().is_some_and(|at| urgency(at, clock::ticking()) == Urgency::Passed));
    let to_loss = move || (loss.get().is_some() && !overdue.get()).then_some(" to loss");
    view! {
        <div role="row" class="row" class:row-cursor=is_cursor aria-rowindex=move || index.get().to_string()
            on:focusin=move |_| order.set_cursor(&focus_id)>
            <div role="cell" class="cell-error">
                <a class="row-link" id=row_id(&id) href=Route::group(&id).to_string() title=told>
                    {move || row.with(|row| row.title.clone())}
                </a>
                <span class="row-sub">
                    <b>{move || row.with(|row| row.queue.clone())}</b>
                    {move || row.with(|row| row.consumer.as_ref().map(|name| format!(" · {name}")))}
                    {move || row.with(|row| row.culprit.as_ref().map(|place| format!(" · {place}")))}
                </span>
            </div>
            <div role="cell" class="cell-class">
                <span>{move || class.get().0}</span>
                <span class="row-sub">{move || (class.get().0 != class.get().1).then_some(class.get().1)}</span>
            </div>
            <div role="cell" class="cell-spark">
                <Spark values=arrivals last_hour growing />
                <span class="per-hour" class:per-hour-growing=growing aria-hidden="true">
                    {move || (last_hour.get() > 0).then(|| format!("+{}/h", count(last_hour.get())))}
                </span>
            </div>
            <div role="cell" class="cell-letters">
                {move || count(letters.get())}<span class="narrow-word">{letters_word}</span>
            </div>
            <div role="cell" class="cell-risk"><MoneyText of=tally /></div>
            <div role="cell" class="cell-customers">{move || row.with(|row| count(row.customers))}</div>
            <div role="cell" class="cell-age"><Age since=oldest /></div>
            <div role="cell" class="cell-loss"><Loss at=loss /><span class="narrow-word">{to_loss}</span></div>
            <div role="cell" class="cell-step">
                <StepPill step />
                {move || row.with(|row| (row.in_replay > 0).then(|| {
                    view! { <span class="row-sub">{count_of(row.in_replay)}" in replay"</span> }
                }))}
            </div>
        </div>
    }
}
