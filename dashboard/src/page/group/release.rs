//! Quarantined letters: why they are there, and releasing them.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{Button, Dialog, Kind, Reason, toaster};
use crate::reactive::prelude::*;
use domain::letter::LetterStateKind;
use domain::role::Permission;
use wire::ReleaseRequest;

/// Releases letters, above the list of quarantined letters.
#[component]
pub(super) fn ReleaseCard(current: CurrentGroup) -> impl IntoView {
    let (command, toaster) = (Command::new(), toaster());
    let open = RwSignal::new(false);
    let reason = Reason::new(open, command);
    let may = current.why_not(Permission::Approve, |detail| {
        let is_empty = detail.counts.tally(LetterStateKind::Quarantined).letters == 0;
        is_empty.then(|| "No letters in quarantine.".to_string())
    });
    let why_not = reason.why_not(may);
    let press = move |()| open.set(true);
    let send = move |()| {
        let request = ReleaseRequest { letters: Vec::new(), reason: reason.text() };
        command.run(api::release(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Letters released from quarantine.");
        });
    };
    view! {
        <p class="muted">"These letters returned from as many replays as the policy allows. Plans exclude them until an approver releases them."</p>
        <Button kind=Kind::Quiet press why_not=may busy=command.busy()>"Release from quarantine…"</Button>
        <Dialog open title="Release from quarantine?" confirm="Release letters" kind=Kind::Primary busy=command.busy()
            error=command.error() why_not on_confirm=Callback::new(send)>
            <p>"Released letters wait again, and the next plan includes them. Their replay count restarts at 0."</p>
            {reason.field()}
        </Dialog>
    }
}
