//! A plan that is being made in steps: how far it is, or why there is none.

use crate::component::{Bar, Button, Segment};
use crate::reactive::prelude::*;
use dashboard_model::drafting::{letters_read, problem, progress};
use wire::DraftView;

/// Shows how many letters are read, and a button that cancels; or why no plan can be made, and a button that dismisses it.
#[component]
pub fn DraftProgress(
    /// The draft; `None` once there is none.
    #[prop(into)]
    draft: Signal<Option<DraftView>>,
    /// Cancels or dismisses it.
    #[prop(into)]
    on_cancel: Callback<()>,
    /// Whether that request runs.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why the person cannot cancel or dismiss it.
    #[prop(optional, into)]
    why_not: Signal<Option<String>>,
) -> impl IntoView {
    let failed = Memo::new(move |_| draft.with(|draft| draft.as_ref().and_then(problem)));
    let has_failed = failed.map(Option::is_some);
    let of = move |select: fn(&DraftView) -> u64| draft.with(|draft| draft.as_ref().map_or(0, select));
    let words = Signal::derive(move || draft.with(|draft| draft.as_ref().map(letters_read).unwrap_or_default()));
    let segments = Signal::derive(move || vec![Segment { n: of(|draft| draft.read), look: "info" }]);
    let total = Signal::derive(move || of(|draft| draft.waiting));
    let status = move || draft.with(|draft| draft.as_ref().map(progress));
    let press = move |()| on_cancel.run(());
    view! {
        {part(move || match failed.get() {
            Some(why) => view! { <div class="problem" role="alert"><p>{why}</p></div> }.into_any(),
            None => view! {
                <Bar segments total label="Letters read" words />
                <p class="muted" role="status">{part(status)}</p>
            }
            .into_any(),
        })}
        <div class="side-buttons">
            <Button press busy why_not>
                {part(move || if has_failed.get() { "Dismiss" } else { "Cancel plan" })}
            </Button>
        </div>
    }
}
