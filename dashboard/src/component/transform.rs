//! A program that changes payloads: where it is written, and what it would do with some letters.

use crate::component::next_id;
use crate::model::transform::counts;
use crate::reactive::prelude::*;
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::{FieldChange, ProgramFault};
use domain::wire::TransformPreview;

/// What people do most, as programs.
const EXAMPLES: [(&str, &str); 3] = [
    ("Set a field, and make room for it", ".customer //= {} | .customer.country = \"DE\""),
    ("Rename a field", ".order_id = .orderId | del(.orderId)"),
    ("Change some letters, leave the others", "if .total.amount == \"\" then .total.amount = \"0.00\" else . end"),
];
/// Letters of a preview that are shown; the counts are of all.
const SHOWN_MAX: usize = 10;

/// Where a program is written, with examples that a press puts in.
#[component]
pub fn ProgramField(
    /// The program.
    program: RwSignal<String>,
    /// What is wrong with it.
    #[prop(into)]
    faults: Signal<Vec<ProgramFault>>,
) -> impl IntoView {
    let id = next_id();
    let said = format!("{id}-said");
    let example = move |(what, text): (&'static str, &'static str)| {
        view! {
            <li>
                <span class="muted">{what}</span>
                <button type="button" class="button mono" on:click=on(move |_| program.set(text.to_string()))>{text}</button>
            </li>
        }
        .into_any()
    };
    let fault = |fault: ProgramFault| {
        view! { <li>{format!("Line {}, column {}: {}", fault.line, fault.column, fault.message)}</li> }.into_any()
    };
    view! {
        <div class="field">
            <label for=id.clone()>"Program, in the jq language"</label>
            <textarea class="input program" id=id rows="6" maxlength=PROGRAM_BYTES_MAX spellcheck="false"
                autocapitalize="off" prop:value=move || program.get() aria-describedby=said.clone()
                aria-invalid=attr(move || faults.with(|faults| !faults.is_empty()).then_some("true"))
                on:input:target=move |event| program.set(event.target().value())></textarea>
            <ul id=said class="plain-list field-wrong" aria-live="polite">
                {part(move || faults.get().into_iter().map(fault).collect_view())}
            </ul>
            <details class="examples">
                <summary>"Examples"</summary>
                <ul class="plain-list">{EXAMPLES.map(example).collect_view()}</ul>
                <p class="muted">
                    "It gets a letter's body and must give exactly one value. A field on the way must be there before one \
                     in it is set. The clock and other letters are out of its reach."
                </p>
            </details>
        </div>
    }
}

/// What a program would do with a sample of the letters: failures first.
#[component]
pub fn PreviewList(
    /// The answer; none while nothing was tried yet.
    #[prop(into)]
    preview: Signal<Option<TransformPreview>>,
    /// Whether another one is on its way.
    #[prop(into)]
    busy: Signal<bool>,
) -> impl IntoView {
    let words = move || match preview.get() {
        None => "Trying it on the letters that wait…".to_string(),
        Some(preview) if !preview.faults.is_empty() => "It was not tried: see above.".to_string(),
        Some(preview) if preview.letters.is_empty() => "No letter waits that it could be tried on.".to_string(),
        Some(preview) => {
            let cut = if preview.cut { " The sample is cut short: the program is slow." } else { "" };
            format!("Of {} letters: {}.{cut}", preview.letters.len(), counts(preview.counts))
        }
    };
    let letters = move || {
        let preview = preview.get().unwrap_or_default();
        let shown = preview.letters.into_iter().take(SHOWN_MAX).map(|letter| {
            let short: String = letter.letter.as_str().chars().take(8).collect();
            let what = match letter.failure {
                Some(why) => view! { <p class="field-wrong">{why}</p> }.into_any(),
                None if letter.changes.is_empty() => view! { <p class="muted">"stays as it is"</p> }.into_any(),
                None => view! { <ul class="changes">{letter.changes.into_iter().map(change).collect_view()}</ul> }
                    .into_any(),
            };
            view! { <li><span class="mono muted">{short}</span>{what}</li> }.into_any()
        });
        shown.collect_view()
    };
    view! {
        <section class="preview" aria-busy=attr(move || busy.get().then_some("true"))>
            <p aria-live="polite">{part(words)}</p>
            <ul class="plain-list preview-letters">{part(letters)}</ul>
        </section>
    }
}

fn change(change: FieldChange) -> AnyView {
    let pointer = if change.pointer.is_empty() { "the whole body".to_string() } else { change.pointer };
    let before = change.before.map(|before| view! { <del>{before}</del> }.into_any());
    let after = change.after.map(|after| view! { <ins>{after}</ins> }.into_any());
    view! { <li><b class="mono">{pointer}</b>" "{before}" "{after}</li> }.into_any()
}
