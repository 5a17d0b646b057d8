//! The numbers above the list, each a link to the rows behind it, and the worst group by name.

use crate::clock;
use crate::component::{Age, Loss, MoneyText, Stat};
use crate::model::money::{amount, by_size, count, count_of};
use crate::model::sort::Sort;
use crate::model::view::View;
use crate::model::when::{Urgency, urgency};
use crate::model::words::{self, Tone};
use crate::poll::Live;
use crate::route::{GroupsPlace, Route};
use domain::group::Tally;
use domain::wire::{GroupsAnswer, Summary as Numbers};
use leptos::prelude::*;

fn link(view: View, sort: Sort) -> String {
    Route::Groups(GroupsPlace { view, sort, ..GroupsPlace::default() }).to_string()
}

/// How many grow, how many letters wait, what is at risk, how old, how long yet, how many replays.
#[component]
pub(super) fn Summary(live: Live<GroupsAnswer>) -> impl IntoView {
    let numbers = live.part(|answer| answer.summary.clone());
    let of = move |read: fn(&Numbers) -> u64| Signal::derive(move || numbers.with(|n| n.as_ref().map_or(0, read)));
    let growing = of(|n| n.growing);
    let letters = of(|n| n.open_letters.max(0).unsigned_abs());
    let replays = of(|n| n.replays);
    let oldest = Signal::derive(move || numbers.with(|n| n.as_ref().and_then(|n| n.oldest_sent_at)));
    let loss = Signal::derive(move || numbers.with(|n| n.as_ref().and_then(|n| n.loss_at)));
    let tally = live.part(|answer| {
        let mut sum = Tally::default();
        for row in &answer.groups {
            sum.add(&row.open);
        }
        // The office's own sum counts; the rows only say whether every letter carries a price.
        sum.money = answer.summary.money.clone();
        sum
    });
    let tally = Signal::derive(move || tally.get().unwrap_or_default());
    let loss_tone = Signal::derive(move || match loss.get().map(|at| urgency(at, clock::ticking())) {
        Some(Urgency::Passed | Urgency::Now) => "danger",
        Some(Urgency::Soon) => "warn",
        _ => "",
    });
    let loss_label = move || match loss.get().map(|at| urgency(at, clock::ticking())) {
        Some(Urgency::Passed) => "first loss",
        _ => "to first loss",
    }
    .to_string();
    let growing_tone = Signal::derive(move || if growing.get() > 0 { "danger" } else { "" });
    let replays_tone = Signal::derive(move || if replays.get() > 0 { "info" } else { "" });
    let letters_label = move || if letters.get() == 1 { "letter waiting" } else { "letters waiting" }.to_string();
    let replays_label = move || if replays.get() == 1 { "replay under way" } else { "replays under way" }.to_string();
    view! {
        <div class="numbers" role="group" aria-label="All groups">
            <Stat href=link(View::Growing, Sort::Attention) label="growing now" tone=growing_tone>
                {move || count(growing.get())}
            </Stat>
            <Stat href=link(View::Open, Sort::Letters) label=Signal::derive(letters_label)>
                {move || count(letters.get())}
            </Stat>
            <Stat href=link(View::Open, Sort::Risk) label="revenue at risk"><MoneyText of=tally /></Stat>
            <Stat href=link(View::Open, Sort::Age) label="oldest letter"><Age since=oldest /></Stat>
            <Stat href=link(View::Open, Sort::Loss) label=Signal::derive(loss_label) tone=loss_tone><Loss at=loss /></Stat>
            <Stat href=Route::Replays.to_string() label=Signal::derive(replays_label) tone=replays_tone>
                {move || count(replays.get())}
            </Stat>
        </div>
    }
}

/// The first group in the order of attention, if it is one that cannot wait.
#[component]
pub(super) fn Worst(live: Live<GroupsAnswer>) -> impl IntoView {
    let worst = live.part(|answer| {
        let row = answer.groups.first()?;
        let (tone, _) = words::step(&row.next);
        (tone == Tone::Danger).then(|| {
            let letters = format!("{} letters", count_of(row.open.letters));
            let money = by_size(&row.open.money).first().map_or(letters, |sum| amount(sum).text());
            (Route::group(&row.id).to_string(), row.title.clone(), row.next.label(), money)
        })
    });
    move || {
        worst.get().flatten().map(|(href, title, step, money)| {
            view! {
                <a class="worst tone-danger" href=href>
                    <b>"Worst now"</b>
                    <span class="worst-title">{title}</span>
                    <span class="worst-more">{step}", "{money}</span>
                </a>
            }
        })
    }
}
