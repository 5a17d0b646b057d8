//! The audit log as a list: who did what, when and why.

use crate::clock;
use crate::component::At;
use crate::reactive::prelude::*;
use dashboard_model::timeline;
use dashboard_model::words::Tone;
use domain::audit::AuditRecord;

/// Shows audit records, newest first.
#[component]
pub fn AuditList(
    /// The records.
    #[prop(into)]
    records: Signal<Vec<AuditRecord>>,
    /// Whether records link to their replays.
    #[prop(optional)]
    links: bool,
) -> impl IntoView {
    let entry = move |record: AuditRecord| {
        let tone = timeline::tone(record.act);
        let detail = timeline::detail(&record)
            .map(|detail| view! { <span class="audit-detail">{detail.to_string()}</span> }.into_any());
        let reason = record.reason.clone().map(|reason| view! { <q class="audit-reason">{reason}</q> }.into_any());
        let replay = record.replay.clone().filter(|_| links).map(|id| {
            view! { <a href=format!("/replays/{id}")>"replay "{dashboard_model::ledger::short(&id)}</a> }.into_any()
        });
        let at = record.at;
        view! {
            <li class=format!("audit-entry tone-{}", tone.as_str()) class:audit-loud=tone != Tone::Quiet>
                <span class="audit-dot" aria-hidden="true"></span>
                <div class="audit-words">
                    <p>
                        <b class:audit-office=timeline::is_office(&record.actor)>{timeline::who(&record.actor)}</b>" "
                        {timeline::what(&record)}
                        {detail}
                    </p>
                    {reason}
                </div>
                <p class="audit-when">
                    {replay}
                    <span title=attr(move || clock::absolute(at))><At at=Signal::stored(at) /></span>
                    <span class="audit-clock">{part(move || clock::time_of_day(at))}</span>
                </p>
            </li>
        }
        .into_any()
    };
    view! {
        <ol class="audit">
            <For each=move || records.get() key=|r| (r.at, r.act, r.detail.clone()) children=entry />
        </ol>
    }
}
