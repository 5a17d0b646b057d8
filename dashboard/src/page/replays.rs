//! The list of replays, newest first, with state and outcomes.

use crate::api;
use crate::command::Command;
use crate::component::{At, Bar, Empty, Frame, Loaded, MoneyText, Pill, Problem, Segment};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::money::{count, count_signed};
use dashboard_model::route::Route;
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::WaveLedger;
use wire::{ReplayView, ReplaysAnswer};

/// The page of replays.
#[component]
pub fn ReplaysPage() -> impl IntoView {
    let live = Live::new(
        |seen| api::replays(None, seen),
        |answer: &ReplaysAnswer| {
            if answer.replays.iter().all(|view| view.replay.is_finished()) { Pace::Calm } else { Pace::Busy }
        },
    );
    let active = live.part(|answer| answer.replays.iter().filter(|view| !view.replay.is_finished()).count());
    let beside = move || active.get().filter(|n| *n > 0).map(|n| format!("{n} in progress"));
    let ids = live.part(|answer| answer.replays.iter().map(|view| view.replay.id().clone()).collect::<Vec<_>>());
    let next = live.part(|answer| answer.next.clone());
    let is_empty = live.part(|answer| answer.replays.is_empty());
    let row = move |id: ReplayId| {
        let first = live.get().and_then(|answer| find(&answer, &id));
        first.map(|first| {
            // A row that leaves the first page keeps its last values until it is removed.
            let view = Memo::new(move |before: Option<&ReplayView>| {
                live.data()
                    .with(|answer| answer.as_ref().and_then(|answer| find(answer, &id)))
                    .or_else(|| before.cloned())
                    .unwrap_or_else(|| first.clone())
            });
            view! { <ReplayRow view /> }.into_any()
        })
    };
    view! {
        <Frame title="Replays" beside=move || beside() pulse=live.pulse()>
            <Loaded live rows=6>
                <Show when=move || is_empty.get() != Some(true) fallback=NoReplays>
                    <ul class="replays">
                        <For each=move || ids.get().unwrap_or_default() key=ReplayId::clone children=row />
                    </ul>
                    <Older first=next />
                </Show>
            </Loaded>
        </Frame>
    }
}

fn find(answer: &ReplaysAnswer, id: &ReplayId) -> Option<ReplayView> {
    answer.replays.iter().find(|view| view.replay.id() == id).cloned()
}

#[component]
fn NoReplays() -> impl IntoView {
    view! {
        <Empty title="No replays yet.">
            <p>"To replay letters, open a group, declare a fix, plan a replay, and have it approved."</p>
            <a class="button" href="/groups">"Go to groups"</a>
        </Empty>
    }
}

/// Loads earlier pages on demand. They are not refreshed.
#[component]
fn Older(#[prop(into)] first: Signal<Option<Option<String>>>) -> impl IntoView {
    let command = Command::new();
    let older = RwSignal::new(Vec::<ReplayView>::new());
    // The cursor of the last older page; the outer `None` means that only the first page is loaded.
    let last = RwSignal::new(None::<Option<String>>);
    let next = Memo::new(move |_| last.get().unwrap_or_else(|| first.get().flatten()));
    let more = move |_| {
        let cursor = next.get_untracked();
        let call = async move { api::replays(cursor, api::Seen::default()).await.map(api::Answer::into_new) };
        command.run(call, move |answer| {
            if let Some(answer) = answer {
                last.try_set(Some(answer.next));
                older.try_update(|older| older.extend(answer.replays));
            }
        });
    };
    view! {
        <ul class="replays">
            <For each=move || older.get() key=|view| view.replay.id().clone() children=|view| {
                view! { <ReplayRow view=Memo::new(move |_| view.clone()) /> }.into_any()
            } />
        </ul>
        <Problem error=command.error() />
        <Show when=move || next.get().is_some()>
            <p><button type="button" class="button" on:click=on(more) aria-busy=attr(move || command.busy().get().then_some("true"))>
                "Load earlier replays"<span class="spinner" aria-hidden="true"></span>
            </button></p>
        </Show>
    }
}

#[component]
fn ReplayRow(view: Memo<ReplayView>) -> impl IntoView {
    view! { <li class="replay-row">{part(move || view.with(cells))}</li> }
}

fn cells(view: &ReplayView) -> impl IntoView + use<> {
    let (replay, plan) = (&view.replay, &view.replay.plan);
    let (tone, shape, text) = words::replay(&replay.state, plan.waves.len());
    let people = format!("planned by {}, approved by {}", plan.made_by, replay.approval.by);
    let outcomes = outcomes(&view.total);
    view! {
        <div class="replay-what">
            <a class="row-link" href=Route::replay(replay.id()).to_string()>{view.group_title.clone()}</a>
            <span class="row-sub">
                <b>{plan.main_queue.name().to_string()}</b>" · "{count_signed(plan.letters.letters)}" letters · "
                <MoneyText tally=plan.letters.clone() />
            </span>
        </div>
        <div class="replay-state"><Pill tone shape text /></div>
        <div class="replay-bar">
            <Bar segments=segments(&view.total) total=view.total.selected() label="Letters" words=outcomes.clone() />
            <span class="row-sub" aria-hidden="true">{outcomes}</span>
        </div>
        <div class="replay-who">
            <At at=replay.approval.at />
            <span class="row-sub">{people}</span>
        </div>
    }
}

fn segments(total: &WaveLedger) -> Vec<Segment> {
    vec![
        Segment { n: total.delivered, look: "ok" },
        Segment { n: total.returned, look: "danger" },
        Segment { n: total.in_flight + total.sending, look: "info" },
        Segment { n: total.expired + total.skipped, look: "quiet" },
    ]
}

/// Returns the outcomes in words: `230 delivered, 7 returned, 6,925 pending`. Counts of zero are omitted, except for
/// delivered letters.
fn outcomes(total: &WaveLedger) -> String {
    let columns = [
        (total.delivered, "delivered", true),
        (total.returned, "returned", false),
        (total.in_flight + total.sending, "in flight", false),
        (total.expired, "expired", false),
        (total.skipped, "skipped", false),
        (total.pending, "pending", false),
    ];
    let shown = columns.iter().filter(|(n, _, always)| *n > 0 || *always);
    shown.map(|(n, word, _)| format!("{} {word}", count(*n))).collect::<Vec<_>>().join(", ")
}
