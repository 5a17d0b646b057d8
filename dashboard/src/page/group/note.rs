//! The group's note for the next person. Replays do not change it.

use super::actions::{Action, Actions};
use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{Button, Dialog, Field, Kind, toaster};
use crate::reactive::prelude::*;
use domain::role::Permission;
use wire::NoteRequest;

/// Shows and edits the note.
#[component]
pub(super) fn NoteCard(current: CurrentGroup, actions: Actions) -> impl IntoView {
    let open = RwSignal::new(false);
    let text = RwSignal::new(String::new());
    let command = Command::new();
    let toaster = toaster();
    let note = current.part(|detail| detail.note.clone());
    let may = current.why_not(Permission::Triage, |_| None);
    let edit = move || {
        if may.with_untracked(Option::is_none) {
            text.set(note.get_untracked().unwrap_or_default());
            command.clear();
            open.set(true);
        }
    };
    actions.on(Action::EditNote, edit);
    let send = move |()| {
        let note = NoteRequest { note: text.get_untracked() };
        command.run(api::note(current.id(), note), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Note saved.");
        });
    };
    let verb = move || if note.with(Option::is_some) { "Edit note…" } else { "Add note…" };
    view! {
        <section class="side-part">
            <h2>"Note"</h2>
            {part(move || note.get().map(|note| view! { <p class="note">{note}</p> }.into_any()))}
            <Button press=move |()| edit() why_not=may key="n">{part(verb)}</Button>
        </section>
        <Dialog open title="Note" confirm="Save note" kind=Kind::Primary busy=command.busy() error=command.error() why_not=may
            on_confirm=Callback::new(send)>
            <Field label="What the next person should know" lines=true first=true value=text
                hint=Some("Leave blank to remove the note.".to_string()) on_input=move |input| text.set(input) />
        </Dialog>
    }
}
