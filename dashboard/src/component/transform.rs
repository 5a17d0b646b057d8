//! A program that changes payloads: where it is written, and what it would do with some letters.

use crate::component::Field;
use crate::reactive::prelude::*;
use dashboard_model::transform::{counts, fault};
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::{FieldChange, ProgramFault};
use wire::TransformPreview;

/// What people do most, as programs.
const EXAMPLES: &str = "\
# set a field, and make room for it
.customer //= {} | .customer.country = \"DE\"
# rename a field
.order_id = .orderId | del(.orderId)
# change some letters, leave the others as they are
if .total.amount == \"\" then .total.amount = \"0.00\" else . end";
/// Letters of a preview that are shown; the counts are of all.
const SHOWN_MAX: usize = 10;

/// A line of a list: what it is about, and the rest. One for all lists here: each shape of a view is code to load.
pub fn item(head: String, rest: AnyView) -> AnyView {
    view! { <li><span class="mono muted">{head}</span>{rest}</li> }.into_any()
}

/// Some words that stand out in some way.
pub fn words(class: &'static str, text: String) -> AnyView {
    view! { <span class=class>{text}</span> }.into_any()
}

/// A list of lines.
pub fn list(items: Vec<AnyView>) -> AnyView {
    view! { <ul class="lines">{items}</ul> }.into_any()
}

/// Where a program is written, with examples under it.
#[component]
pub fn ProgramField(
    /// The program.
    program: RwSignal<String>,
    /// What is wrong with it.
    #[prop(into)]
    faults: Signal<Vec<ProgramFault>>,
) -> impl IntoView {
    let wrong = faults.map(|faults| {
        let told = faults.iter().map(fault).collect::<Vec<_>>().join(" ");
        (!told.is_empty()).then_some(told)
    });
    view! {
        <div class="program" spellcheck="false">
            <Field label="Program, in the jq language" lines=true value=program wrong chars_max=PROGRAM_BYTES_MAX
                hint=Some("It gets a letter's body and must give exactly one value.".to_string())
                on_input=move |text| program.set(text) />
            <details><summary>"Examples"</summary><pre class="mono">{EXAMPLES}</pre></details>
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
    let told = move || match preview.get() {
        None => "Trying it on the letters that wait…".to_string(),
        Some(preview) if !preview.faults.is_empty() => "It was not tried: see above.".to_string(),
        Some(preview) if preview.letters.is_empty() => "No letter waits that it could be tried on.".to_string(),
        Some(preview) => {
            let cut = if preview.cut { " The sample is cut short: the program is slow." } else { "" };
            format!("Of {} letters: {}.{cut}", preview.letters.len(), counts(preview.counts))
        }
    };
    let letters = move || {
        let shown = preview.get().unwrap_or_default().letters.into_iter().take(SHOWN_MAX);
        list(
            shown
                .map(|letter| {
                    let what = match letter.failure {
                        Some(why) => words("field-wrong", why),
                        None if letter.changes.is_empty() => words("muted", "stays as it is".to_string()),
                        None => list(letter.changes.into_iter().map(change).collect()),
                    };
                    item(letter.letter.as_str().chars().take(8).collect(), what)
                })
                .collect(),
        )
    };
    view! {
        <section class="preview" aria-busy=attr(move || busy.get().then_some("true"))>
            <p aria-live="polite">{part(told)}</p>
            {part(letters)}
        </section>
    }
}

fn change(change: FieldChange) -> AnyView {
    let pointer = if change.pointer.is_empty() { "the whole body".to_string() } else { change.pointer };
    let (said, after) = match (&change.before, change.after) {
        (None, after) => (" added ", after),
        (Some(_), None) => (" removed ", None),
        (Some(_), after) => (" → ", after),
    };
    let mark = |class, text: Option<String>| text.map(|text| words(class, text));
    let before = mark("mono was", change.before);
    let is_first = said != " → ";
    let said = words("muted", said.to_string());
    let parts = if is_first {
        vec![Some(said), before, mark("mono is", after)]
    } else {
        vec![before, Some(said), mark("mono is", after)]
    };
    item(pointer, parts.into_iter().flatten().collect::<Vec<_>>().into_any())
}
