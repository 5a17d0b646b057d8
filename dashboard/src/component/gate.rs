//! The gate: each condition with its mark and evidence.

use crate::clock;
use crate::component::Countdown;
use crate::reactive::prelude::*;
use dashboard_model::gate::{Mark, evidence, mark};
use domain::gate::{ConditionKind, Status};
use domain::time::Timestamp;
use wire::GateView;

/// Shows the conditions of a gate in order.
#[component]
pub fn GateList(
    /// The gate.
    #[prop(into)]
    gate: Signal<GateView>,
) -> impl IntoView {
    let kinds = gate.map(move |gate| gate.conditions.iter().map(|c| c.kind).collect::<Vec<_>>());
    view! {
        <ul class="gate">
            <For each=move || kinds.get() key=|kind| *kind children=move |kind| view! { <Row gate kind /> } />
        </ul>
    }
}

#[component]
fn Row(gate: Signal<GateView>, kind: ConditionKind) -> impl IntoView {
    // A row keeps its element while its condition changes.
    let state = Memo::new(move |_| {
        gate.with(|gate| {
            let condition = gate.conditions.iter().find(|c| c.kind == kind)?;
            Some((mark(gate, condition), condition.clone()))
        })
    });
    let look = move || state.with(|state| state.as_ref().map_or(Mark::Unmet, |(mark, _)| *mark)).look();
    let shown_evidence = move || state.with(|state| state.as_ref().map(|(_, c)| evidence(c)).unwrap_or_default());
    let waived = move || {
        state.with(|state| match state {
            Some((_, c)) => match &c.status {
                Status::Waived { by, reason } => Some(format!("Waived by {by}: {reason}")),
                _ => None,
            },
            None => None,
        })
    };
    let clears = Memo::new(move |_| {
        state.with(|state| match state {
            Some((Mark::Clears(at), _)) => Some(*at),
            _ => None,
        })
    });
    view! {
        <li class=attr(move || format!("gate-row tone-{}", look().0.as_str()))>
            <span class="gate-mark" aria-hidden="true">{part(move || look().1)}</span>
            <div class="gate-words">
                <p class="gate-name">
                    {kind.label()}
                    <span class="sr-only">{part(move || format!(": {}", look().2))}</span>
                    {part(move || clears.get().map(|at| view! {
                        <span class="gate-opens"><Clears at /></span>
                    }.into_any()))}
                </p>
                <p class="gate-evidence">{part(shown_evidence)}</p>
                {part(move || waived().map(|words| view! { <p class="gate-waived">{words}</p> }.into_any()))}
            </div>
        </li>
    }
}

/// Says when a condition clears by itself, and that it is looked at again once that time has come.
#[component]
pub fn Clears(
    /// When it clears.
    at: Timestamp,
) -> impl IntoView {
    let is_due = Memo::new(move |_| clock::ticking() >= at);
    view! {
        <Show when=move || is_due.get() fallback=move || view! { "clears in "<Countdown to=at /> }>"checking…"</Show>
    }
}
