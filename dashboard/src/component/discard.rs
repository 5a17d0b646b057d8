//! The form of a discard: what it would do, the reason, and the typed count of a large one.

use crate::component::{At, Field};
use crate::reactive::prelude::*;
use dashboard_model::discard::{Form, left_out, money};
use dashboard_model::gate::to_type;
use domain::discard::DiscardReason;
use wire::DiscardPreviewAnswer;

/// Shows a preview, and asks for the reason.
#[component]
pub fn DiscardForm(
    /// The preview; `None` until it is loaded.
    #[prop(into)]
    seen: Signal<Option<DiscardPreviewAnswer>>,
    /// What is filled in.
    form: RwSignal<Form>,
) -> impl IntoView {
    let typed = move || seen.with(|seen| seen.as_ref().and_then(|seen| to_type(&seen.letters)));
    view! {
        {part(move || Some(match seen.get() {
                None => view! { <p class="muted">"Counting the letters…"</p> }.into_any(),
                Some(preview) => view! { <Preview preview /> }.into_any(),
            }))}
            <Reasons form />
            <Field label="Note" lines=true
                hint=Signal::derive(move || Some(match form.with(|form| form.reason) {
                    Some(DiscardReason::Other) => "Required. Saved in the audit log.".to_string(),
                    _ => "Optional. Saved in the audit log.".to_string(),
                }))
                value=Signal::derive(move || form.with(|form| form.note.clone()))
                on_input=move |text| form.update(|form| form.note = text) />
            {part(move || typed().map(|n| view! {
                <Field label=format!("Type {n} to confirm") mode="numeric" chars_max=20
                    value=Signal::derive(move || form.with(|form| form.typed.clone()))
                    on_input=move |text| form.update(|form| form.typed = text) />
            }.into_any()))}
    }
}

#[component]
fn Preview(preview: DiscardPreviewAnswer) -> impl IntoView {
    let stays = left_out(&preview.left_out);
    let stays = (!stays.is_empty()).then(|| {
        let lines = stays.into_iter().map(|line| view! { <li>{line}</li> }.into_any()).collect_view();
        view! { <p>"Not included:"</p><ul class="remarks">{lines}</ul> }.into_any()
    });
    let until = match preview.kept_until {
        Some(at) => view! {
            "You can undo this until "<At at=Signal::stored(at) absolute=true />". Then the letters are deleted."
        }
        .into_any(),
        None => view! { "You can undo this at any time." }.into_any(),
    };
    view! {
        <p><b>{money(&preview.letters)}</b></p>
        {stays}
        <p>"Discarded letters are never sent. Counts, ages, money at risk and alarms no longer include them."</p>
        <p class="muted">{until}</p>
    }
}

#[component]
fn Reasons(form: RwSignal<Form>) -> impl IntoView {
    let choice = move |reason: DiscardReason| {
        view! {
            <label class="check">
                <input type="radio" name="discard-reason" value=reason.as_str()
                    prop:checked=move || form.with(|form| form.reason == Some(reason))
                    on:change=on(move |_| form.update(|form| form.reason = Some(reason))) />
                {reason.label()}
            </label>
        }
        .into_any()
    };
    view! {
        <fieldset class="kinds">
            <legend class="sr-only">"Reason"</legend>
            {DiscardReason::ALL.map(choice).into_iter().collect_view()}
        </fieldset>
    }
}
