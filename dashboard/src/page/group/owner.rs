//! Who takes care of the group. Replays do not change it.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{Button, Dialog, Field, Kind, toaster};
use crate::reactive::prelude::*;
use domain::limits::NAME_CHARS_MAX;
use domain::role::Permission;
use wire::OwnerRequest;

/// Shows and changes the owner.
#[component]
pub(super) fn OwnerCard(current: CurrentGroup) -> impl IntoView {
    let open = RwSignal::new(false);
    let text = RwSignal::new(String::new());
    let command = Command::new();
    let toaster = toaster();
    let owner = current.part(|detail| detail.row.owner.clone());
    let me = current.people().map(|people| people.me.clone());
    let may = current.why_not(Permission::Triage, |_| None);
    let edit = move || {
        if may.with_untracked(Option::is_none) {
            // Most people take a group for themselves.
            text.set(owner.get_untracked().or_else(|| me.get_untracked()).unwrap_or_default());
            command.clear();
            open.set(true);
        }
    };
    let send = move |()| {
        let request = OwnerRequest { owner: text.get_untracked() };
        command.run(api::owner(current.id(), request), move |detail| {
            toaster.show(if detail.row.owner.is_some() { "Owner set." } else { "Owner removed." });
            current.put(detail);
            open.try_set(false);
        });
    };
    let verb = move || if owner.with(Option::is_some) { "Change owner…" } else { "Set owner…" };
    view! {
        <section class="side-part">
            <h2>"Owner"</h2>
            {part(move || owner.get().map(|owner| view! { <p><bdi>{owner}</bdi></p> }.into_any()))}
            <Button press=move |()| edit() why_not=may>{part(verb)}</Button>
        </section>
        <Dialog open title="Set owner" confirm="Set owner" kind=Kind::Primary busy=command.busy() error=command.error() why_not=may
            on_confirm=Callback::new(send)>
            <Field label="Person or team" first=true value=text chars_max=NAME_CHARS_MAX
                hint=Some("Leave blank for nobody. Filter the list with owner:name.".to_string())
                on_input=move |input| text.set(input) />
        </Dialog>
    }
}
