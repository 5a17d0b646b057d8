//! The ledger of a replay: every letter stands in exactly one column, and every number is a link to its letters.

use crate::clock;
use crate::component::{Bar, Countdown, Part};
use crate::reactive::prelude::*;
use dashboard_model::ledger::{WaveState, back_mille};
use dashboard_model::ledger::{columns, known_by, share, wave_state};
use dashboard_model::money::{count, counted};
use dashboard_model::route::{ReplayRoute, Route};
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::{OutcomeKind, WaveLedger};
use wire::ReplayView;

/// Where the letters of a wave with an outcome are shown.
fn place(id: &ReplayId, outcome: Option<OutcomeKind>, wave: Option<u32>) -> String {
    Route::Replay(ReplayRoute { id: id.clone(), outcome, wave }).to_string()
}

/// The ledger as a table that closes.
#[component]
pub fn LedgerTable(
    /// The replay.
    #[prop(into)]
    view: Signal<ReplayView>,
) -> impl IntoView {
    let shown = view.map(move |view| columns(&view.total));
    let rows = Memo::new(move |_| {
        view.with(|view| {
            let mut rows: Vec<_> =
                (0..view.replay.plan.waves.len() as u32).map(|w| (Some(w), view.ledger.wave(w))).collect();
            // One wave needs no sum.
            if rows.len() != 1 {
                rows.push((None, view.total.clone()));
            }
            rows
        })
    });
    let id = view.with_untracked(|view| view.replay.id().clone());
    let table = move || {
        let kinds = shown.get();
        let head =
            kinds.iter().map(|kind| view! { <th scope="col">{words::outcome(*kind)}</th> }.into_any()).collect_view();
        let body = rows.get().into_iter().map(|(wave, ledger)| row(&id, wave, &ledger, &kinds)).collect_view();
        view! {
            <thead><tr><th scope="col">"Wave"</th><th scope="col">"Selected"</th>{head}</tr></thead>
            <tbody>{body}</tbody>
        }
        .into_any()
    };
    view! {
        <div class="scroll" role="region" aria-label="Ledger" tabindex="0">
            <table class="ledger">
                <caption class="sr-only">"Letters of each wave by outcome; the columns add up to what was selected"</caption>
                {part(table)}
            </table>
        </div>
    }
}

fn row(id: &ReplayId, wave: Option<u32>, ledger: &WaveLedger, kinds: &[OutcomeKind]) -> AnyView {
    let cell = |outcome: Option<OutcomeKind>, n: u64| {
        let shown = count(n);
        let inner = if n == 0 {
            view! { <span class="faint">{shown}</span> }.into_any()
        } else {
            view! { <a href=place(id, outcome, wave)>{shown}</a> }.into_any()
        };
        let back = outcome == Some(OutcomeKind::Returned) && n > 0;
        let known = (outcome == Some(OutcomeKind::Delivered)).then(|| known_by(ledger)).flatten();
        let known = known.map(|known| view! { <span class="cell-more">{known}</span> }.into_any());
        view! { <td class:ledger-back=back>{inner}" "{known}</td> }.into_any()
    };
    let name = wave.map_or("All".to_string(), |wave| (wave + 1).to_string());
    let cells = kinds.iter().map(|kind| cell(Some(*kind), ledger.get(*kind))).collect_view();
    let twice = (ledger.sent_twice > 0).then(|| {
        view! {
            <span class="ledger-twice">{format!("{} maybe sent twice", count(ledger.sent_twice))}</span>
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

/// The parts of a bar: delivered, came back, in flight, and what will not be sent.
pub fn parts(ledger: &WaveLedger, done: &'static str) -> Vec<Part> {
    vec![
        Part { n: ledger.delivered, look: done },
        Part { n: ledger.returned, look: "danger" },
        Part { n: ledger.in_flight + ledger.sending, look: "flight" },
        Part { n: ledger.expired + ledger.skipped, look: "quiet" },
    ]
}

/// A row for each wave: how far it is, how much came back, and what it is doing.
#[component]
pub fn WaveRows(
    /// The replay.
    #[prop(into)]
    view: Signal<ReplayView>,
) -> impl IntoView {
    let waves = view.map(move |view| view.replay.plan.waves.len() as u32);
    view! {
        <ol class="waves">
            <For each=move || 0..waves.get() key=|wave| *wave children=move |wave| view! { <WaveRow view wave /> } />
        </ol>
    }
}

#[component]
fn WaveRow(view: Signal<ReplayView>, wave: u32) -> impl IntoView {
    let ledger = view.map(move |view| view.ledger.wave(wave));
    let state = view.map(move |view| wave_state(view, wave));
    let stop_pct = view.with_untracked(|view| view.replay.plan.stop_share_pct);
    let total = Signal::derive(move || ledger.with(WaveLedger::selected));
    let sent = move || ledger.with(|l| l.delivered + l.returned + l.in_flight);
    let bar = Signal::derive(move || {
        let done = if matches!(state.get(), WaveState::Passed | WaveState::Overcome) { "ok" } else { "info" };
        ledger.with(|ledger| parts(ledger, done))
    });
    let words = Signal::derive(move || ledger.with(dashboard_model::ledger::progress));
    let label = format!("Wave {}", wave + 1);
    let back = ledger.map(back_mille);
    let over = move || back.get().is_some_and(|mille| mille > u64::from(stop_pct) * 10);
    view! {
        <li class="wave" class:wave-waits=move || matches!(state.get(), WaveState::Waits | WaveState::NotSent)>
            <span class="wave-name">{label.clone()}</span>
            <span class="wave-n">{part(move || format!("{} of {}", count(sent()), count(total.get())))}</span>
            <span class="wave-bar"><Bar parts=bar total label=label words /></span>
            <span class="wave-back" class:wave-over=over>
                {part(move || back.get().map(|mille| view! {
                    <span>{format!("{} back", share(mille))}</span>
                    <span class="meter" aria-hidden="true">
                        <span class="meter-fill" style:width=format!("{}%", mille.min(1000) / 10)></span>
                        <span class="meter-stop" style:left=format!("{stop_pct}%")></span>
                    </span>
                }.into_any()))}
            </span>
            <span class="wave-state">{part(move || wave_words(state.get()))}</span>
        </li>
    }
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
        WaveState::Queued(n) => {
            view! { <span class=class>{words}" "{counted(n, "message", "messages")}" there"</span> }.into_any()
        }
        WaveState::BetweenWaves(until) => {
            view! { <span class=class>{words}" "<Countdown to=until /></span> }.into_any()
        }
        _ => view! { <span class=class>{words}</span> }.into_any(),
    }
}
