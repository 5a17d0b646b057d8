//! A button that explains why it is disabled, and keeps its size while busy.

use crate::reactive::prelude::*;

/// The emphasis of a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The main action.
    Primary,
    /// Any other action.
    #[default]
    Plain,
    /// An action that cannot be undone.
    Danger,
    /// An action without emphasis.
    Quiet,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Primary => "button button-primary",
            Self::Plain => "button",
            Self::Danger => "button button-danger",
            Self::Quiet => "button button-quiet",
        }
    }
}

/// A button.
#[component]
pub fn Button(
    /// The action. Not called while the button is busy or disabled.
    #[prop(into)]
    press: Callback<()>,
    /// The emphasis.
    #[prop(optional)]
    kind: Kind,
    /// Whether the action runs: the label stays, and a spinner appears after a moment.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why the button is disabled, as text below it that is reachable by keyboard.
    #[prop(optional, into)]
    why_not: Signal<Option<String>>,
    /// The shortcut of the same action.
    #[prop(optional)]
    key: &'static str,
    /// Whether the button submits its form.
    #[prop(optional)]
    submit: bool,
    children: Children,
) -> impl IntoView {
    let off = why_not.map(Option::is_some);
    let click = move |event: leptos::ev::MouseEvent| {
        if off.get_untracked() || busy.get_untracked() {
            event.prevent_default();
        } else if !submit {
            press.run(());
        }
    };
    view! {
        <span class="button-with-why">
            <button
                type=if submit { "submit" } else { "button" }
                class=kind.class()
                aria-disabled=attr(move || (off.get() || busy.get()).then_some("true"))
                aria-busy=attr(move || busy.get().then_some("true"))
                aria-keyshortcuts=(!key.is_empty()).then_some(key)
                on:click=on(click)
            >
                {children()}
                {(!key.is_empty()).then(|| view! { <kbd aria-hidden="true">{shown_key(key)}</kbd> }.into_any())}
                <span class="spinner" aria-hidden="true"></span>
            </button>
            <Show when=move || off.get()>
                <span class="why-not">{part(move || why_not.get())}</span>
            </Show>
        </span>
    }
}

/// Returns a key as shown to people: an upper-case letter needs Shift.
pub(super) fn shown_key(key: &str) -> String {
    match key.as_bytes() {
        [b'A'..=b'Z'] => format!("Shift {key}"),
        b"ArrowDown" => "↓".to_string(),
        b"ArrowUp" => "↑".to_string(),
        b"Escape" => "Esc".to_string(),
        _ => key.replace(' ', " then "),
    }
}
