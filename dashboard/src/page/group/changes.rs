//! What a payload transform changes in the letters of a plan, for the approver: the program, and the fields of a sample.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{PreviewList, Problem};
use crate::reactive::prelude::*;
use domain::filter::LetterFilter;
use wire::{PreviewTransformRequest, TransformPreviewAnswer, TransformsAnswer};

/// Shows the program of a fix, and what it changes in some of the letters. Asked for once: a version never changes.
#[component]
pub(super) fn SentChanges(
    current: CurrentGroup,
    /// The version of the program, and the filter of the plan.
    fix: (u32, LetterFilter),
) -> impl IntoView {
    let (version, filter) = fix;
    let (reading, trying) = (Command::new(), Command::new());
    let program = RwSignal::new(None::<String>);
    let preview = RwSignal::new(None::<TransformPreviewAnswer>);
    reading.run(api::transforms(current.id()), move |answer: TransformsAnswer| {
        let found = answer.versions.into_iter().find(|view| view.transform.version == version);
        let Some(text) = found.map(|view| view.transform.program) else { return };
        program.try_set(Some(text.clone()));
        let request = PreviewTransformRequest { program: text, letters_max: None, filter };
        trying.run(api::preview_transform(current.id(), request), move |tried| drop(preview.try_set(Some(tried))));
    });
    view! {
        <section class="sent-changes" aria-label="What is sent instead">
            <h3>{format!("Sent as changed by the program, version {version}")}</h3>
            <Problem error=reading.error() />
            {part(move || program.get().map(|text| view! { <pre class="mono" tabindex="0">{text}</pre> }.into_any()))}
            <PreviewList preview busy=trying.busy() />
            <Problem error=trying.error() />
        </section>
    }
}
