//! A transform's program: its editor, and the preview of its effect on some letters.

use crate::component::Field;
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::transform::{counts, fault};
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::{FieldChange, ProgramFault};
use wire::{LetterPreview, TransformPreviewAnswer};

/// Common programs.
const EXAMPLES: &str = "\
# set a field, and create its parent
.customer //= {} | .customer.country = \"DE\"
# rename a field
.order_id = .orderId | del(.orderId)
# change some letters only
if .total.amount == \"\" then .total.amount = \"0.00\" else . end";
/// The number of letters shown in a preview. The counts include all.
const SHOWN_MAX: usize = 10;

/// Returns a list item: its subject and its content. All lists share it, because each shape of a view adds to the
/// download.
pub fn item(subject: String, content: AnyView) -> AnyView {
    view! { <li><span class="mono muted">{subject}</span>{content}</li> }.into_any()
}

/// Returns text with a CSS class.
pub fn span(class: &'static str, text: String) -> AnyView {
    view! { <span class=class>{text}</span> }.into_any()
}

/// Returns a list of items.
pub fn list(items: Vec<AnyView>) -> AnyView {
    view! { <ul class="lines">{items}</ul> }.into_any()
}

/// Shows the editor of a program.
#[component]
pub fn ProgramField(
    /// The program.
    program: RwSignal<String>,
    /// The program's errors.
    #[prop(into)]
    faults: Signal<Vec<ProgramFault>>,
) -> impl IntoView {
    let error = faults.map(|faults| {
        let text = faults.iter().map(fault).collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    });
    view! {
        <div class="program" spellcheck="false">
            <Field label="jq program" lines=true value=program error chars_max=PROGRAM_BYTES_MAX
                hint=Some("Input: the message body. Output: one value. A text is sent as it is, without quotes.".to_string())
                on_input=move |text| program.set(text) />
        </div>
    }
}

/// Shows a program's effect on some letters, failures first.
#[component]
pub fn PreviewList(
    /// The preview; `None` before the first one.
    #[prop(into)]
    preview: Signal<Option<TransformPreviewAnswer>>,
    /// Whether a newer preview is loading.
    #[prop(into)]
    busy: Signal<bool>,
    /// Whether examples follow. They are open while there is no preview because of errors, and fill its place.
    #[prop(optional)]
    examples: bool,
) -> impl IntoView {
    let has_faults = preview.map(|preview| preview.as_ref().is_some_and(|preview| !preview.faults.is_empty()));
    let summary = move || match preview.get() {
        None => "Trying it on waiting letters…".to_string(),
        Some(preview) if !preview.faults.is_empty() => "Not tried.".to_string(),
        Some(preview) if preview.letters.is_empty() => "No waiting letters to try it on.".to_string(),
        Some(preview) => {
            let cut = if preview.cut { " The sample is incomplete because the program is slow." } else { "" };
            format!("Tried on {}: {}.{cut}", letters(preview.letters.len() as u64), counts(preview.counts))
        }
    };
    let rows = move || {
        // The counts name the letters that do not change.
        let shows = |letter: &LetterPreview| letter.failure.is_some() || !letter.changes.is_empty();
        let shown = preview.get().unwrap_or_default().letters.into_iter().filter(shows).take(SHOWN_MAX);
        list(
            shown
                .map(|letter| {
                    let what = match letter.failure {
                        Some(why) => span("field-error", why),
                        None => list(letter.changes.into_iter().map(change).collect()),
                    };
                    item(letter.letter.as_str().chars().take(8).collect(), what)
                })
                .collect(),
        )
    };
    view! {
        <section class="preview" aria-label="Preview" tabindex="0" aria-busy=attr(move || busy.get().then_some("true"))>
            <p aria-live="polite">{part(summary)}</p>
            {part(rows)}
            {examples.then(|| view! {
                <details open=attr(move || has_faults.get().then_some(""))>
                    <summary>"Examples"</summary>
                    <pre class="mono">{EXAMPLES}</pre>
                </details>
            }.into_any())}
        </section>
    }
}

fn change(change: FieldChange) -> AnyView {
    let pointer = if change.pointer.is_empty() { "the whole body".to_string() } else { change.pointer };
    let (label, after) = match (&change.before, change.after) {
        (None, after) => (" added ", after),
        (Some(_), None) => (" removed ", None),
        (Some(_), after) => (" → ", after),
    };
    let mark = |class, text: Option<String>| text.map(|text| span(class, text));
    let before = mark("mono was", change.before);
    let is_first = label != " → ";
    let label = span("muted", label.to_string());
    let parts = if is_first {
        vec![Some(label), before, mark("mono is", after)]
    } else {
        vec![before, Some(label), mark("mono is", after)]
    };
    item(pointer, parts.into_iter().flatten().collect::<Vec<_>>().into_any())
}
