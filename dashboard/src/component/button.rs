//! A button that says why it cannot be pressed, and stays where it is while it works.

use crate::reactive::prelude::*;

/// How much a button stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The one thing to do here.
    Primary,
    /// Something else.
    #[default]
    Plain,
    /// Something that cannot be undone.
    Danger,
    /// Hardly a button at all.
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
    /// What pressing does. Not called while busy or while there is a reason not to.
    #[prop(into)]
    press: Callback<()>,
    /// How much it stands out.
    #[prop(optional)]
    kind: Kind,
    /// Whether it is at work: keeps its label, shows a spinner after a moment.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why it cannot be pressed: shown under it, reachable by keyboard.
    #[prop(optional, into)]
    why_not: Signal<Option<String>>,
    /// The key that does the same.
    #[prop(optional)]
    key: &'static str,
    /// Submits the form it stands in.
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

/// A key as people read it: an upper-case letter is pressed with Shift.
pub(super) fn shown_key(key: &str) -> String {
    match key.as_bytes() {
        [b'A'..=b'Z'] => format!("Shift {key}"),
        b"ArrowDown" => "↓".to_string(),
        b"ArrowUp" => "↑".to_string(),
        b"Escape" => "Esc".to_string(),
        _ => key.replace(' ', " then "),
    }
}
