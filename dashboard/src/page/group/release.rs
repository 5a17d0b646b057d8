//! Letters in quarantine: why they are there, and letting them out.

use super::here::Here;
use crate::api;
use crate::ask::Ask;
use crate::component::{Button, Dialog, Field, Kind, toasts};
use crate::reactive::prelude::*;
use domain::letter::LetterStateKind;
use domain::role::Permission;
use wire::ReleaseRequest;

/// Above the list of letters in quarantine.
#[component]
pub(super) fn ReleaseCard(here: Here) -> impl IntoView {
    let (ask, toasts) = (Ask::new(), toasts());
    let (open, reason) = (RwSignal::new(false), RwSignal::new(String::new()));
    let may = here.why_not(Permission::Approve, |detail| {
        let none = detail.counts.of(LetterStateKind::Quarantined).letters == 0;
        none.then(|| "No letter is in quarantine.".to_string())
    });
    let why_not = Signal::derive(move || {
        may.get().or_else(|| reason.with(|r| r.trim().is_empty()).then(|| "Write a reason.".to_string()))
    });
    let press = move |()| {
        reason.set(String::new());
        ask.clear();
        open.set(true);
    };
    let send = move |()| {
        let release = ReleaseRequest { letters: Vec::new(), reason: reason.get_untracked() };
        ask.run(api::release(here.id(), release), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("They wait again.");
        });
    };
    view! {
        <p class="muted">"They came back from as many replays as the policy allows. No plan takes them until an approver lets them out."</p>
        <Button kind=Kind::Quiet press why_not=may busy=ask.busy()>"Let them out…"</Button>
        <Dialog open title="Let them out of quarantine?" confirm="Let them out" kind=Kind::Primary busy=ask.busy()
            error=ask.error() why_not on_confirm=Callback::new(send)>
            <p>"They wait again, and the next plan takes them. Their replays are counted anew."</p>
            <Field label="Why?" lines=true first=true value=reason on_input=move |text| reason.set(text) />
        </Dialog>
    }
}
