//! The help: keyboard shortcuts of the page and of all pages, and the filter language.

use super::button::shown_key;
use crate::component::Dialog;
use crate::keys::Keys;
use crate::prefs::prefs;
use crate::reactive::prelude::*;
use dashboard_model::filter::KEYS;
use dashboard_model::route::PageKey;

/// The words that everything else here is explained with.
const WORDS: [(&str, &str); 5] = [
    ("Letter", "One dead message as the office keeps it, with what the office read from it."),
    ("Group", "Letters with the same cause."),
    ("Fix", "A person's claim that the cause is gone."),
    ("Canary", "The first, small wave of a replay."),
    ("Gate", "The conditions that must hold before a replay may start or go on."),
];

/// Whether the help is open.
#[derive(Clone, Copy)]
pub struct HelpOpen(pub RwSignal<bool>);

/// The help dialog.
#[component]
pub fn Help(open: RwSignal<bool>, #[prop(into)] page: Signal<PageKey>) -> impl IntoView {
    let keys: Keys = expect_context();
    let prefs = prefs();
    let letters = prefs.letter_keys;
    view! {
        <Dialog open title="Keyboard shortcuts and help" wide=true>
            <div class="help">
                {part(move || keys.list().into_iter().filter(|(_, bindings)| !bindings.is_empty()).map(|(title, bindings)| {
                    view! {
                        <section>
                            <h3>{title}</h3>
                            <dl class="help-keys">
                                {bindings.into_iter().map(|(what, keys)| {
                                    let keys = keys.into_iter().map(|key| view! { <kbd>{shown_key(key)}</kbd> }.into_any());
                                    view! { <div><dt>{keys.collect_view()}</dt><dd>{what}</dd></div> }.into_any()
                                }).collect_view()}
                            </dl>
                        </section>
                    }.into_any()
                }).collect_view())}
                <Show when=move || page.get() == PageKey::Groups>
                    <section>
                        <h3>"Filter"</h3>
                        <p class="muted">
                            "Searches title, location, queue, consumer and ID. Prefix a term with "<code>"-"</code>" to exclude its matches."
                        </p>
                        <ul class="help-filter">
                            {KEYS.iter().map(|(_, example)| view! { <li><code>{*example}</code></li> }.into_any()).collect_view()}
                        </ul>
                    </section>
                </Show>
                <section>
                    <h3>"Words"</h3>
                    <dl class="help-words">
                        {WORDS.map(|(word, meaning)| view! { <div><dt>{word}</dt><dd>{meaning}</dd></div> }.into_any()).collect_view()}
                    </dl>
                </section>
            </div>
            <label class="check">
                <input type="checkbox" prop:checked=move || letters.get()
                    on:change:target=move |event| letters.set(event.target().checked()) />
                "Enable single-key shortcuts"
            </label>
        </Dialog>
    }
}
