//! The versions of the policy: who changed what, when and why.

use super::editor::Editing;
use super::wrote;
use crate::api::{self, PolicyText, PolicyVersions};
use crate::command::Command;
use crate::component::{Button, Kind, Problem, item, list, span};
use crate::reactive::prelude::*;
use crate::session::tab;
use dashboard_model::policy::change;
use domain::role::Permission;

/// Shows the versions, newest first.
#[component]
pub(super) fn History(
    editing: Editing,
    /// The version that applies.
    version: u64,
) -> impl IntoView {
    let command = Command::new();
    let found = RwSignal::new(None::<PolicyVersions>);
    let load = move |before: Option<u64>| {
        command.run(api::policy_history(before), move |page: PolicyVersions| {
            found.try_update(|found| {
                let versions = found.get_or_insert_default();
                versions.next = page.next;
                versions.versions.extend(page.versions);
            });
        });
    };
    load(None);
    let row = move |row: PolicyText| view! { <Version row editing applies=version /> }.into_any();
    let next = found.map(|found| found.as_ref().and_then(|found| found.next));
    let is_empty = found.map(|found| found.as_ref().is_some_and(|found| found.versions.is_empty()));
    view! {
        <section class="policy-history">
            <h2>"History"</h2>
            <Problem error=command.error() />
            <Show when=move || is_empty.get()>
                <p class="muted">"No version saved yet. Each saved version is listed here, with its author and reason."</p>
            </Show>
            <ol>
                <For each=move || found.get().unwrap_or_default().versions key=|row| row.version children=row />
            </ol>
            <Show when=move || next.get().is_some()>
                <Button press=move |()| load(next.get_untracked()) busy=command.busy()>"Load earlier versions"</Button>
            </Show>
        </section>
    }
}

#[component]
fn Version(row: PolicyText, editing: Editing, applies: u64) -> impl IntoView {
    let tab = tab();
    let (number, text) = (row.version, row.text.clone());
    let changes = row.changes.iter().map(|found| {
        let (setting, words) = change(found);
        item(setting, span("", words))
    });
    let changes = list(changes.collect());
    // Writing an earlier version again undoes the later ones. What that means is shown by the check.
    let press = move |()| editing.begin(text.clone());
    let may = move || number != applies && tab.why_not(Permission::ChangePolicy).is_none();
    view! {
        <li class="policy-row">
            <p class="policy-version">{wrote(&row)}</p>
            {changes}
            <Show when=may>
                <Button press=press.clone() kind=Kind::Quiet>"Edit from this version"</Button>
            </Show>
        </li>
    }
}
