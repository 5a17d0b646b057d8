//! Toasts: short messages at the edge of the page, announced to screen readers.

use crate::component::{Glyph, Icon};
use crate::reactive::prelude::*;
use std::time::Duration;

/// Long enough to read the message twice.
const VISIBLE_FOR: Duration = Duration::from_secs(6);

#[derive(Clone, PartialEq, Eq)]
struct Toast {
    id: u64,
    text: String,
    is_error: bool,
}

/// The toasts.
#[derive(Clone, Copy)]
pub struct Toaster {
    toasts: RwSignal<Vec<Toast>>,
    last: StoredValue<u64>,
}

impl Toaster {
    /// Provides itself to all components below.
    pub fn provide() {
        provide_context(Self { toasts: RwSignal::new(Vec::new()), last: StoredValue::new(0) });
    }

    /// Shows a message that disappears by itself.
    pub fn show(self, text: impl Into<String>) {
        let id = self.add(text.into(), false);
        set_timeout(move || self.drop(id), VISIBLE_FOR);
    }

    /// Shows an error that stays until it is dismissed.
    pub fn error(self, text: impl Into<String>) {
        self.add(text.into(), true);
    }

    fn add(self, text: String, is_error: bool) -> u64 {
        let id = self.last.get_value() + 1;
        self.last.set_value(id);
        self.toasts.update(|toasts| {
            toasts.retain(|toast| toast.text != text);
            toasts.push(Toast { id, text, is_error });
        });
        id
    }

    fn drop(self, id: u64) {
        self.toasts.update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}

/// Returns the toasts. Call it in a component's body: event handlers have no context.
pub fn toaster() -> Toaster {
    expect_context()
}

/// Shows the toasts.
#[component]
pub fn Toasts() -> impl IntoView {
    let toaster = toaster();
    let select = move |errors: bool| {
        toaster.toasts.get().into_iter().filter(|toast| toast.is_error == errors).collect::<Vec<_>>()
    };
    let shown = move |toast: Toast| {
        view! {
            <div class="toast" class:toast-error=toast.is_error>
                <span>{toast.text}</span>
                <button type="button" class="tool" aria-label="Dismiss" on:click=on(move |_| toaster.drop(toast.id))>
                    <Icon glyph=Glyph::Close />
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <div class="toasts">
            <div role="status" aria-live="polite">
                <For each=move || select(false) key=|toast| toast.id children=shown />
            </div>
            <div role="alert">
                <For each=move || select(true) key=|toast| toast.id children=shown />
            </div>
        </div>
    }
}
