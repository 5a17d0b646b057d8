//! The right-hand side: what stands between this group and its replay, and the replay itself.

use super::also::AlsoCard;
use super::fix::{DeclareDialog, FixCard, why_not_declare};
use super::here::Here;
use super::note::NoteCard;
use super::plan::{ApproveButton, PlanButton, PlanPart, Planning};
use crate::clock;
use crate::component::{At, Button, GateList, Kind, Say, toasts};
use crate::page::replay::{Compact, Levers};
use crate::reactive::prelude::*;
use dashboard_model::gate::opens_at;
use dashboard_model::ledger::short;
use dashboard_model::money::count;
use domain::group::GroupState;
use domain::role::Permission;
use wire::ReplayView;

/// What keys ask of the parts of the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Press {
    /// Declare a fix.
    Fix,
    /// Write the note.
    Note,
    /// Plan.
    Plan,
    /// Approve, or resume.
    ApproveRequest,
}

/// Who answers to which key now.
#[derive(Clone, Copy)]
pub(super) struct Asks(StoredValue<Vec<(u64, Press, Callback<()>)>>);

impl Asks {
    /// Nobody yet.
    pub(super) fn new() -> Self {
        Self(StoredValue::new(Vec::new()))
    }

    /// Answers to a key for as long as the caller's component lives.
    pub(super) fn on(self, press: Press, act: impl Fn() + Send + Sync + 'static) {
        let id = self.0.with_value(|all| all.iter().map(|(id, ..)| *id).max().unwrap_or(0) + 1);
        self.0.update_value(|all| all.push((id, press, Callback::new(move |()| act()))));
        on_cleanup(move || {
            self.0.try_update_value(|all| all.retain(|(of, ..)| *of != id));
        });
    }

    /// The key was pressed.
    pub(super) fn press(self, press: Press) {
        let act = self.0.with_value(|all| all.iter().rev().find(|(_, of, _)| *of == press).map(|(.., act)| *act));
        if let Some(act) = act {
            act.run(());
        }
    }
}

/// The side.
#[component]
pub(super) fn Side(here: Here, asks: Asks, planning: Planning) -> impl IntoView {
    let state = here.part(|detail| detail.row.state.as_str());
    ask_when_the_gate_opens(here);
    view! {
        {part(move || match state.get() {
            "replaying" | "verifying" => view! { <Replaying here asks /> }.into_any(),
            "paused" => view! { <Paused here asks planning /> }.into_any(),
            "resolved" => view! { <Resolved here /> }.into_any(),
            _ => view! { <Before here asks planning /> }.into_any(),
        })}
        <AlsoCard here />
        <NoteCard here asks />
    }
}

/// A condition that opens by itself is asked for at that moment, not at the next turn of the clock.
fn ask_when_the_gate_opens(here: Here) {
    let opens = here.part(|detail| opens_at(&detail.gate));
    let due = Memo::new(move |_| opens.get().filter(|at| clock::ticking() >= *at));
    Effect::new(move || {
        if due.get().is_some() {
            here.hurry();
        }
    });
}

#[component]
fn GatePart(here: Here, title: &'static str, children: Children) -> impl IntoView {
    let gate = here.part(|detail| detail.gate.clone());
    view! {
        <section class="side-part">
            <h2>{title}</h2>
            <GateList gate />
            {children()}
        </section>
    }
}

/// The gate, the one thing to do next right under it, then what it is about.
#[component]
fn Before(here: Here, asks: Asks, planning: Planning) -> impl IntoView {
    let declaring = Declaring::new(here, asks, planning);
    let next = here.part(|detail| (detail.row.state.fix().is_some(), detail.plan.is_some()));
    view! {
        <GatePart here title="Before you replay">
            <div class="next">
                {part(move || match next.get() {
                    (false, _) => view! {
                        <DeclareButton declaring kind=Kind::Primary verb="Declare a fix…" />
                    }
                    .into_any(),
                    (true, false) => view! { <PlanButton planning kind=Kind::Primary verb="Plan replay" /> }.into_any(),
                    (true, true) => view! { <ApproveButton here asks /> }.into_any(),
                })}
            </div>
        </GatePart>
        <FixPart here declaring next_is_here=true />
        <PlanPart planning />
        <Last here />
    }
}

#[component]
fn Paused(here: Here, asks: Asks, planning: Planning) -> impl IntoView {
    let declaring = Declaring::new(here, asks, planning);
    view! {
        <Replaying here asks />
        <FixPart here declaring next_is_here=false />
        <GatePart here title="Before it goes on">""</GatePart>
    }
}

/// The declaring of a fix.
#[derive(Clone, Copy)]
struct Declaring {
    here: Here,
    planning: Planning,
    open: RwSignal<bool>,
    why_not: Signal<Option<String>>,
    toasts: Say,
}

impl Declaring {
    /// For this group; answers to the key.
    fn new(here: Here, asks: Asks, planning: Planning) -> Self {
        let why_not = here.why_not(Permission::Triage, why_not_declare);
        let declaring = Self { here, planning, open: RwSignal::new(false), why_not, toasts: toasts() };
        asks.on(Press::Fix, move || declaring.ask());
        declaring
    }

    fn ask(self) {
        match self.why_not.get_untracked() {
            None => self.open.set(true),
            Some(why) => self.toasts.say(why),
        }
    }
}

#[component]
fn DeclareButton(declaring: Declaring, kind: Kind, verb: &'static str) -> impl IntoView {
    view! { <Button kind press=move |()| declaring.ask() why_not=declaring.why_not key="f">{verb}</Button> }
}

/// The fix that counts now, and declaring another; the first is declared here only where nothing above offers it.
#[component]
fn FixPart(here: Here, declaring: Declaring, next_is_here: bool) -> impl IntoView {
    let fix = here.part(|detail| detail.row.state.fix().cloned());
    let was = here.part(|detail| match &detail.row.state {
        GroupState::Regressed { was, .. } => Some(was.clone()),
        _ => None,
    });
    view! {
        <section class="side-part">
            <h2>"Fix"</h2>
            {part(move || match (fix.get(), was.get()) {
                (Some(fix), _) => {
                    let again = if fix.transform.is_some() { "Program and dry run…" } else { "Declare another…" };
                    view! {
                    <FixCard here fix />
                    <DeclareButton declaring kind=Kind::Plain verb=again />
                    }
                    .into_any()
                }
                (None, Some(was)) => view! {
                    <p>
                        "The last one did not hold: "<b>{was.kind.label()}</b>" "<span class="mono">{was.reference}</span>
                        {format!(", declared by {}.", was.declared_by)}
                    </p>
                }
                .into_any(),
                (None, None) if next_is_here => {
                    view! { <p class="muted">"Nobody has said that the cause is gone."</p> }.into_any()
                }
                (None, None) => view! {
                    <p class="muted">"What came back speaks against the last one."</p>
                    <DeclareButton declaring kind=Kind::Primary verb="Declare the next fix…" />
                }
                .into_any(),
            })}
        </section>
        <DeclareDialog here=declaring.here planning=declaring.planning open=declaring.open />
    }
}

#[component]
fn Replaying(here: Here, asks: Asks) -> impl IntoView {
    let replay = here.part(|detail| detail.replay.clone());
    let known = replay.map(Option::is_some);
    part(move || {
        known.get().then(|| {
            let first = here.now().replay.clone();
            first.map(|first| view! { <Under here asks first /> }.into_any())
        })
    })
}

#[component]
fn Under(here: Here, asks: Asks, first: ReplayView) -> impl IntoView {
    let view = here.part(move |detail| detail.replay.clone().unwrap_or_else(|| first.clone()));
    let levers = Levers::new(
        view.into(),
        here.part(|detail| Some(detail.gate.clone())).into(),
        here.part(|detail| detail.row.state.fix().cloned()).into(),
        here.pulse(),
        Callback::new(move |view| here.put_replay(view)),
    );
    asks.on(Press::ApproveRequest, move || levers.ask_resume());
    view! { <Compact levers /> }
}

#[component]
fn Resolved(here: Here) -> impl IntoView {
    let state = here.part(|detail| detail.row.state.clone());
    let delivered = here.part(|detail| detail.row.delivered.max(0).unsigned_abs());
    part(move || match state.get() {
        GroupState::Resolved { at, fix, replay } => Some(view! {
            <section class="side-part">
                <h2>"Resolved"</h2>
                <p>
                    "No letter of this group is open since "<At at=Signal::stored(at) absolute=true />". "
                    {part(move || format!("{} delivered, the last by ", count(delivered.get())))}
                    <a href=format!("/replays/{replay}")>"replay "{short(&replay)}</a>"."
                </p>
                <p class="muted">"A letter that dies of this cause after the fix opens the group again."</p>
            </section>
            <section class="side-part">
                <h2>"The fix that worked"</h2>
                <FixCard here fix />
            </section>
        }),
        _ => None,
    })
}

/// The last replay, where none is under way.
#[component]
fn Last(here: Here) -> impl IntoView {
    let last = here.part(|detail| detail.replay.as_ref().map(|r| (r.replay.id().clone(), r.total.clone())));
    part(move || {
        last.get().map(|(id, total)| {
            view! {
            <section class="side-part">
                <h2>"Last replay"</h2>
                <p>
                    {format!("{} delivered, {} came back, {} not sent. ", count(total.delivered), count(total.returned),
                        count(total.expired + total.skipped))}
                    <a href=format!("/replays/{id}")>"Replay "{short(&id)}</a>
                </p>
            </section>
        }.into_any()
        })
    })
}
