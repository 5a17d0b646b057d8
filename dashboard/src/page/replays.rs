//! The list of replays, newest first: where each one is and how its letters fared.

use crate::api;
use crate::ask::Ask;
use crate::component::{At, Bar, Empty, Frame, MoneyText, Part, Pill, Problem, Unless};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::money::{count, count_signed};
use dashboard_model::route::Route;
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::WaveLedger;
use wire::{ReplayView, ReplaysAnswer};

/// The list of replays.
#[component]
pub fn ReplaysPage() -> impl IntoView {
    let live = Live::new(
        |seen| api::replays(None, seen),
        |answer: &ReplaysAnswer| {
            if answer.replays.iter().all(|view| view.replay.is_finished()) { Pace::Calm } else { Pace::Busy }
        },
    );
    let under_way = live.part(|answer| answer.replays.iter().filter(|view| !view.replay.is_finished()).count());
    let beside = move || under_way.get().filter(|n| *n > 0).map(|n| format!("{n} under way"));
    let ids = live.part(|answer| answer.replays.iter().map(|view| view.replay.id().clone()).collect::<Vec<_>>());
    let next = live.part(|answer| answer.next.clone());
    let is_empty = live.part(|answer| answer.replays.is_empty());
    let row = move |id: ReplayId| {
        let first = live.get().and_then(|answer| find(&answer, &id));
        first.map(|first| {
            // A row that has left the first page keeps its last values until it is gone.
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
            <Unless live rows=6>
                <Show when=move || is_empty.get() != Some(true) fallback=NoReplays>
                    <ul class="replays">
                        <For each=move || ids.get().unwrap_or_default() key=ReplayId::clone children=row />
                    </ul>
                    <Older first=next />
                </Show>
            </Unless>
        </Frame>
    }
}

fn find(answer: &ReplaysAnswer, id: &ReplayId) -> Option<ReplayView> {
    answer.replays.iter().find(|view| view.replay.id() == id).cloned()
}

#[component]
fn NoReplays() -> impl IntoView {
    view! {
        <Empty title="Nothing has been replayed yet.">
            <p>"Open a group, declare its fix, plan its replay, and let somebody approve it."</p>
            <a class="button" href="/groups">"All groups"</a>
        </Empty>
    }
}

/// Earlier pages, on demand. They do not change any more, so they are not asked for again.
#[component]
fn Older(#[prop(into)] first: Signal<Option<Option<String>>>) -> impl IntoView {
    let ask = Ask::new();
    let older = RwSignal::new(Vec::<ReplayView>::new());
    // None: the first page says what follows; some: what the last older page said.
    let last = RwSignal::new(None::<Option<String>>);
    let next = Memo::new(move |_| last.get().unwrap_or_else(|| first.get().flatten()));
    let more = move |_| {
        let cursor = next.get_untracked();
        let call = async move { api::replays(cursor, api::Seen::default()).await.map(api::Answer::into_new) };
        ask.run(call, move |answer| {
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
        <Problem error=ask.error() />
        <Show when=move || next.get().is_some()>
            <p><button type="button" class="button" on:click=on(more) aria-busy=attr(move || ask.busy().get().then_some("true"))>
                "Earlier replays"<span class="spinner" aria-hidden="true"></span>
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
    let people = format!("by {}, approved by {}", plan.made_by, replay.approval.by);
    let fared = fared(&view.total);
    view! {
        <div class="replay-what">
            <a class="row-link" href=Route::replay(replay.id()).to_string()>{view.group_title.clone()}</a>
            <span class="row-sub">
                <b>{plan.main_queue.name().to_string()}</b>" · "{count_signed(plan.letters.letters)}" letters · "
                <MoneyText of=plan.letters.clone() />
            </span>
        </div>
        <div class="replay-state"><Pill tone shape text /></div>
        <div class="replay-bar">
            <Bar parts=parts(&view.total) total=view.total.selected() label="Letters" words=fared.clone() />
            <span class="row-sub" aria-hidden="true">{fared}</span>
        </div>
        <div class="replay-who">
            <At at=replay.approval.at />
            <span class="row-sub">{people}</span>
        </div>
    }
}

fn parts(total: &WaveLedger) -> Vec<Part> {
    vec![
        Part { n: total.delivered, look: "ok" },
        Part { n: total.returned, look: "danger" },
        Part { n: total.in_flight + total.sending, look: "info" },
        Part { n: total.expired + total.skipped, look: "quiet" },
    ]
}

/// `230 delivered, 7 came back, 6,925 to go`: what is zero is not told, but for the delivered.
fn fared(total: &WaveLedger) -> String {
    let columns = [
        (total.delivered, "delivered", true),
        (total.returned, "came back", false),
        (total.in_flight + total.sending, "in flight", false),
        (total.expired, "expired", false),
        (total.skipped, "skipped", false),
        (total.pending, "to go", false),
    ];
    let told = columns.iter().filter(|(n, _, always)| *n > 0 || *always);
    told.map(|(n, word, _)| format!("{} {word}", count(*n))).collect::<Vec<_>>().join(", ")
}
