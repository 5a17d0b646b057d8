//! The fingerprints that are one cause with the group: what else it was seen as, taking one out, and letting it in
//! again.

use super::here::Here;
use crate::api;
use crate::ask::Ask;
use crate::component::{At, Dialog, Field, Kind, toasts};
use crate::reactive::prelude::*;
use dashboard_model::money::count_of;
use dashboard_model::route::{GroupPlace, Route};
use domain::id::GroupId;
use domain::role::Permission;
use wire::{GroupName, MergedVariant, ReasonRequest, UnmergeRequest};

fn link(id: &GroupId) -> String {
    Route::Group(GroupPlace::new(id.clone())).to_string()
}

/// What else the group was seen as; nothing where it is the only fingerprint of its cause.
#[component]
pub(super) fn AlsoCard(here: Here) -> impl IntoView {
    let also = here.part(|detail| detail.merged.clone());
    let open = RwSignal::new(false);
    let chosen = RwSignal::new(None::<GroupName>);
    let may = here.why_not(Permission::Triage, |_| None);
    let ask = move |name: GroupName| {
        chosen.set(Some(name));
        open.set(true);
    };
    let row = move |one: MergedVariant| {
        let name = GroupName { id: one.id.clone(), title: one.title.clone() };
        let press = move |_| ask(name.clone());
        view! {
            <li class="card">
                <p class="card-title"><a href=link(&one.id)>{one.title}</a></p>
                <p class="side-line">
                    <span class="muted">
                        {format!("{} open, first ", count_of(one.open_letters))}<At at=Signal::stored(one.first_died_at) />
                    </span>
                    <Show when=move || may.with(Option::is_none)>
                        <button type="button" class="button button-quiet" on:click=on(press.clone())>"Another cause…"</button>
                    </Show>
                </p>
            </li>
        }
    };
    view! {
        {part(move || {
            let also = also.get();
            (!also.is_empty()).then(|| view! {
                <section class="side-part">
                    <h2>"Also seen as"</h2>
                    <p class="muted">"Their letters are counted and replayed here."</p>
                    <ul class="also">{also.into_iter().map(row).collect_view()}</ul>
                </section>
            }.into_any())
        })}
        <TakeOut here open chosen />
    }
}

#[component]
fn TakeOut(here: Here, open: RwSignal<bool>, chosen: RwSignal<Option<GroupName>>) -> impl IntoView {
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
        let Some(name) = chosen.get_untracked() else { return };
        let take = UnmergeRequest { fingerprint: name.id, reason: reason.get_untracked() };
        ask.run(api::take_out(here.id(), take), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("It is a group of its own again.");
        });
    };
    let title = move || chosen.get().map(|name| name.title);
    view! {
        <Dialog open title="Is it another cause?" confirm="Take it out" kind=Kind::Danger busy=ask.busy() error=ask.error()
            why_not on_confirm=Callback::new(send)>
            <p>{part(title)}</p>
            <p>"Its letters leave this group, and it is not merged again."</p>
            <Field label="Why?" lines=true first=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}

/// On the page of a fingerprint that is merged: where people act.
#[component]
pub(super) fn MergedNotice(here: Here) -> impl IntoView {
    let head = here.part(|detail| detail.merged_into.clone());
    part(move || {
        head.get().map(|head| {
            view! {
                <p class="notice">
                    <span>"This is seen as one cause with "<a href=link(&head.id)>{head.title}</a>": fix and replay it there."</span>
                </p>
            }
            .into_any()
        })
    })
}

/// On the page of a fingerprint that a person took out: how it may come back.
#[component]
pub(super) fn ApartNotice(here: Here) -> impl IntoView {
    let apart = here.part(|detail| detail.unmerged);
    let open = RwSignal::new(false);
    let may = here.why_not(Permission::Triage, |_| None);
    view! {
        {part(move || {
            apart.get().then(|| {
                view! {
                    <p class="notice">
                        <span>"It was taken out of another group and is not merged by itself. "</span>
                        <Show when=move || may.with(Option::is_none)>
                            <button type="button" class="button button-quiet" on:click=on(move |_| open.set(true))>
                                "Allow it again…"
                            </button>
                        </Show>
                    </p>
                }
                .into_any()
            })
        })}
        <LetIn here open />
    }
}

#[component]
fn LetIn(here: Here, open: RwSignal<bool>) -> impl IntoView {
    let ask = Ask::new();
    let toasts = toasts();
    let reason = RwSignal::new(String::new());
    let why_not = Signal::derive(move || reason.with(|r| r.trim().is_empty()).then(|| "Write a reason.".to_string()));
    Effect::new(move || {
        if open.get() {
            reason.set(String::new());
            ask.clear();
        }
    });
    let send = move |()| {
        ask.run(api::rejoin(here.id(), ReasonRequest { reason: reason.get_untracked() }), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("It is merged within a minute where it belongs.");
        });
    };
    view! {
        <Dialog open title="May it be merged again?" confirm="Allow it" busy=ask.busy() error=ask.error()
            why_not on_confirm=Callback::new(send)>
            <p>"Where its messages differ from another group's only where data stands, the two become one group."</p>
            <Field label="Why?" lines=true first=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}
