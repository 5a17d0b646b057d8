//! The list of replays: those that are not finished on top, with state and outcomes.

use crate::api;
use crate::component::{At, Bar, Empty, Frame, Loaded, MoneyText, Pill, Segment, Tab, Tabs};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::money::{count, counted};
use dashboard_model::replays::{Entry, Show as Shown, entries, folded, unfinished};
use dashboard_model::route::Route;
use dashboard_model::words;
use domain::id::ReplayId;
use domain::replay::WaveLedger;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use wire::{ReplayAnswer, ReplaysAnswer};

/// The page of replays.
#[component]
pub fn ReplaysPage() -> impl IntoView {
    let nav = nav();
    let show = Memo::new(move |_| match nav.route() {
        Route::Replays(show) => show,
        _ => Shown::default(),
    });
    let live = Live::new(
        |seen| api::replays(None, seen),
        |answer: &ReplaysAnswer| {
            if answer.replays.iter().all(|view| view.replay.is_finished()) { Pace::Calm } else { Pace::Busy }
        },
    );
    let paged = Paged::new(
        live,
        |answer: &ReplaysAnswer| (answer.replays.clone(), answer.next.clone()),
        |view| view.replay.id().to_string(),
    );
    let rows = paged.rows();
    let active = rows.map(|rows| unfinished(rows));
    let beside = move || Some(active.get()).filter(|words| !words.is_empty());
    let tabs = Shown::ALL.into_iter().map(|this| Tab {
        href: Signal::stored(Route::Replays(this).to_string()),
        label: this.label(),
        count: Signal::derive(move || {
            Some(count(rows.with(|rows| rows.iter().filter(|view| this.shows(view)).count() as u64)))
        }),
        is_open: Signal::derive(move || show.get() == this),
    });
    let tabs = StoredValue::new(tabs.collect::<Vec<Tab>>());
    let entries = Memo::new(move |_| rows.with(|rows| entries(rows, show.get())));
    let keyed = entries.map(|entries| entries.iter().map(|entry| entry.newest.replay.id().clone()).collect::<Vec<_>>());
    let row = move |id: ReplayId| {
        let first = entries.with_untracked(|entries| find(entries, &id));
        first.map(|first| {
            // A row that leaves the list keeps its last values until it is removed.
            let entry = Memo::new(move |before: Option<&Entry>| {
                let now = entries.with(|entries| find(entries, &id));
                now.or_else(|| before.cloned()).unwrap_or_else(|| first.clone())
            });
            view! { <Line entry /> }.into_any()
        })
    };
    keys::bind(
        "Replays",
        vec![
            key("j", "Next replay", || step(1)),
            key("ArrowDown", "Next replay", || step(1)),
            key("k", "Previous replay", || step(-1)),
            key("ArrowUp", "Previous replay", || step(-1)),
        ],
    );
    let is_empty = rows.map(Vec::is_empty);
    let nothing = Signal::derive(move || show.get().nothing().to_string());
    view! {
        <Frame title="Replays" beside=move || beside() pulse=live.pulse()>
            <Loaded live what="list" rows=6>
                <Show when=move || !is_empty.get() fallback=NoReplays>
                    <Tabs label="Replays by state" tabs=tabs.get_value() />
                    <Show when=move || keyed.with(Vec::is_empty)>
                        <Empty title=nothing><a class="button" href="/replays">"Show all"</a></Empty>
                    </Show>
                    <div class="replay-row replay-heads" aria-hidden="true" class:gone=move || keyed.with(Vec::is_empty)>
                        <span>"Group"</span><span>"State"</span><span>"Outcome"</span><span>"Approved"</span>
                    </div>
                    <ul class="replays">
                        <For each=move || keyed.get() key=ReplayId::clone children=row />
                    </ul>
                    <More paged what="replays" load=move |cursor| async move {
                        api::replays(Some(cursor), api::Seen::default()).await.map(api::Answer::into_new)
                    } />
                </Show>
            </Loaded>
        </Frame>
    }
}

fn find(entries: &[Entry], id: &ReplayId) -> Option<Entry> {
    entries.iter().find(|entry| entry.newest.replay.id() == id).cloned()
}

/// Moves the focus by some links of the list.
fn step(by: isize) {
    let Ok(links) = document().query_selector_all(".replay-row .row-link") else { return };
    let visible = (0..links.length()).filter_map(|at| links.item(at)?.dyn_into::<HtmlElement>().ok());
    // Rows of a closed fold are not shown.
    let links: Vec<HtmlElement> = visible.filter(|link| link.offset_parent().is_some()).collect();
    let focused = document().active_element();
    let at = links.iter().position(|link| focused.as_ref() == Some(link.as_ref()));
    let to = at.map_or(0, |at| at.saturating_add_signed(by).min(links.len().saturating_sub(1)));
    if let Some(link) = links.get(to) {
        let _ = link.focus();
    }
}

/// Shows a replay, and earlier ones of its group in a fold.
#[component]
fn Line(entry: Memo<Entry>) -> impl IntoView {
    let newest = entry.map(|entry| entry.newest.clone());
    let earlier = entry.map(|entry| entry.earlier.clone());
    let has_earlier = earlier.map(|earlier| !earlier.is_empty());
    view! {
        <li>
            <div class="replay-row">{part(move || newest.with(cells))}</div>
            <Show when=move || has_earlier.get()>
                <details class="replay-fold">
                    <summary>{part(move || earlier.with(|earlier| folded(earlier)))}</summary>
                    <ul>{part(move || earlier.get().iter().map(|view| view! { <li class="replay-row">{cells(view)}</li> }.into_any()).collect_view())}</ul>
                </details>
            </Show>
        </li>
    }
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

fn cells(view: &ReplayAnswer) -> impl IntoView + use<> {
    let (replay, plan) = (&view.replay, &view.replay.plan);
    let (tone, shape, text) = words::replay(view);
    let people = format!("planned by {}, approved by {}", plan.made_by, replay.approval.by);
    let outcomes = outcomes(&view.total);
    view! {
        <div class="replay-what">
            <a class="row-link" href=Route::replay(replay.id()).to_string()>{view.group_title.clone()}</a>
            <span class="row-sub">
                <b>{plan.main_queue.name().to_string()}</b>" · "{counted(plan.letters.letters.unsigned_abs(), "letter", "letters")}" · "
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
