//! Keyboard shortcuts, active outside text fields and dialogs, and their list for the help.

use crate::prefs::prefs;
use crate::reactive::prelude::*;
use leptos::ev;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

/// The time within which the second key of a sequence such as `g p` counts.
const PREFIX: Duration = Duration::from_millis(1500);

/// A key with its action.
#[derive(Clone)]
pub struct Binding {
    /// The key as in `KeyboardEvent.key` (`j`, `?`, `S` for Shift S), or two keys separated by a space (`g r`).
    pub keys: &'static str,
    /// The action's description for the help.
    pub what: &'static str,
    act: Callback<()>,
}

/// Returns a binding of a key to an action.
pub fn key(keys: &'static str, what: &'static str, act: impl Fn() + Send + Sync + 'static) -> Binding {
    Binding { keys, what, act: Callback::new(move |()| act()) }
}

#[derive(Clone)]
struct Layer {
    id: u64,
    title: &'static str,
    bindings: Vec<Binding>,
}

/// A description of an action, and its keys.
pub type Shortcut = (&'static str, Vec<&'static str>);

impl Layer {
    fn shortcuts(&self) -> Vec<Shortcut> {
        let mut shortcuts: Vec<Shortcut> = Vec::new();
        for binding in &self.bindings {
            match shortcuts.iter_mut().find(|(what, _)| *what == binding.what) {
                Some((_, keys)) => keys.push(binding.keys),
                None => shortcuts.push((binding.what, vec![binding.keys])),
            }
        }
        shortcuts
    }
}

/// All active shortcuts.
#[derive(Clone, Copy)]
pub struct Keys {
    layers: RwSignal<Vec<Layer>>,
    prefix: StoredValue<Option<String>>,
}

impl Keys {
    /// Listens for keys, and provides itself to all components below.
    pub fn provide() -> Self {
        let keys = Self { layers: RwSignal::new(Vec::new()), prefix: StoredValue::new(None) };
        let prefs = prefs();
        let listener = window_event_listener(ev::keydown, move |event| {
            if prefs.letter_keys.get_untracked() || event.key().chars().count() > 1 {
                keys.pressed(&event);
            }
        });
        on_cleanup(move || listener.remove());
        provide_context(keys);
        keys
    }

    /// Returns the shortcuts by layer, the page's own first.
    pub fn list(self) -> Vec<(&'static str, Vec<Shortcut>)> {
        self.layers.with(|layers| layers.iter().rev().map(|layer| (layer.title, layer.shortcuts())).collect())
    }

    fn pressed(self, event: &KeyboardEvent) {
        if event.default_prevented() || event.is_composing() || is_for_others(event) {
            return;
        }
        let key = event.key();
        let combined = match self.prefix.try_update_value(Option::take).flatten() {
            Some(prefix) => format!("{prefix} {key}"),
            None => key.clone(),
        };
        let layers = self.layers.get_untracked();
        let bindings = || layers.iter().rev().flat_map(|layer| layer.bindings.iter());
        if let Some(binding) = bindings().find(|binding| binding.keys == combined) {
            event.prevent_default();
            binding.act.run(());
        } else if bindings().any(|binding| binding.keys.split_once(' ').is_some_and(|(first, _)| first == key)) {
            self.prefix.set_value(Some(key));
            set_timeout(move || self.prefix.set_value(None), PREFIX);
        }
    }
}

/// Adds shortcuts until the calling component is removed.
pub fn bind(title: &'static str, bindings: Vec<Binding>) {
    let keys: Keys = expect_context();
    let id = keys.layers.with_untracked(|layers| layers.iter().map(|layer| layer.id).max().unwrap_or(0) + 1);
    keys.layers.update(|layers| layers.push(Layer { id, title, bindings }));
    on_cleanup(move || {
        keys.layers.try_update(|layers| layers.retain(|layer| layer.id != id));
    });
}

/// Returns whether the key is meant for the browser, a text field, an open dialog, or the focused control.
fn is_for_others(event: &KeyboardEvent) -> bool {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return true;
    }
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return false };
    let within = |selector: &str| target.closest(selector).ok().flatten().is_some();
    let pressed = matches!(event.key().as_str(), "Enter" | " ");
    within("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]")
        || (pressed && within("a, button, summary, input"))
        || document().query_selector("dialog[open]").ok().flatten().is_some()
}
