//! Sends only the originals of letters that look like error envelopes: saves the offered program, tries it on the plan's
//! letters, declares the same fix with it, and plans again. A plan of other letters tries it on them.

use super::current::CurrentGroup;
use super::fix::why_not_declare;
use super::plan::Planning;
use crate::api::{self, ApiError};
use crate::command::Command;
use crate::component::{Button, Kind, Problem};
use crate::reactive::prelude::*;
use domain::filter::LetterFilter;
use domain::id::GroupId;
use domain::replay::Plan;
use domain::role::Permission;
use wire::{DeclareFixRequest, DryRunRequest, GroupAnswer, SaveTransformRequest};

/// Offers the program for the plan. Shows nothing if there is none, or if a transform changes the letters already.
#[component]
pub(super) fn Unwrap(current: CurrentGroup, planning: Planning) -> impl IntoView {
    let command = Command::new();
    let may = current.why_not(Permission::Triage, why_not_declare);
    let why_not = Signal::derive(move || planning.why_not().get().or_else(|| may.get()));
    let offered = current.part(|detail| {
        let plan = &detail.plan.as_ref()?.plan;
        let program = plan.wrapped.program().filter(|_| plan.fix.transform.is_none())?;
        Some((plan.clone(), program))
    });
    let press = move |()| {
        let Some((plan, program)) = offered.get_untracked() else { return };
        // The plan is gone once the fix has changed, and with it the choice of letters.
        let choice = planning.choice();
        command.run(declared_with(plan, program), move |detail| {
            current.put(detail);
            if let Ok(choice) = choice {
                planning.plan(choice);
            }
        });
    };
    view! {
        <Show when=move || offered.with(Option::is_some)>
            <Button kind=Kind::Primary press busy=command.busy() why_not>"Send only the original"</Button>
        </Show>
        <Problem error=command.error() />
    }
}

/// Tries the program of the plan's fix on the plan's letters.
#[component]
pub(super) fn TryProgram(current: CurrentGroup) -> impl IntoView {
    let command = Command::new();
    let why_not = current.why_not(Permission::Triage, |_| None);
    let label = current.part(|detail| {
        let transform = detail.plan.as_ref()?.plan.fix.transform.clone()?;
        Some(format!("Try {} on these letters", transform.label()))
    });
    let press = move |()| {
        let Some(Plan { group, fix, filter, .. }) = current.now().plan.as_ref().map(|answer| answer.plan.clone())
        else {
            return;
        };
        let Some(transform) = fix.transform else { return };
        command.run(try_on(group, transform.version, filter), move |()| current.hurry());
    };
    view! {
        <Button kind=Kind::Primary press busy=command.busy() why_not>{part(move || label.get())}</Button>
        <Problem error=command.error() />
    }
}

/// Declares a plan's fix with this program, once it was tried on the plan's letters.
async fn declared_with(plan: Plan, program: String) -> Result<GroupAnswer, ApiError> {
    let Plan { group: id, fix, filter, .. } = plan;
    let saved = api::transforms(id.clone()).await?.versions.into_iter().find(|view| view.transform.program == program);
    let version = match saved {
        Some(view) => view.transform.version,
        None => api::save_transform(id.clone(), SaveTransformRequest { program, note: None }).await?.version,
    };
    try_on(id.clone(), version, filter).await?;
    let request =
        DeclareFixRequest { kind: fix.kind, reference: fix.reference, note: fix.note, transform: Some(version) };
    api::declare_fix(id, request).await
}

/// Runs a transform's dry run on all letters of a filter.
async fn try_on(id: GroupId, version: u32, filter: LetterFilter) -> Result<(), ApiError> {
    let mut go_on = None;
    loop {
        let run = api::dry_run(id.clone(), DryRunRequest { version, go_on, filter: filter.clone() }).await?;
        if run.is_whole() {
            return Ok(());
        }
        go_on = Some(run.revision);
    }
}
