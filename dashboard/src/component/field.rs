//! A text that a person writes: label, hint, and what is wrong with it.

use crate::reactive::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// An id for a control and its label that no other control has.
pub fn next_id() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("field-{}", LAST.fetch_add(1, Ordering::Relaxed))
}

/// A text field.
#[component]
pub fn Field(
    /// Its name.
    #[prop(into)]
    label: Signal<String>,
    /// What is in it.
    #[prop(into)]
    value: Signal<String>,
    /// Told of each change.
    #[prop(into)]
    on_input: Callback<String>,
    /// What to write, in a few words.
    #[prop(optional, into)]
    hint: Signal<Option<String>>,
    /// What is wrong with it.
    #[prop(optional, into)]
    wrong: Signal<Option<String>>,
    /// Several lines instead of one.
    #[prop(optional)]
    lines: bool,
    /// Takes the focus when its dialog opens.
    #[prop(optional)]
    first: bool,
    /// The keyboard that a phone shows: `numeric` or nothing.
    #[prop(optional)]
    mode: &'static str,
    /// What kind of input it is.
    #[prop(default = "text")]
    kind: &'static str,
    /// How fine a moment can be chosen, in seconds.
    #[prop(default = None)]
    step: Option<&'static str>,
    /// What may be meant, to choose from.
    #[prop(optional, into)]
    offers: Signal<Vec<String>>,
    /// How many characters it takes at most.
    #[prop(default = domain::limits::REASON_CHARS_MAX)]
    chars_max: usize,
) -> impl IntoView {
    let id = next_id();
    let said = format!("{id}-said");
    let offered = format!("{id}-offered");
    let listed = {
        let offered = offered.clone();
        move || offers.with(|offers| !offers.is_empty()).then(|| offered.clone())
    };
    let mode = if mode.is_empty() { "text" } else { mode };
    let describes = {
        let said = said.clone();
        move || (hint.with(Option::is_some) || wrong.with(Option::is_some)).then(|| said.clone())
    };
    let text = move || value.get();
    let invalid = move || wrong.with(Option::is_some).then_some("true");
    let control = if lines {
        view! {
            <textarea class="input" id=id.clone() rows="2" maxlength=chars_max autofocus=first prop:value=text
                aria-describedby=attr(describes) aria-invalid=attr(invalid)
                on:input:target=move |event| on_input.run(event.target().value())></textarea>
        }
        .into_any()
    } else {
        view! {
            <input class="input" id=id.clone() type=kind inputmode=mode autocomplete="off" maxlength=chars_max
                step=step list=attr(listed) autofocus=first prop:value=text aria-describedby=attr(describes) aria-invalid=attr(invalid)
                on:input:target=move |event| on_input.run(event.target().value()) />
            {part(move || {
                let offers = offers.get();
                (!offers.is_empty()).then(|| {
                    let options = offers.into_iter().map(|text| view! { <option value=text></option> }.into_any());
                    view! { <datalist id=offered.clone()>{options.collect_view()}</datalist> }.into_any()
                })
            })}
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {control}
            <span id=said class="field-said">
                <span class="field-wrong">{part(move || wrong.get())}</span>
                <span class="field-hint">{part(move || hint.get().filter(|_| wrong.with(Option::is_none)))}</span>
            </span>
        </div>
    }
}
