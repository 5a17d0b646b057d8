//! Pausing, resuming and aborting a replay.

use crate::api;
use crate::command::Command;
use crate::component::{Button, Dialog, Field, Kind, People, Problem, ResumeDialog, Toaster, toaster};
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
use wire::{ErrorCode, GateView, ReasonRequest, ReplayAnswer, ResumeRequest};

/// The reason of a pause in the audit log. Pausing must be quick, so the page asks for none.
const PAUSED: &str = "Paused by hand";

/// The controls of a replay.
#[derive(Clone, Copy)]
pub(in crate::page) struct Controls {
    /// The replay.
    pub view: Signal<ReplayAnswer>,
    /// The gate for resuming.
    pub gate: Signal<Option<GateView>>,
    /// The declared fix.
    pub fix: Signal<Option<Fix>>,
    pulse: Pulse,
    done: Callback<ReplayAnswer>,
    pausing: Command,
    aborting: Command,
    resuming: Command,
    abort_open: RwSignal<bool>,
    resume_open: RwSignal<bool>,
    toaster: Toaster,
    tab: session::Tab,
}

impl Controls {
    /// Creates the controls. `done` receives the replay after each command.
    pub(in crate::page) fn new(
        view: Signal<ReplayAnswer>,
        gate: Signal<Option<GateView>>,
        fix: Signal<Option<Fix>>,
        pulse: Pulse,
        done: Callback<ReplayAnswer>,
    ) -> Self {
        Self {
            view,
            gate,
            fix,
            pulse,
            done,
            pausing: Command::new(),
            aborting: Command::new(),
            resuming: Command::new(),
            abort_open: RwSignal::new(false),
            resume_open: RwSignal::new(false),
            toaster: toaster(),
            tab: session::tab(),
        }
    }

    fn why_not(self, permission: Permission) -> Option<String> {
        self.pulse.why_not_write().or_else(|| self.tab.why_not(permission))
    }

    fn why_not_pause(self) -> Option<String> {
        let running = self.view.with(|view| matches!(view.replay.state, ReplayState::Running { .. }));
        self.why_not(Permission::PauseOrAbort).or_else(|| (!running).then(|| "The replay is not running.".to_string()))
    }

    fn why_not_abort(self) -> Option<String> {
        let ended = self.view.with(|view| match view.replay.state {
            ReplayState::Running { .. } | ReplayState::Paused { .. } => None,
            ReplayState::Aborting { .. } => Some("The replay is being aborted."),
            ReplayState::Finished { .. } => Some("The replay has finished."),
        });
        self.why_not(Permission::PauseOrAbort).or_else(|| ended.map(String::from))
    }

    fn why_not_resume(self) -> Option<String> {
        let not_ready = || self.view.with(|view| self.fix.with(|fix| why_not_resume(view, fix.as_ref())));
        let gate = || {
            let people = self.people();
            let blocked = |gate: &GateView| blocked(gate, people.declarer.as_deref(), people.me.as_deref());
            self.gate.with(|gate| gate.as_ref().and_then(blocked))
        };
        self.why_not(Permission::Approve).or_else(not_ready).or_else(gate)
    }

    fn people(self) -> People {
        People {
            me: self.tab.me().map(|me| me.name.to_string()),
            identity: self.tab.me().map(|me| me.identity).unwrap_or_default(),
            declarer: self.fix.with(|fix| fix.as_ref().map(|fix| fix.declared_by.to_string())),
        }
    }

    /// Pauses the replay at once.
    pub(in crate::page) fn pause(self) {
        if let Some(why) = untrack(|| self.why_not_pause()) {
            self.toaster.show(why);
            return;
        }
        let id = self.view.with_untracked(|view| view.replay.id().clone());
        self.pausing.run(api::pause(id, ReasonRequest { reason: PAUSED.to_string() }), move |view: ReplayAnswer| {
            let in_flight = view.total.in_flight + view.total.sending;
            self.toaster.show(match in_flight {
                0 => "Paused. No letters in flight.".to_string(),
                n => format!("Paused. {} still in flight.", counted(n, "letter is", "letters are")),
            });
            self.done.run(view);
        });
    }

    /// Opens the abort dialog.
    pub(in crate::page) fn ask_abort(self) {
        match untrack(|| self.why_not_abort()) {
            Some(why) => self.toaster.show(why),
            None => {
                self.aborting.clear();
                self.abort_open.set(true);
            }
        }
    }

    /// Opens the resume dialog.
    pub(in crate::page) fn ask_resume(self) {
        match untrack(|| self.why_not_resume()) {
            Some(why) => self.toaster.show(why),
            None => {
                self.resuming.clear();
                self.resume_open.set(true);
            }
        }
    }
}

/// Shows the buttons and their dialogs.
#[component]
pub(in crate::page) fn Buttons(controls: Controls) -> impl IntoView {
    let state = Memo::new(move |_| {
        controls.view.with(|view| match view.replay.state {
            ReplayState::Running { .. } => "running",
            ReplayState::Paused { .. } => "paused",
            ReplayState::Aborting { .. } => "aborting",
            ReplayState::Finished { .. } => "finished",
        })
    });
    let abort = move || {
        view! {
            <Button kind=Kind::Danger press=move |()| controls.ask_abort() busy=controls.aborting.busy() key="S"
                why_not=Signal::derive(move || controls.why_not_abort())>"Abort replay…"</Button>
        }
        .into_any()
    };
    view! {
        <div class="controls">
            {part(move || match state.get() {
                "running" => view! {
                    <Button press=move |()| controls.pause() busy=controls.pausing.busy() key="p"
                        why_not=Signal::derive(move || controls.why_not_pause())>"Pause replay"</Button>
                    {abort()}
                }
                .into_any(),
                "paused" => view! {
                    <Button kind=Kind::Primary press=move |()| controls.ask_resume() busy=controls.resuming.busy() key="v"
                        why_not=Signal::derive(move || controls.why_not_resume())>"Resume replay…"</Button>
                    {abort()}
                }
                .into_any(),
                _ => ().into_any(),
            })}
            <Problem error=controls.pausing.error() />
        </div>
        <AbortDialog controls />
        <Resuming controls />
    }
}

#[component]
fn AbortDialog(controls: Controls) -> impl IntoView {
    let open = controls.abort_open;
    let reason = RwSignal::new(String::new());
    Effect::new(move || {
        if open.get() {
            reason.set(String::new());
        }
    });
    let why_not = Signal::derive(move || {
        let missing = || reason.with(|r| r.trim().is_empty()).then(|| "Enter a reason.".to_string());
        controls.why_not_abort().or_else(missing)
    });
    let total = controls.view.map(move |view| view.total.clone());
    let send = move |()| {
        let id = controls.view.with_untracked(|view| view.replay.id().clone());
        controls.aborting.run(
            api::abort(id, ReasonRequest { reason: reason.get_untracked() }),
            move |view: ReplayAnswer| {
                open.try_set(false);
                controls.toaster.show("Replay aborted. Nothing more is sent.");
                controls.done.run(view);
            },
        );
    };
    let title =
        Signal::derive(move || format!("Abort the replay and leave {} unsent?", letters(total.with(|t| t.pending))));
    view! {
        <Dialog open title confirm="Abort replay" kind=Kind::Danger busy=controls.aborting.busy()
            error=controls.aborting.error() why_not on_confirm=Callback::new(send)>
            <ul class="plain-list">
                <li>{part(move || format!("{} delivered (cannot be recalled)", count(total.with(|t| t.delivered))))}</li>
                <li>{part(move || format!("{} in flight (still observed)", count(total.with(|t| t.in_flight + t.sending))))}</li>
                <li>{part(move || format!("{} returned (waiting in their groups)", count(total.with(|t| t.returned))))}</li>
                <li>{part(move || format!("{} pending (not sent, waiting in the group)", count(total.with(|t| t.pending))))}</li>
            </ul>
            <p>"An aborted replay cannot be resumed. You can plan a new replay of the waiting letters."</p>
            <Field label="Reason" lines=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}

#[component]
fn Resuming(controls: Controls) -> impl IntoView {
    let group = controls.view.with_untracked(|view| view.replay.group().clone());
    let gate = Signal::derive(move || controls.gate.get().unwrap_or_else(|| no_gate(&group)));
    let people = Signal::derive(move || controls.people());
    let title = Signal::derive(move || {
        controls.view.with(|view| {
            let unsent = view.total.pending + view.total.sending;
            format!("Resume replay of {} to {}?", letters(unsent), view.replay.plan.main_queue.name())
        })
    });
    let first =
        Signal::derive(move || controls.view.with(|view| controls.fix.with(|fix| resumption(view, fix.as_ref()))));
    let resume = move |request: ResumeRequest| {
        let id = controls.view.with_untracked(|view| view.replay.id().clone());
        controls.resuming.run(api::resume(id, request), move |view: ReplayAnswer| {
            controls.resume_open.try_set(false);
            controls.toaster.show("Replay resumed with a canary.");
            controls.done.run(view);
        });
    };
    // After a refusal, show the gate as the office evaluated it.
    Effect::new(move || {
        if controls.resuming.error().get().and_then(|error| error.code()) == Some(ErrorCode::GateClosed) {
            controls.pulse.refresh();
        }
    });
    view! {
        <ResumeDialog open=controls.resume_open title first gate people busy=controls.resuming.busy()
            error=controls.resuming.error() not_ready=Signal::derive(move || controls.why_not_resume()) fix=controls.fix
            on_resume=Callback::new(resume) />
    }
}

/// Returns a gate without conditions, until the gate is loaded. The office evaluates the gate in any case.
fn no_gate(group: &GroupId) -> GateView {
    GateView { group: group.clone(), conditions: Vec::new() }
}
