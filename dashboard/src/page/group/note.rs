//! The note of the group: it outlives replays and greets whoever is next.

use super::here::Here;
use super::side::{Asks, Press};
use crate::api;
use crate::ask::Ask;
use crate::component::{Button, Dialog, Field, Kind, toasts};
use crate::reactive::prelude::*;
use domain::role::Permission;
use wire::NoteRequest;

/// The note, and the way to change it.
#[component]
pub(super) fn NoteCard(here: Here, asks: Asks) -> impl IntoView {
    let open = RwSignal::new(false);
    let text = RwSignal::new(String::new());
    let ask = Ask::new();
    let toasts = toasts();
    let note = here.part(|detail| detail.note.clone());
    let may = here.why_not(Permission::Triage, |_| None);
    let edit = move || {
        if may.with_untracked(Option::is_none) {
            text.set(note.get_untracked().unwrap_or_default());
            ask.clear();
            open.set(true);
        }
    };
    asks.on(Press::Note, edit);
    let send = move |()| {
        let note = NoteRequest { note: text.get_untracked() };
        ask.run(api::note(here.id(), note), move |detail| {
            here.put(detail);
            open.try_set(false);
            toasts.say("The note is kept.");
        });
    };
    let verb = move || if note.with(Option::is_some) { "Change…" } else { "Write a note…" };
    view! {
        <section class="side-part">
            <h2>"Note"</h2>
            {part(move || note.get().map(|note| view! { <p class="note">{note}</p> }.into_any()))}
            <Button press=move |()| edit() why_not=may key="n">{part(verb)}</Button>
        </section>
        <Dialog open title="Note" confirm="Keep the note" kind=Kind::Primary busy=ask.busy() error=ask.error() why_not=may
            on_confirm=Callback::new(send)>
            <Field label="What the next person should know" lines=true first=true value=text
                hint=Some("An empty note is removed.".to_string()) on_input=move |given| text.set(given) />
        </Dialog>
    }
}
