//! Who did what about this group, when and why.

use super::here::Here;
use crate::api;
use crate::component::{AuditList, Empty, Unless};
use crate::page::download::Download;
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use wire::AuditPage;

/// The audit of the group, newest first.
#[component]
pub(super) fn TimelineTab(here: Here) -> impl IntoView {
    let id = here.id();
    let live = Live::new(move |seen| api::audit(id.clone(), None, seen), |_: &AuditPage| Pace::Calm);
    // What changes the group's state is in the audit: show it as soon as the state is seen.
    let state = here
        .part(|detail| (detail.row.state.clone(), detail.note.clone(), detail.row.next.clone(), detail.plan.is_some()));
    Effect::new(move |before: Option<()>| {
        // Read, not merely tracked: a memo that nobody reads never runs.
        state.with(|_| ());
        if before.is_some() {
            live.refresh();
        }
    });
    let group = here.id();
    let file = StoredValue::new(format!("group-{group}"));
    let history = StoredValue::new(format!("/groups/{group}/history"));
    let paged = Paged::audit(live);
    let records = paged.rows();
    view! {
        <Unless live rows=5>
            <Show when=move || records.with(|records| !records.is_empty())
                fallback=|| view! { <Empty title="Nothing has happened yet." /> }>
                <Download path=history.get_value() name=file.get_value() />
                <AuditList records links=true />
                <More paged what="entries" ask=move |cursor| {
                    let id = here.id();
                    async move { api::audit(id, Some(cursor), api::Seen::default()).await.map(|answer| answer.into_new()) }
                } />
            </Show>
        </Unless>
    }
}
