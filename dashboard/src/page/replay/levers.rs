//! Pausing, resuming and aborting: one at a time, each with why it cannot be done.

use crate::api;
use crate::ask::Ask;
use crate::component::{Asker, Button, Dialog, Field, Kind, Problem, ResumeDialog, Say, toasts};
use crate::poll::Pulse;
use crate::reactive::prelude::*;
use crate::session;
use dashboard_model::gate::{blocked, letters};
use dashboard_model::money::{count, counted};
use dashboard_model::pause::{resumption, why_not_resume};
use domain::fix::Fix;
use domain::id::GroupId;
use domain::replay::ReplayState;
use domain::role::Permission;
use wire::GateView;
use wire::{ErrorCode, ReasonRequest, ReplayView, ResumeRequest};

/// What the audit keeps of a pause: it has to be quick, so nobody is asked.
const PAUSED: &str = "Paused by hand";

/// The levers of one replay.
#[derive(Clone, Copy)]
pub(in crate::page) struct Levers {
    /// The replay.
    pub view: Signal<ReplayView>,
    /// The gate as it stands before a resumption.
    pub gate: Signal<Option<GateView>>,
    /// The fix that counts now.
    pub fix: Signal<Option<Fix>>,
    pulse: Pulse,
    done: Callback<ReplayView>,
    pausing: Ask,
    aborting: Ask,
    resuming: Ask,
    abort_open: RwSignal<bool>,
    resume_open: RwSignal<bool>,
    toasts: Say,
    tab: session::Tab,
}

impl Levers {
    /// The levers of a replay; `done` takes it as it is after one was pulled.
    pub(in crate::page) fn new(
        view: Signal<ReplayView>,
        gate: Signal<Option<GateView>>,
        fix: Signal<Option<Fix>>,
        pulse: Pulse,
        done: Callback<ReplayView>,
    ) -> Self {
        Self {
            view,
            gate,
            fix,
            pulse,
            done,
            pausing: Ask::new(),
            aborting: Ask::new(),
            resuming: Ask::new(),
            abort_open: RwSignal::new(false),
            resume_open: RwSignal::new(false),
            toasts: toasts(),
            tab: session::tab(),
        }
    }

    fn why_not(self, permission: Permission) -> Option<String> {
        self.pulse.why_not_write().or_else(|| self.tab.why_not(permission))
    }

    fn why_not_pause(self) -> Option<String> {
        let running = self.view.with(|view| matches!(view.replay.state, ReplayState::Running { .. }));
        self.why_not(Permission::Stop).or_else(|| (!running).then(|| "It does not run.".to_string()))
    }

    fn why_not_abort(self) -> Option<String> {
        let over = self.view.with(|view| match view.replay.state {
            ReplayState::Running { .. } | ReplayState::Paused { .. } => None,
            ReplayState::Aborting { .. } => Some("It is being ended."),
            ReplayState::Finished { .. } => Some("It is over."),
        });
        self.why_not(Permission::Stop).or_else(|| over.map(String::from))
    }

    fn why_not_resume(self) -> Option<String> {
        let halted = || self.view.with(|view| self.fix.with(|fix| why_not_resume(view, fix.as_ref())));
        let gate = || {
            let asker = self.asker();
            let blocked = |gate: &GateView| blocked(gate, asker.declarer.as_deref(), asker.me.as_deref());
            self.gate.with(|gate| gate.as_ref().and_then(blocked))
        };
        self.why_not(Permission::Approve).or_else(halted).or_else(gate)
    }

    fn asker(self) -> Asker {
        Asker {
            me: self.tab.me().map(|me| me.name.to_string()),
            declarer: self.fix.with(|fix| fix.as_ref().map(|fix| fix.declared_by.to_string())),
        }
    }

    /// Pauses at once.
    pub(in crate::page) fn pause(self) {
        if let Some(why) = untrack(|| self.why_not_pause()) {
            self.toasts.say(why);
            return;
        }
        let id = self.view.with_untracked(|view| view.replay.id().clone());
        self.pausing.run(api::pause(id, ReasonRequest { reason: PAUSED.to_string() }), move |view: ReplayView| {
            let in_flight = view.total.in_flight + view.total.sending;
            self.toasts.say(match in_flight {
                0 => "Paused. Nothing is in flight.".to_string(),
                n => format!("Paused. {} still being observed.", counted(n, "letter is", "letters are")),
            });
            self.done.run(view);
        });
    }

    /// Asks before it is aborted.
    pub(in crate::page) fn ask_abort(self) {
        match untrack(|| self.why_not_abort()) {
            Some(why) => self.toasts.say(why),
            None => {
                self.aborting.clear();
                self.abort_open.set(true);
            }
        }
    }

    /// Asks before it is resumed.
    pub(in crate::page) fn ask_resume(self) {
        match untrack(|| self.why_not_resume()) {
            Some(why) => self.toasts.say(why),
            None => {
                self.resuming.clear();
                self.resume_open.set(true);
            }
        }
    }
}

/// The buttons, and what they ask.
#[component]
pub(in crate::page) fn Switches(levers: Levers) -> impl IntoView {
    let state = Memo::new(move |_| {
        levers.view.with(|view| match view.replay.state {
            ReplayState::Running { .. } => "running",
            ReplayState::Paused { .. } => "paused",
            ReplayState::Aborting { .. } => "stopping",
            ReplayState::Finished { .. } => "finished",
        })
    });
    let abort = move || {
        view! {
            <Button kind=Kind::Danger press=move |()| levers.ask_abort() busy=levers.aborting.busy() key="S"
                why_not=Signal::derive(move || levers.why_not_abort())>"Abort…"</Button>
        }
        .into_any()
    };
    view! {
        <div class="levers">
            {part(move || match state.get() {
                "running" => view! {
                    <Button press=move |()| levers.pause() busy=levers.pausing.busy() key="p"
                        why_not=Signal::derive(move || levers.why_not_pause())>"Pause"</Button>
                    {abort()}
                }
                .into_any(),
                "paused" => view! {
                    <Button kind=Kind::Primary press=move |()| levers.ask_resume() busy=levers.resuming.busy() key="v"
                        why_not=Signal::derive(move || levers.why_not_resume())>"Resume…"</Button>
                    {abort()}
                }
                .into_any(),
                _ => ().into_any(),
            })}
            <Problem error=levers.pausing.error() />
        </div>
        <AbortDialog levers />
        <Resuming levers />
    }
}

#[component]
fn AbortDialog(levers: Levers) -> impl IntoView {
    let open = levers.abort_open;
    let reason = RwSignal::new(String::new());
    Effect::new(move || {
        if open.get() {
            reason.set(String::new());
        }
    });
    let why_not = Signal::derive(move || {
        let lacks = || reason.with(|r| r.trim().is_empty()).then(|| "Write a reason.".to_string());
        levers.why_not_abort().or_else(lacks)
    });
    let total = levers.view.map(move |view| view.total.clone());
    let send = move |()| {
        let id = levers.view.with_untracked(|view| view.replay.id().clone());
        levers.aborting.run(
            api::abort(id, ReasonRequest { reason: reason.get_untracked() }),
            move |view: ReplayView| {
                open.try_set(false);
                levers.toasts.say("Aborted. Nothing more is sent.");
                levers.done.run(view);
            },
        );
    };
    let title = Signal::derive(move || format!("Abort, and leave {} unsent?", letters(total.with(|t| t.pending))));
    view! {
        <Dialog open title confirm="Abort the replay" kind=Kind::Danger busy=levers.aborting.busy()
            error=levers.aborting.error() why_not on_confirm=Callback::new(send)>
            <ul class="plain-list">
                <li>{part(move || format!("{} delivered: that cannot be called back.", count(total.with(|t| t.delivered))))}</li>
                <li>{part(move || format!("{} in flight: still observed to the end.", count(total.with(|t| t.in_flight + t.sending))))}</li>
                <li>{part(move || format!("{} came back: they wait in their groups.", count(total.with(|t| t.returned))))}</li>
                <li>{part(move || format!("{} not sent: they wait in the group as before.", count(total.with(|t| t.pending))))}</li>
            </ul>
            <p>"An aborted replay does not go on; the letters that wait can be planned anew."</p>
            <Field label="Why?" lines=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}

#[component]
fn Resuming(levers: Levers) -> impl IntoView {
    let nobody = levers.view.with_untracked(|view| view.replay.group().clone());
    let gate = Signal::derive(move || levers.gate.get().unwrap_or_else(|| no_gate(&nobody)));
    let asker = Signal::derive(move || levers.asker());
    let title = Signal::derive(move || {
        levers.view.with(|view| {
            let to_go = view.total.pending + view.total.sending;
            format!("Go on with {} to {}?", letters(to_go), view.replay.plan.main_queue.name())
        })
    });
    let first = Signal::derive(move || levers.view.with(|view| levers.fix.with(|fix| resumption(view, fix.as_ref()))));
    let resume = move |ask: ResumeRequest| {
        let id = levers.view.with_untracked(|view| view.replay.id().clone());
        levers.resuming.run(api::resume(id, ask), move |view: ReplayView| {
            levers.resume_open.try_set(false);
            levers.toasts.say("It goes on with a canary.");
            levers.done.run(view);
        });
    };
    // The gate as the office saw it when it refused.
    Effect::new(move || {
        if levers.resuming.error().get().and_then(|error| error.code()) == Some(ErrorCode::GateClosed) {
            levers.pulse.refresh();
        }
    });
    view! {
        <ResumeDialog open=levers.resume_open title first gate asker busy=levers.resuming.busy()
            error=levers.resuming.error() halted=Signal::derive(move || levers.why_not_resume()) fix=levers.fix
            on_resume=Callback::new(resume) />
    }
}

/// While the gate is not known yet there is nothing to waive; the office judges in any case.
fn no_gate(group: &GroupId) -> GateView {
    GateView { group: group.clone(), conditions: Vec::new() }
}
