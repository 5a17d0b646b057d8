//! The figures above the list, each a link to its rows, and the worst group.

use super::query::Query;
use crate::clock;
use crate::component::{Age, Loss, MoneyText, Stat};
use crate::poll::Live;
use crate::reactive::prelude::*;
use dashboard_model::money::{about, amount, by_size, count, count_signed};
use dashboard_model::replays::Show as Replays;
use dashboard_model::route::{GroupsRoute, Route};
use dashboard_model::sort::Sort;
use dashboard_model::view::View;
use dashboard_model::when::{Urgency, urgency};
use dashboard_model::words::{self, Tone};
use domain::group::Tally;
use wire::{GroupsAnswer, Summary as Numbers};

fn link(view: View, sort: Sort) -> String {
    Route::Groups(GroupsRoute { view, sort, ..GroupsRoute::default() }).to_string()
}

/// Shows growing groups, waiting letters, money at risk, oldest letter, first expiry, and active replays.
#[component]
pub(super) fn Summary(live: Live<GroupsAnswer>) -> impl IntoView {
    let numbers = live.part(|answer| answer.summary.clone());
    part(move || numbers.get().map(shown))
}

fn shown(numbers: Numbers) -> impl IntoView {
    let tally = Tally { letters: numbers.open_letters, priced: numbers.priced_letters, money: numbers.money.clone() };
    let total = Signal::stored(numbers.about);
    let (growing, replays) = (numbers.growing, numbers.replays);
    let letters = numbers.open_letters.max(0).unsigned_abs();
    let loss = numbers.loss_at;
    // Apart from the oldest letter's age, only this figure changes with time.
    let loss_urgency = Memo::new(move |_| loss.map(|at| urgency(at, clock::ticking())));
    let loss_tone = Signal::derive(move || match loss_urgency.get() {
        Some(Urgency::Passed | Urgency::Now) => "danger",
        Some(Urgency::Soon) => "warn",
        _ => "",
    });
    let has_expired = move || loss_urgency.get() == Some(Urgency::Passed);
    // The office may have counted a moment before the first expiry.
    let expired = numbers.expired.max(1);
    let loss_label =
        Signal::derive(move || if has_expired() { "with expired letters" } else { "to first expiry" }.to_string());
    let tone = |n: u64, tone: &'static str| if n > 0 { tone } else { "" };
    view! {
        <div class="numbers" role="group" aria-label="All groups">
            <Stat href=link(View::Growing, Sort::Attention) label="growing now" tone=tone(growing, "danger")>
                {count(growing)}
            </Stat>
            <Stat href=link(View::Open, Sort::Letters)
                label=if letters == 1 { "open letter" } else { "open letters" }>
                {count(letters)}
            </Stat>
            <Stat href=link(View::Open, Sort::Risk) label="at risk"><MoneyText tally total /></Stat>
            <Stat href=link(View::Open, Sort::Age) label="oldest letter"><Age since=numbers.oldest_sent_at /></Stat>
            <Stat href=link(View::Open, Sort::Loss) label=loss_label tone=loss_tone>
                <Show when=has_expired fallback=move || view! { <Loss at=loss /> }>{count(expired)}</Show>
            </Stat>
            <Stat href=Route::Replays(Replays::All).to_string() tone=tone(replays, "info")
                label=if replays == 1 { "replay in progress" } else { "replays in progress" }>
                {count(replays)}
            </Stat>
        </div>
    }
}

/// Shows the first group in attention order, if it is urgent.
#[component]
pub(super) fn Worst(query: Query) -> impl IntoView {
    // The list begins with it. A phone's screen is too small to say it twice.
    let is_first = move || query.route.with(|route| *route == GroupsRoute::default());
    let worst = query.live.part(|answer| {
        // In another order, or behind a filter, the first row of a part is not the worst.
        let row = answer.groups.first().filter(|_| answer.total <= answer.groups.len() as u64)?;
        let (tone, _) = words::step(&row.next);
        (tone == Tone::Danger).then(|| {
            let letters = format!("{} letters", count_signed(row.open.letters));
            let money = match (&row.about, by_size(&row.open.money).first()) {
                (Some(total), Some(_)) if row.open.money.sums() != [*total] => about(total),
                (_, Some(sum)) => amount(sum).text(),
                (_, None) => letters,
            };
            (Route::group(&row.id).to_string(), row.title.clone(), row.next.label(), money)
        })
    });
    part(move || {
        worst.get().flatten().map(|(href, title, step, money)| {
            view! {
                <a class="worst tone-danger" class:worst-first=is_first href=href>
                    <b>"Worst now"</b>
                    <span class="worst-title">{title}</span>
                    <span class="worst-more">{step}", "{money}</span>
                </a>
            }
            .into_any()
        })
    })
}
