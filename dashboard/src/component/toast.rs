//! Short messages at the edge of the page, and for a screen reader.

use crate::component::{Glyph, Icon};
use crate::reactive::prelude::*;
use std::time::Duration;

/// Long enough to be read twice.
const STAYS: Duration = Duration::from_secs(6);

#[derive(Clone, PartialEq, Eq)]
struct Toast {
    id: u64,
    text: String,
    bad: bool,
}

/// The messages.
#[derive(Clone, Copy)]
pub struct Say {
    toasts: RwSignal<Vec<Toast>>,
    last: StoredValue<u64>,
}

impl Say {
    /// Provides itself to everything below.
    pub fn provide() {
        provide_context(Self { toasts: RwSignal::new(Vec::new()), last: StoredValue::new(0) });
    }

    /// Something was done; the message goes by itself.
    pub fn say(self, text: impl Into<String>) {
        let id = self.add(text.into(), false);
        set_timeout(move || self.drop(id), STAYS);
    }

    /// Something was not done; the message stays until it is dismissed.
    pub fn complain(self, text: impl Into<String>) {
        self.add(text.into(), true);
    }

    fn add(self, text: String, bad: bool) -> u64 {
        let id = self.last.get_value() + 1;
        self.last.set_value(id);
        self.toasts.update(|toasts| {
            toasts.retain(|toast| toast.text != text);
            toasts.push(Toast { id, text, bad });
        });
        id
    }

    fn drop(self, id: u64) {
        self.toasts.update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}

/// The messages: to be taken in a component's body, as event handlers have no context.
pub fn toasts() -> Say {
    expect_context()
}

/// Where the messages are shown.
#[component]
pub fn Toasts() -> impl IntoView {
    let say = toasts();
    let of = move |bad: bool| say.toasts.get().into_iter().filter(|toast| toast.bad == bad).collect::<Vec<_>>();
    let shown = move |toast: Toast| {
        view! {
            <div class="toast" class:toast-bad=toast.bad>
                <span>{toast.text}</span>
                <button type="button" class="tool" aria-label="Dismiss" on:click=on(move |_| say.drop(toast.id))>
                    <Icon glyph=Glyph::Close />
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <div class="toasts">
            <div role="status" aria-live="polite">
                <For each=move || of(false) key=|toast| toast.id children=shown />
            </div>
            <div role="alert">
                <For each=move || of(true) key=|toast| toast.id children=shown />
            </div>
        </div>
    }
}
