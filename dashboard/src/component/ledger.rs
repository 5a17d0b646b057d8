//! The ledger of a replay: every letter is in exactly one column, and every number links to its letters.

use crate::clock;
use crate::component::{Bar, Countdown, Segment};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{WaveState, columns, delivery_evidence, pause_mille, returned_mille, share, wave_state};
use dashboard_model::money::{count, counted};
use dashboard_model::route::{ReplayRoute, Route};
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::{OutcomeKind, WaveLedger};
use domain::time::Span;
use wire::ReplayAnswer;

/// Returns the link to the letters of a wave with an outcome.
fn letters_href(id: &ReplayId, outcome: Option<OutcomeKind>, wave: Option<u32>) -> String {
    Route::Replay(ReplayRoute { id: id.clone(), outcome, wave }).to_string()
}

/// Shows the ledger as a table whose columns add up.
#[component]
pub fn LedgerTable(
    /// The replay.
    #[prop(into)]
    view: Signal<ReplayAnswer>,
) -> impl IntoView {
    let shown = view.map(move |view| columns(&view.total));
    let rows = Memo::new(move |_| {
        view.with(|view| {
            let mut rows: Vec<_> =
                (0..view.replay.plan.waves.len() as u32).map(|w| (Some(w), view.ledger.wave(w))).collect();
            // A single wave needs no total.
            if rows.len() != 1 {
                rows.push((None, view.total.clone()));
            }
            rows
        })
    });
    let id = view.with_untracked(|view| view.replay.id().clone());
    let window = view.with_untracked(|view| view.replay.plan.window_ms);
    let table = move || {
        let kinds = shown.get();
        let head =
            kinds.iter().map(|kind| view! { <th scope="col">{words::outcome(*kind)}</th> }.into_any()).collect_view();
        let body = rows.get().into_iter().map(|(wave, ledger)| row(&id, wave, &ledger, &kinds, window)).collect_view();
        view! {
            <thead><tr><th scope="col">"Wave"</th><th scope="col">"Selected"</th>{head}</tr></thead>
            <tbody>{body}</tbody>
        }
        .into_any()
    };
    view! {
        <div class="scroll" role="region" aria-label="Ledger" tabindex="0">
            <table class="ledger">
                <caption class="sr-only">"Letters of each wave by outcome. The columns add up to Selected."</caption>
                {part(table)}
            </table>
        </div>
        // A column of a phone has no room for words.
        {part(move || {
            let evidence = view.with(|view| delivery_evidence(&view.total, window));
            evidence.map(|words| view! { <p class="ledger-evidence">{format!("Delivered: {words}.")}</p> }.into_any())
        })}
    }
}

fn row(id: &ReplayId, wave: Option<u32>, ledger: &WaveLedger, kinds: &[OutcomeKind], window: Span) -> AnyView {
    let cell = |outcome: Option<OutcomeKind>, n: u64| {
        let shown = count(n);
        let inner = if n == 0 {
            view! { <span class="faint">{shown}</span> }.into_any()
        } else {
            view! { <a href=letters_href(id, outcome, wave)>{shown}</a> }.into_any()
        };
        let returned = outcome == Some(OutcomeKind::Returned) && n > 0;
        let is_delivered = outcome == Some(OutcomeKind::Delivered);
        let evidence = is_delivered.then(|| delivery_evidence(ledger, window)).flatten();
        let evidence = evidence.map(|words| view! { <span class="cell-more">{words}</span> }.into_any());
        view! { <td class:ledger-returned=returned>{inner}" "{evidence}</td> }.into_any()
    };
    let name = wave.map_or("Total".to_string(), |wave| (wave + 1).to_string());
    let cells = kinds.iter().map(|kind| cell(Some(*kind), ledger.get(*kind))).collect_view();
    let twice = (ledger.sent_twice > 0).then(|| {
        view! {
            <span class="ledger-twice">{format!("{} possibly sent twice", count(ledger.sent_twice))}</span>
        }
        .into_any()
    });
    view! {
        <tr class:ledger-sum=wave.is_none()>
            <th scope="row">{name}{twice}</th>
            {cell(None, ledger.selected())}
            {cells}
        </tr>
    }
    .into_any()
}

/// Returns the segments of a bar: delivered, returned, in flight, and skipped or expired.
pub fn segments(ledger: &WaveLedger, done: &'static str) -> Vec<Segment> {
    vec![
        Segment { n: ledger.delivered, look: done },
        Segment { n: ledger.returned, look: "danger" },
        Segment { n: ledger.in_flight + ledger.sending, look: "flight" },
        Segment { n: ledger.expired + ledger.skipped, look: "quiet" },
    ]
}

/// Shows a row for each wave: its progress, its returned share and its state.
#[component]
pub fn WaveRows(
    /// The replay.
    #[prop(into)]
    view: Signal<ReplayAnswer>,
) -> impl IntoView {
    let waves = view.map(move |view| view.replay.plan.waves.len() as u32);
    view! {
        <ol class="waves">
            <For each=move || 0..waves.get() key=|wave| *wave children=move |wave| view! { <WaveRow view wave /> } />
        </ol>
    }
}

#[component]
fn WaveRow(view: Signal<ReplayAnswer>, wave: u32) -> impl IntoView {
    let ledger = view.map(move |view| view.ledger.wave(wave));
    let state = view.map(move |view| wave_state(view, wave));
    let limit = view.map(move |view| pause_mille(view, wave));
    let total = Signal::derive(move || ledger.with(WaveLedger::selected));
    let sent = move || ledger.with(|l| l.delivered + l.returned + l.in_flight);
    let bar = Signal::derive(move || {
        let done = if matches!(state.get(), WaveState::Passed | WaveState::Resumed) { "ok" } else { "info" };
        ledger.with(|ledger| segments(ledger, done))
    });
    let words = Signal::derive(move || ledger.with(dashboard_model::ledger::progress));
    let label = format!("Wave {}", wave + 1);
    let returned = ledger.map(returned_mille);
    let over = move || returned.get().is_some_and(|mille| mille > limit.get());
    view! {
        <li class="wave" class:wave-waiting=move || matches!(state.get(), WaveState::Waiting | WaveState::NotSent)>
            <span class="wave-name">{label.clone()}</span>
            <span class="wave-n">{part(move || format!("{} of {}", count(sent()), count(total.get())))}</span>
            <span class="wave-bar"><Bar segments=bar total label=label words /></span>
            <span class="wave-returned" class:wave-over=over>
                {part(move || returned.get().map(|mille| view! {
                    <span>{format!("{} returned", share(mille))}<span class="wave-limit">{limit_words(limit.get())}</span></span>
                    <span class="meter" aria-hidden="true">
                        <span class="meter-fill" style:width=format!("{}%", mille.min(1000) / 10)></span>
                        <span class="meter-limit" style:left=format!("{}%", limit.get() / 10)></span>
                    </span>
                }.into_any()))}
            </span>
            <span class="wave-state">{part(move || wave_words(state.get()))}</span>
        </li>
    }
}

/// Says what the mark on the bar of returned letters means.
fn limit_words(limit_mille: u64) -> String {
    if limit_mille == 0 { ", none may".to_string() } else { format!(", limit {}", share(limit_mille)) }
}

fn wave_words(state: WaveState) -> AnyView {
    let (tone, words) = state.look();
    let class = format!("wave-word tone-{}", tone.as_str());
    match state {
        WaveState::Observed(until) => view! {
            <span class=class>{words}" "{part(move || clock::time_of_day(until))}</span>
            <span class="muted">" ("<Countdown to=until />")"</span>
        }
        .into_any(),
        WaveState::Queued(n) | WaveState::NotGone(n) => {
            view! { <span class=class>{words}" "{counted(n, "message", "messages")}</span> }.into_any()
        }
        WaveState::BetweenWaves(until) => {
            view! { <span class=class>{words}" "<Countdown to=until /></span> }.into_any()
        }
        _ => view! { <span class=class>{words}</span> }.into_any(),
    }
}
