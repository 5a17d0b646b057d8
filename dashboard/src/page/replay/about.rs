//! The replay's approval, plan and events.

use crate::api;
use crate::component::{At, AuditList, Loaded, PlanText};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::timeline::for_replay;
use wire::{AuditAnswer, ReplayAnswer};

/// Shows the approval and its waivers.
#[component]
pub(super) fn Approved(view: Signal<ReplayAnswer>) -> impl IntoView {
    let approval = view.map(move |view| (view.replay.approval.clone(), view.replay.plan.fix.clone(), view.fix.clone()));
    part(move || {
        let (approval, fix, now) = approval.get();
        let resumed = now.filter(|now| *now != fix && now.declared_at > fix.declared_at).map(|now| {
            view! {
                <p class="muted">
                    {format!("Now for the fix {} ", now.kind.label())}<b class="mono">{now.reference.clone()}</b>
                    {format!(", declared by {}", now.declared_by)}
                </p>
            }
            .into_any()
        });
        let waivers = approval.waivers.iter().map(|waiver| {
            view! {
                <li>
                    <b>{waiver.condition.label()}</b>
                    {format!(" waived by {}: ", waiver.by)}
                    <q>{waiver.reason.clone()}</q>
                </li>
            }
            .into_any()
        });
        let waivers = (!approval.waivers.is_empty())
            .then(|| view! { <ul class="waived">{waivers.collect_view()}</ul> }.into_any());
        view! {
            <section class="side-part">
                <h2>"Approval"</h2>
                <p><b>{approval.by.to_string()}</b>" approved this replay "<At at=Signal::stored(approval.at) absolute=true /></p>
                <q class="audit-reason">{approval.reason.clone()}</q>
                <p class="muted">
                    {format!("For the fix {} ", fix.kind.label())}<span class="mono">{fix.reference.clone()}</span>
                    {format!(", declared by {}", fix.declared_by)}
                </p>
                {resumed}
                {waivers}
            </section>
        }.into_any()
    })
}

/// Shows the plan.
#[component]
pub(super) fn Planned(view: Signal<ReplayAnswer>) -> impl IntoView {
    // A plan never changes.
    let plan = view.with_untracked(|view| view.replay.plan.clone());
    let duration = plan.duration_estimate();
    let (by, at) = (plan.made_by.clone(), plan.made_at);
    view! {
        <section class="side-part">
            <h2>"Plan"</h2>
            <PlanText plan duration arrived_since=0 />
            <p class="muted">{format!("Planned by {by} ")}<At at=Signal::stored(at) /></p>
        </section>
    }
}

/// Shows the replay's audit log.
#[component]
pub(super) fn Events(view: Signal<ReplayAnswer>) -> impl IntoView {
    let (id, group) = view.with_untracked(|view| (view.replay.id().clone(), view.replay.group().clone()));
    let group = StoredValue::new(group);
    let live = Live::new(move |seen| api::audit(group.get_value(), false, None, seen), |_: &AuditAnswer| Pace::Calm);
    let state = view.map(move |view| view.replay.state.clone());
    Effect::new(move |before: Option<()>| {
        // An effect runs again only for signals that it reads.
        state.with(|_| ());
        if before.is_some() {
            live.refresh();
        }
    });
    let paged = Paged::audit(live);
    let rows = paged.rows();
    let records = rows.map(move |rows| for_replay(rows, &id));
    view! {
        <section class="side-part">
            <h2>"Events"</h2>
            <Loaded live what="list" rows=3>
                <AuditList records />
                <More paged what="events" load=move |cursor| async move {
                    let page = api::audit(group.get_value(), false, Some(cursor), api::Seen::default()).await;
                    page.map(|answer| answer.into_new())
                } />
            </Loaded>
        </section>
    }
}
