//! A text field with label, hint and error.

use crate::reactive::prelude::*;
use crate::unsent;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a unique ID that connects a control with its label.
pub fn next_id() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("field-{}", LAST.fetch_add(1, Ordering::Relaxed))
}

/// A text field.
#[component]
pub fn Field(
    /// The label.
    #[prop(into)]
    label: Signal<String>,
    /// The content.
    #[prop(into)]
    value: Signal<String>,
    /// Called on each change.
    #[prop(into)]
    on_input: Callback<String>,
    /// The hint.
    #[prop(optional, into)]
    hint: Signal<Option<String>>,
    /// The error.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// Whether the field has several lines.
    #[prop(optional)]
    lines: bool,
    /// Whether the field has the focus when its dialog opens.
    #[prop(optional)]
    first: bool,
    /// The on-screen keyboard: `numeric`, or empty for text.
    #[prop(optional)]
    mode: &'static str,
    /// The input's type.
    #[prop(default = "text")]
    kind: &'static str,
    /// The step of a time input, in seconds.
    #[prop(default = None)]
    step: Option<&'static str>,
    /// Suggestions to choose from.
    #[prop(optional, into)]
    suggestions: Signal<Vec<String>>,
    /// The maximum number of characters.
    #[prop(default = domain::limits::REASON_CHARS_MAX)]
    chars_max: usize,
) -> impl IntoView {
    let id = next_id();
    let note_id = format!("{id}-note");
    let list_id = format!("{id}-list");
    let list = {
        let list_id = list_id.clone();
        move || suggestions.with(|all| !all.is_empty()).then(|| list_id.clone())
    };
    let mode = if mode.is_empty() { "text" } else { mode };
    let described_by = {
        let note_id = note_id.clone();
        move || (hint.with(Option::is_some) || error.with(Option::is_some)).then(|| note_id.clone())
    };
    let text = move || value.get();
    // Not numbers, which confirm what a person has just read.
    if kind == "text" && mode == "text" {
        unsent::attach(&id, label, value, on_input);
    }
    let invalid = move || error.with(Option::is_some).then_some("true");
    let control = if lines {
        view! {
            <textarea class="input" id=id.clone() rows="2" maxlength=chars_max autofocus=first prop:value=text
                aria-describedby=attr(described_by) aria-invalid=attr(invalid)
                on:input:target=move |event| on_input.run(event.target().value())></textarea>
        }
        .into_any()
    } else {
        view! {
            <input class="input" id=id.clone() type=kind inputmode=mode autocomplete="off" maxlength=chars_max
                step=step list=attr(list) autofocus=first prop:value=text aria-describedby=attr(described_by) aria-invalid=attr(invalid)
                on:input:target=move |event| on_input.run(event.target().value()) />
            {part(move || {
                let suggestions = suggestions.get();
                (!suggestions.is_empty()).then(|| {
                    let options = suggestions.into_iter().map(|text| view! { <option value=text></option> }.into_any());
                    view! { <datalist id=list_id.clone()>{options.collect_view()}</datalist> }.into_any()
                })
            })}
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {control}
            <span id=note_id class="field-note">
                <span class="field-error">{part(move || error.get())}</span>
                <span class="field-hint">{part(move || hint.get().filter(|_| error.with(Option::is_none)))}</span>
            </span>
        </div>
    }
}
