//! The fix: what counts now, and declaring or withdrawing it.

use super::here::Here;
use super::plan::Planning;
use super::transform::{Editor, Writing};
use crate::api;
use crate::ask::Ask;
use crate::component::{At, Dialog, Field, Kind, toasts};
use crate::reactive::prelude::*;
use domain::fix::{Fix, FixKind};
use domain::group::GroupState;
use domain::reading::Class;
use domain::role::Permission;
use wire::{DeclareFixRequest, GroupDetail, ReasonRequest};

/// Why no fix can be declared in this state.
pub(super) fn why_not_declare(detail: &GroupDetail) -> Option<String> {
    match &detail.row.state {
        GroupState::Replaying { .. } | GroupState::Verifying { .. } => {
            Some("A replay is under way: pause it before you declare another fix.".to_string())
        }
        GroupState::Resolved { .. } => Some("This group is resolved: there is nothing to fix.".to_string()),
        _ => None,
    }
}

/// The fix that counts now.
#[component]
pub(super) fn FixCard(here: Here, fix: Fix) -> impl IntoView {
    let withdraw = RwSignal::new(false);
    let can_withdraw = here.part(|detail| {
        matches!(detail.row.state, GroupState::FixDeclared { .. } | GroupState::Paused { fix: Some(_), .. })
    });
    let note = fix.note.clone().map(|note| view! { <p class="card-note">{note}</p> }.into_any());
    view! {
        <div class="card">
            <p class="card-title"><b>{fix.kind.label()}</b>" "<span class="mono">{fix.reference.clone()}</span></p>
            {note}
            <p class="muted">
                {format!("{} declared it ", fix.declared_by)}<At at=Signal::stored(fix.declared_at) />
            </p>
            <Show when=move || can_withdraw.get()>
                <Withdraw here open=withdraw />
            </Show>
        </div>
    }
}

#[component]
fn Withdraw(here: Here, open: RwSignal<bool>) -> impl IntoView {
    let ask = Ask::new();
    let toasts = toasts();
    let reason = RwSignal::new(String::new());
    let may = here.why_not(Permission::Triage, |_| None);
    let why_not = Signal::derive(move || {
        may.get().or_else(|| reason.with(|r| r.trim().is_empty()).then(|| "Write a reason.".to_string()))
    });
    Effect::new(move || {
        if open.get() {
            reason.set(String::new());
            ask.clear();
        }
    });
    let send = move |()| {
        let give = ReasonRequest { reason: reason.get_untracked() };
        ask.run(api::withdraw_fix(here.id(), give), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("The fix is withdrawn.");
        });
    };
    view! {
        <Show when=move || may.with(Option::is_none)>
            <button type="button" class="button button-quiet" on:click=on(move |_| open.set(true))>"Withdraw…"</button>
        </Show>
        <Dialog open title="Withdraw the fix?" confirm="Withdraw" kind=Kind::Danger busy=ask.busy() error=ask.error()
            why_not on_confirm=Callback::new(send)>
            <p>"The gate closes, and a plan made for this fix can no longer be approved."</p>
            <Field label="Why?" lines=true first=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}

/// Asks what was done about the cause.
#[component]
pub(super) fn DeclareDialog(here: Here, planning: Planning, open: RwSignal<bool>) -> impl IntoView {
    let ask = Ask::new();
    let toasts = toasts();
    let (kind, reference, note) =
        (RwSignal::new(FixKind::Deploy), RwSignal::new(String::new()), RwSignal::new(String::new()));
    Effect::new(move || {
        if open.get() {
            let transient = here.now().row.classification.class == Class::Transient;
            let program = here.now().row.state.fix().is_some_and(|fix| fix.transform.is_some());
            kind.set(match (program, transient) {
                (true, _) => FixKind::PayloadTransform,
                (_, true) => FixKind::DependencyRecovered,
                _ => FixKind::Deploy,
            });
            reference.set(String::new());
            note.set(String::new());
            ask.clear();
        }
    });
    let writing = Writing::new(here, planning);
    let is_transform = kind.map(|kind| *kind == FixKind::PayloadTransform);
    Effect::new(move || {
        if open.get() && is_transform.get() {
            writing.open();
        }
    });
    let may = here.why_not(Permission::Triage, why_not_declare);
    let why_not = Signal::derive(move || {
        let lacks = || reference.with(|r| r.trim().is_empty()).then(|| "Write the reference.".to_string());
        let unsaved = || writing.chosen().is_none().then(|| "Save the program first.".to_string());
        may.get().or_else(|| if is_transform.get() { unsaved() } else { lacks() })
    });
    let send = move |()| {
        let note = note.get_untracked();
        let fix = DeclareFixRequest {
            kind: kind.get_untracked(),
            reference: match untrack(|| writing.chosen()).filter(|_| is_transform.get_untracked()) {
                Some(chosen) => format!("v{}", chosen.transform.version),
                None => reference.get_untracked(),
            },
            note: Some(note).filter(|note| !note.trim().is_empty()),
        };
        ask.run(api::declare_fix(here.id(), fix), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("The fix is declared.");
        });
    };
    view! {
        <Dialog open title="What has made the cause go away?" confirm="Declare the fix" kind=Kind::Primary
            busy=ask.busy() error=ask.error() why_not wide=is_transform on_confirm=Callback::new(send)>
            <FixFields here kind reference note writing />
        </Dialog>
    }
}

#[component]
fn FixFields(
    here: Here,
    kind: RwSignal<FixKind>,
    reference: RwSignal<String>,
    note: RwSignal<String>,
    writing: Writing,
) -> impl IntoView {
    let version = here.part(|detail| detail.deployment.clone());
    let radio = move |of: FixKind| {
        view! {
            <label class="check">
                <input type="radio" name="fix-kind" prop:checked=move || kind.get() == of on:change=on(move |_| kind.set(of)) />
                {of.label()}
            </label>
        }.into_any()
    };
    let label = Signal::derive(move || {
        match kind.get() {
            FixKind::Deploy => "Version, exactly as the deployment reports it",
            FixKind::Config => "What was changed: a commit, ticket or link",
            FixKind::DataRepair => "What was repaired: a ticket, script or link",
            FixKind::DependencyRecovered => "What has recovered: an incident, status page or name",
            // It has an editor in place of a reference.
            FixKind::PayloadTransform => "",
        }
        .to_string()
    });
    let offer = move || {
        let deployment = version.get().filter(|_| kind.get() == FixKind::Deploy)?;
        let (words, at, fill) =
            (format!("{} {}", deployment.service, deployment.version), deployment.at, deployment.version);
        Some(view! {
            <p class="offer">
                <span class="muted">{format!("{words} went live ")}<At at=Signal::stored(at) /></span>
                <button type="button" class="button" on:click=on(move |_| reference.set(fill.clone()))>"Use it"</button>
            </p>
        })
    };
    view! {
        <fieldset class="kinds"><legend class="sr-only">"Kind of fix"</legend>{FixKind::ALL.map(radio).collect_view()}</fieldset>
        {part(move || match kind.get() {
            FixKind::PayloadTransform => view! { <Editor writing /> }.into_any(),
            _ => view! { <Field label first=true value=reference on_input=move |text| reference.set(text) /> }.into_any(),
        })}
        {part(offer)}
        <Field label="Note (not required)" lines=true value=note on_input=move |text| note.set(text)
            hint=Some("What was wrong and what was done, for whoever approves.".to_string()) />
    }
}
