//! The fix: showing, declaring and withdrawing it.

use super::current::CurrentGroup;
use super::plan::Planning;
use super::transform::{EditedTransform, Editor, versions};
use crate::api;
use crate::command::Command;
use crate::component::{At, Dialog, Field, Kind, Reason, toaster};
use crate::reactive::prelude::*;
use dashboard_model::transform::sent_as;
use domain::fix::{Fix, FixKind};
use domain::group::GroupState;
use domain::reading::Class;
use domain::role::Permission;
use wire::{DeclareFixRequest, GroupAnswer, ReasonRequest};

/// Explains why no fix can be declared in this state.
pub(super) fn why_not_declare(detail: &GroupAnswer) -> Option<String> {
    match &detail.row.state {
        GroupState::Replaying { .. } | GroupState::Verifying { .. } => {
            Some("A replay is in progress. Pause it before you declare another fix.".to_string())
        }
        GroupState::Resolved { .. } => Some("This group is resolved; there is nothing to fix.".to_string()),
        GroupState::Discarded { .. } => Some("The letters of this group are discarded.".to_string()),
        _ => None,
    }
}

/// Shows the declared fix.
#[component]
pub(super) fn FixCard(current: CurrentGroup, fix: Fix) -> impl IntoView {
    let withdraw = RwSignal::new(false);
    let can_withdraw = current.part(|detail| {
        matches!(detail.row.state, GroupState::FixDeclared { .. } | GroupState::Paused { fix: Some(_), .. })
    });
    let note = fix.note.clone().map(|note| view! { <p class="card-note">{note}</p> }.into_any());
    let changes = sent_as(&fix).filter(|_| fix.kind != FixKind::PayloadTransform);
    let changes = changes.map(|words| view! { <p class="card-note">{format!("Letters are {words}.")}</p> }.into_any());
    view! {
        <div class="card">
            <p class="card-title"><b>{fix.kind.label()}</b>" "<span class="mono">{fix.reference.clone()}</span></p>
            {changes}
            {note}
            <p class="muted">
                {format!("Declared by {} ", fix.declared_by)}<At at=Signal::stored(fix.declared_at) />
            </p>
            <Show when=move || can_withdraw.get()>
                <Withdraw current open=withdraw />
            </Show>
        </div>
    }
}

#[component]
fn Withdraw(current: CurrentGroup, open: RwSignal<bool>) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let reason = Reason::new(open, command);
    let may = current.why_not(Permission::Triage, |_| None);
    let why_not = reason.why_not(may);
    let send = move |()| {
        let request = ReasonRequest { reason: reason.text() };
        command.run(api::withdraw_fix(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Fix withdrawn.");
        });
    };
    view! {
        <Show when=move || may.with(Option::is_none)>
            <button type="button" class="button button-quiet" on:click=on(move |_| open.set(true))>"Withdraw fix…"</button>
        </Show>
        <Dialog open title="Withdraw fix?" confirm="Withdraw fix" kind=Kind::Danger busy=command.busy() error=command.error()
            why_not on_confirm=Callback::new(send)>
            <p>"The gate closes, and the plan for this fix can no longer be approved."</p>
            {reason.field()}
        </Dialog>
    }
}

/// Declares a fix.
#[component]
pub(super) fn DeclareDialog(current: CurrentGroup, planning: Planning, open: RwSignal<bool>) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let (kind, reference, note) =
        (RwSignal::new(FixKind::Deploy), RwSignal::new(String::new()), RwSignal::new(String::new()));
    Effect::new(move || {
        if open.get() {
            let transient = current.now().row.classification.class == Class::Transient;
            let program = current.now().row.state.fix().is_some_and(|fix| fix.kind == FixKind::PayloadTransform);
            kind.set(match (program, transient) {
                (true, _) => FixKind::PayloadTransform,
                (_, true) => FixKind::DependencyRecovered,
                _ => FixKind::Deploy,
            });
            reference.set(String::new());
            note.set(String::new());
            command.clear();
        }
    });
    let edited = EditedTransform::new(current, planning);
    let is_transform = kind.map(|kind| *kind == FixKind::PayloadTransform);
    Effect::new(move || {
        if open.get() && is_transform.get() {
            edited.open();
        }
    });
    let may = current.why_not(Permission::Triage, why_not_declare);
    let why_not = Signal::derive(move || {
        let missing = || reference.with(|r| r.trim().is_empty()).then(|| missing_reference(kind.get()).to_string());
        may.get().or_else(|| if is_transform.get() { edited.why_not_save() } else { missing() })
    });
    let declare = move |reference: String| {
        let note = Some(note.get_untracked()).filter(|note| !note.trim().is_empty());
        let request = DeclareFixRequest { kind: kind.get_untracked(), reference, note, transform: None };
        command.run(api::declare_fix(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Fix declared.");
        });
    };
    let send = move |()| {
        if is_transform.get_untracked() {
            match untrack(|| edited.saved()) {
                Some(saved) => declare(format!("v{}", saved.transform.version)),
                None => edited.save_then(move |version| declare(format!("v{version}"))),
            }
        } else {
            declare(reference.get_untracked());
        }
    };
    let confirm = Signal::derive(move || {
        let is_unsaved = is_transform.get() && edited.saved().is_none();
        if is_unsaved { "Save and declare" } else { "Declare fix" }.to_string()
    });
    let busy = Signal::derive(move || command.busy().get() || edited.is_saving());
    view! {
        <Dialog open title="Declare a fix" confirm kind=Kind::Primary busy error=command.error() why_not
            wide=is_transform on_confirm=Callback::new(send)>
            <FixFields current kind reference note edited />
        </Dialog>
    }
}

fn missing_reference(kind: FixKind) -> &'static str {
    match kind {
        FixKind::Deploy => "Enter the version.",
        _ => "Enter a reference.",
    }
}

#[component]
fn FixFields(
    current: CurrentGroup,
    kind: RwSignal<FixKind>,
    reference: RwSignal<String>,
    note: RwSignal<String>,
    edited: EditedTransform,
) -> impl IntoView {
    let version = current.part(|detail| detail.deployment.clone());
    let radio = move |this: FixKind| {
        view! {
            <label class="check">
                <input type="radio" name="fix-kind" prop:checked=move || kind.get() == this on:change=on(move |_| kind.set(this)) />
                {this.label()}
            </label>
        }.into_any()
    };
    let label = Signal::derive(move || {
        match kind.get() {
            FixKind::Deploy => "Version, exactly as the deployment reports it",
            FixKind::Config => "What was changed (commit, ticket or link)",
            FixKind::DataRepair => "What was repaired (ticket, script or link)",
            FixKind::DependencyRecovered => "What recovered (incident, status page or name)",
            // A transform has an editor instead of a reference.
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
                <button type="button" class="button" on:click=on(move |_| reference.set(fill.clone()))>"Use this version"</button>
            </p>
        })
    };
    view! {
        <fieldset class="kinds"><legend class="sr-only">"Kind of fix"</legend>{FixKind::ALL.map(radio).collect_view()}</fieldset>
        {part(move || match kind.get() {
            FixKind::PayloadTransform => view! { <Editor edited /> }.into_any(),
            _ => view! { <Field label first=true value=reference on_input=move |text| reference.set(text) /> }.into_any(),
        })}
        {part(offer)}
        <Field label="Note (optional)" lines=true value=note on_input=move |text| note.set(text)
            hint=Some("What was wrong and what was changed, for the approver.".to_string()) />
        {part(move || (kind.get() == FixKind::PayloadTransform).then(|| versions(edited)))}
    }
}
