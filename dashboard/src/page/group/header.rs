//! The header: what the group is, how bad it is, and what to do next.

use super::current::CurrentGroup;
use crate::clock;
use crate::component::{Age, At, Loss, MoneyText, Stat, StepPill};
use crate::reactive::prelude::*;
use dashboard_model::deployed::{growing, rolled_back, versions};
use dashboard_model::found::{last_failure, undated};
use dashboard_model::money::{self, count, count_signed};
use dashboard_model::offer::blocked_by;
use dashboard_model::words;
use domain::letter::LetterStateKind;
use wire::NextStep;

/// Shows the facts and figures below the title.
#[component]
pub(super) fn Header(current: CurrentGroup) -> impl IntoView {
    view! {
        <div class="group-head">
            <Facts current />
            <Stats current />
        </div>
    }
}

#[component]
fn Facts(current: CurrentGroup) -> impl IntoView {
    let row = current.part(|detail| {
        let row = &detail.row;
        (row.queue.clone(), row.classification.clone(), row.consumer.clone(), row.culprit.clone(), row.severity)
    });
    let version = current.part(|detail| versions(&detail.died_on, detail.deployment.as_ref()));
    let rolled_back = current.part(|detail| rolled_back(&detail.row.state, detail.deployment.as_ref()));
    // A fact among others, and no sentence of its own.
    let why = current.part(|detail| {
        let words = blocked_by(detail).or_else(|| growing(&detail.row))?;
        Some(words.trim_end_matches('.').to_string())
    });
    let next = current.part(|detail| detail.row.next.clone());
    let first = current.part(|detail| detail.row.first_died_at);
    let last = current.part(|detail| last_failure(&detail.counts));
    let undated = current.part(|detail| undated(&detail.counts));
    view! {
        <p class="facts">
            <StepPill step=next />
            {part(move || why.get().map(|words| view! { <span class="fact fact-why">{words}</span> }.into_any()))}
            {part(move || {
                let (queue, class, consumer, culprit, severity) = row.get();
                let consumer = consumer.map(|consumer| {
                    let version = version.get();
                    view! { <span class="fact">"consumer "<b>{consumer}</b>{version}</span> }.into_any()
                });
                let culprit = culprit.map(|culprit| view! { <span class="fact fact-more mono">{culprit}</span> }.into_any());
                view! {
                    <span class="fact">"queue "<b>{queue}</b></span>
                    <span class="fact">
                        {words::class_and_category(&class)}
                    </span>
                    {consumer}
                    {culprit}
                    <span class="fact fact-more">"severity "<b>{words::severity(severity)}</b></span>
                }.into_any()
            })}
            // Where failures at an unknown time are among them, nobody knows the first.
            {part(move || undated.get().is_none().then(|| view! { <span class="fact fact-more">"first failure "<At at=first /></span> }.into_any()))}
            {part(move || last.get().map(|last| view! {
                <span class="fact">{last.words()}<At at=Signal::stored(last.at) absolute={!last.is_known} /></span>
            }.into_any()))}
            {part(move || undated.get().map(|words| view! { <span class="fact">{words}</span> }.into_any()))}
            <span class="fact fact-more">
                {part(move || row.with(|(_, class, ..)| {
                    match class.confidence.as_pct() {
                        0 => "nothing known matched".to_string(),
                        pct => format!("{pct}% confidence, {}", class.reason),
                    }
                }))}
            </span>
        </p>
        {part(move || rolled_back.get().map(|words| view! { <p class="group-warning" role="status">{words}</p> }.into_any()))}
    }
}

#[component]
fn Stats(current: CurrentGroup) -> impl IntoView {
    let open = current.part(|detail| detail.row.open.clone());
    let total = current.part(|detail| detail.row.about);
    let customers = current.part(|detail| detail.row.customers);
    let oldest = current.part(|detail| detail.row.oldest_sent_at);
    let loss = current.part(|detail| detail.row.loss_at);
    let loss_label = Signal::derive(move || {
        let has_passed = loss.get().is_some_and(|at| clock::ticking() >= at);
        if has_passed { "letters" } else { "to expiry" }.to_string()
    });
    let last_hour = current.part(|detail| detail.row.arrivals_last_hour);
    let delivered = current.part(|detail| detail.row.delivered);
    let discarded = current.part(|detail| detail.row.discarded);
    let quarantined = current.part(|detail| detail.counts.tally(LetterStateKind::Quarantined).letters);
    let growing = current.part(|detail| matches!(detail.row.next, NextStep::Growing | NextStep::Regressed));
    let is_resolved = current.part(|detail| detail.row.next == NextStep::Resolved);
    // Without an open letter nothing waits, and nothing is lost.
    let has_open = move || open.with(|open| open.letters > 0);
    let letters = Signal::derive(move || {
        if open.with(|open| open.letters) == 1 { "open letter" } else { "open letters" }.to_string()
    });
    let people = Signal::derive(move || {
        let one = customers.get().number() == 1;
        if one { "customer affected so far" } else { "customers affected so far" }.to_string()
    });
    let tone = Signal::derive(move || if growing.get() && last_hour.get() > 0 { "danger" } else { "" });
    view! {
        <div class="figures">
            <Stat label=letters>{part(move || open.with(|open| count_signed(open.letters)))}</Stat>
            <Show when=has_open><Stat label="at risk"><MoneyText tally=open total /></Stat></Show>
            <Stat label=people>{part(move || money::customers(customers.get()))}</Stat>
            <Show when=has_open>
                <Stat label="oldest"><Age since=oldest /></Stat>
                <Stat label=loss_label><Loss at=loss /></Stat>
            </Show>
            <Show when=move || !is_resolved.get()>
                <Stat label="last hour" tone>{part(move || format!("+{}", count(last_hour.get())))}</Stat>
            </Show>
            <Show when=move || { quarantined.get() > 0 }>
                <Stat label="in quarantine" tone="warn">{part(move || count_signed(quarantined.get()))}</Stat>
            </Show>
            <Show when=move || { discarded.get() > 0 }>
                <Stat label="discarded (ever)">{part(move || count_signed(discarded.get()))}</Stat>
            </Show>
            <Show when=move || { delivered.get() > 0 }>
                <Stat label="delivered (ever)">{part(move || count_signed(delivered.get()))}</Stat>
            </Show>
        </div>
    }
}
