//! A state as shape and word; coloured only where it asks for action.

use crate::reactive::prelude::*;
use dashboard_model::words::{self, Tone};
use wire::NextStep;

/// A state.
#[component]
pub fn Pill(
    /// What it asks of its reader.
    #[prop(into)]
    tone: Signal<Tone>,
    /// Its shape.
    #[prop(into)]
    shape: Signal<&'static str>,
    /// Its word.
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

/// A group's next step.
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
