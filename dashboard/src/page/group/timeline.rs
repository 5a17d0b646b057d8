//! The group's audit log: who did what, when and why.

use super::current::CurrentGroup;
use crate::api;
use crate::component::{AuditList, Empty, Loaded};
use crate::page::download::Download;
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::timeline;
use wire::AuditAnswer;

/// Shows the audit log, newest first.
#[component]
pub(super) fn TimelineTab(current: CurrentGroup) -> impl IntoView {
    let id = current.id();
    let live = Live::new(move |seen| api::audit(id.clone(), true, None, seen), |_: &AuditAnswer| Pace::Calm);
    // Every change of the group is in the audit log, so fetch the log when the group changes.
    let state = current
        .part(|detail| (detail.row.state.clone(), detail.note.clone(), detail.row.next.clone(), detail.plan.is_some()));
    Effect::new(move |before: Option<()>| {
        // An effect runs again only for signals that it reads.
        state.with(|_| ());
        if before.is_some() {
            live.refresh();
        }
    });
    let group = current.id();
    let file = StoredValue::new(format!("group-{group}"));
    let history = StoredValue::new(format!("/groups/{group}/history"));
    let paged = Paged::audit(live);
    let rows = paged.rows();
    let records = rows.map(|rows| timeline::folded(rows));
    view! {
        <Loaded live what="timeline" rows=5>
            <Show when=move || records.with(|records| !records.is_empty())
                fallback=|| view! { <Empty title="No activity yet."><p>"What people and the office do with this group is listed here."</p></Empty> }>
                <Download path=history.get_value() name=file.get_value() />
                <AuditList records links=true />
                <More paged what="events" load=move |cursor| {
                    let id = current.id();
                    async move { api::audit(id, true, Some(cursor), api::Seen::default()).await.map(|answer| answer.into_new()) }
                } />
            </Show>
        </Loaded>
    }
}
