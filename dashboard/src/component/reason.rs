//! The reason that a dialog asks for before it acts.

use super::field::Field;
use crate::command::Command;
use crate::reactive::prelude::*;

/// The text of a dialog's field *Reason*.
#[derive(Clone, Copy)]
pub struct Reason(RwSignal<String>);

impl Reason {
    /// Returns the reason of a dialog. Each time the dialog opens, the reason and the last error of its command are
    /// cleared.
    pub fn new(open: RwSignal<bool>, command: Command) -> Self {
        let text = RwSignal::new(String::new());
        Effect::new(move || {
            if open.get() {
                text.set(String::new());
                command.clear();
            }
        });
        Self(text)
    }

    /// Returns the text. Untracked.
    pub fn text(self) -> String {
        self.0.get_untracked()
    }

    /// Explains why the dialog cannot act: what the person may not do, or that the reason is missing.
    pub fn why_not(self, may: Signal<Option<String>>) -> Signal<Option<String>> {
        Signal::derive(move || {
            let missing = || self.0.with(|text| text.trim().is_empty()).then(|| "Enter a reason.".to_string());
            may.get().or_else(missing)
        })
    }

    /// Shows the field, which has the focus when the dialog opens.
    pub fn field(self) -> impl IntoView {
        let Self(text) = self;
        view! { <Field label="Reason" lines=true first=true value=text on_input=move |entered| text.set(entered) /> }
    }
}
