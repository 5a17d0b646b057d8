//! Merging: the fingerprints that are merged into the group, unmerging one, and allowing it to merge again.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{At, Dialog, Kind, Reason, toaster};
use crate::reactive::prelude::*;
use dashboard_model::money::count_signed;
use dashboard_model::route::{GroupRoute, Route};
use domain::id::GroupId;
use domain::role::Permission;
use wire::{GroupName, MergedVariant, ReasonRequest, UnmergeRequest};

fn link(id: &GroupId) -> String {
    Route::Group(GroupRoute::new(id.clone())).to_string()
}

/// Lists the merged fingerprints. Shows nothing if there are none.
#[component]
pub(super) fn MergedVariants(current: CurrentGroup) -> impl IntoView {
    let variants = current.part(|detail| detail.merged.clone());
    let open = RwSignal::new(false);
    let chosen = RwSignal::new(None::<GroupName>);
    let may = current.why_not(Permission::Triage, |_| None);
    let choose = move |name: GroupName| {
        chosen.set(Some(name));
        open.set(true);
    };
    let row = move |variant: MergedVariant| {
        let name = GroupName { id: variant.id.clone(), title: variant.title.clone() };
        let press = move |_| choose(name.clone());
        view! {
            <li class="card">
                <p class="card-title"><a href=link(&variant.id)>{variant.title}</a></p>
                <p class="side-line">
                    <span class="muted">
                        {format!("{} open, first failed ", count_signed(variant.open_letters))}
                        <At at=Signal::stored(variant.first_died_at) />
                    </span>
                    <Show when=move || may.with(Option::is_none)>
                        <button type="button" class="button button-quiet" on:click=on(press.clone())>"Unmerge…"</button>
                    </Show>
                </p>
            </li>
        }
    };
    view! {
        {part(move || {
            let variants = variants.get();
            (!variants.is_empty()).then(|| view! {
                <section class="side-part">
                    <h2>"Merged fingerprints"</h2>
                    <p class="muted">"Their letters are counted and replayed in this group."</p>
                    <ul class="merged-variants">{variants.into_iter().map(row).collect_view()}</ul>
                </section>
            }.into_any())
        })}
        <UnmergeDialog current open chosen />
    }
}

#[component]
fn UnmergeDialog(current: CurrentGroup, open: RwSignal<bool>, chosen: RwSignal<Option<GroupName>>) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let reason = Reason::new(open, command);
    let may = current.why_not(Permission::Triage, |_| None);
    let why_not = reason.why_not(may);
    let send = move |()| {
        let Some(name) = chosen.get_untracked() else { return };
        let request = UnmergeRequest { fingerprint: name.id, reason: reason.text() };
        command.run(api::unmerge(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Fingerprint unmerged.");
        });
    };
    let title = move || chosen.get().map(|name| name.title);
    view! {
        <Dialog open title="Unmerge this fingerprint?" confirm="Unmerge" kind=Kind::Danger busy=command.busy() error=command.error()
            why_not on_confirm=Callback::new(send)>
            <p>{part(title)}</p>
            <p>"Its letters move to a group of their own. Only a person or a rule of the policy can merge it again."</p>
            {reason.field()}
        </Dialog>
    }
}

/// On the page of a merged fingerprint: links to the group where to act.
#[component]
pub(super) fn MergedNotice(current: CurrentGroup) -> impl IntoView {
    let group = current.part(|detail| detail.merged_into.clone());
    part(move || {
        group.get().map(|group| {
            view! {
                <p class="notice">
                    <span>"This fingerprint is merged into "<a href=link(&group.id)>{group.title}</a>". Fix and replay it there."</span>
                </p>
            }
            .into_any()
        })
    })
}

/// On the page of an unmerged fingerprint: offers to allow merging again.
#[component]
pub(super) fn UnmergedNotice(current: CurrentGroup) -> impl IntoView {
    let is_unmerged = current.part(|detail| detail.unmerged);
    let open = RwSignal::new(false);
    let may = current.why_not(Permission::Triage, |_| None);
    view! {
        {part(move || {
            is_unmerged.get().then(|| {
                view! {
                    <p class="notice">
                        <span>"This fingerprint was unmerged from another group and does not merge automatically. "</span>
                        <Show when=move || may.with(Option::is_none)>
                            <button type="button" class="button button-quiet" on:click=on(move |_| open.set(true))>
                                "Allow merging again…"
                            </button>
                        </Show>
                    </p>
                }
                .into_any()
            })
        })}
        <AllowMergeDialog current open />
    }
}

#[component]
fn AllowMergeDialog(current: CurrentGroup, open: RwSignal<bool>) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let reason = Reason::new(open, command);
    let why_not = reason.why_not(Signal::stored(None));
    let send = move |()| {
        let request = ReasonRequest { reason: reason.text() };
        command.run(api::allow_merge(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Merging allowed again. It takes effect within a minute.");
        });
    };
    view! {
        <Dialog open title="Allow merging again?" confirm="Allow merging again" busy=command.busy() error=command.error()
            why_not on_confirm=Callback::new(send)>
            <p>"The fingerprint merges into a group whose messages differ only in variable data."</p>
            {reason.field()}
        </Dialog>
    }
}
