//! A state as a pill: shape and label, coloured only if it needs action.

use crate::reactive::prelude::*;
use dashboard_model::words::{self, Tone};
use wire::NextStep;

/// Shows a state.
#[component]
pub fn Pill(
    /// The urgency.
    #[prop(into)]
    tone: Signal<Tone>,
    /// The shape.
    #[prop(into)]
    shape: Signal<&'static str>,
    /// The label.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    view! {
        <span class=attr(move || format!("pill tone-{}", tone.get().as_str()))>
            <span class="pill-shape" aria-hidden="true">{shape}</span>
            <span class="pill-text">{text}</span>
        </span>
    }
}

/// Shows a group's next step.
#[component]
pub fn StepPill(
    /// The step.
    #[prop(into)]
    step: Signal<NextStep>,
) -> impl IntoView {
    let tone = Signal::derive(move || step.with(|step| words::step(step).0));
    let shape = Signal::derive(move || step.with(|step| words::step(step).1));
    let text = Signal::derive(move || step.with(NextStep::label));
    view! { <Pill tone shape text /> }
}
