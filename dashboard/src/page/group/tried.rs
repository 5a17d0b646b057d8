//! The fixes that were declared before, so that nobody declares one of them again.

use super::current::CurrentGroup;
use crate::api;
use crate::component::At;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::tried::{Tried, tried};
use wire::AuditAnswer;

/// Shows earlier fixes with what became of them. Shows nothing without one.
#[component]
pub(super) fn TriedFixes(current: CurrentGroup) -> impl IntoView {
    let id = current.id();
    let live = Live::new(move |seen| api::audit(id.clone(), false, None, seen), |_: &AuditAnswer| Pace::Slow);
    let fix = current.part(|detail| detail.row.state.fix().cloned());
    let state = current.part(|detail| detail.row.state.clone());
    Effect::new(move |before: Option<()>| {
        state.with(|_| ());
        if before.is_some() {
            live.refresh();
        }
    });
    let fixes = Memo::new(move |_| {
        live.data().with(|page| page.as_ref().map(|page| fix.with(|fix| tried(&page.records, fix.as_ref()))))
    });
    let one = |fix: Tried| {
        view! {
            <li>
                <b><bdi>{fix.label}</bdi></b>
                <span class="muted">{format!(", declared by {} ", fix.by)}<At at=Signal::stored(fix.at) /></span>
                <p class="card-note"><bdi>{fix.result}</bdi></p>
            </li>
        }
        .into_any()
    };
    part(move || {
        fixes.get().filter(|fixes| !fixes.is_empty()).map(|fixes| {
            view! {
                <h3>"Previous fixes"</h3>
                <ol class="tried plain-list">{fixes.into_iter().map(one).collect_view()}</ol>
            }
            .into_any()
        })
    })
}
