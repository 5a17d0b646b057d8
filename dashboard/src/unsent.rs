//! Unsent text: what stands in open forms, kept in the tab when a session ends on its own. Once the same person has signed in
//! again and opens the form, the text is there.

use crate::reactive::prelude::*;
use std::cell::RefCell;
use web_sys::Storage;

/// The prefix of a kept text's key in `sessionStorage`.
const UNSENT: &str = "dlo.unsent ";
/// The key of the name of the person whose texts these are.
const OWNER: &str = "dlo.unsent-owner";

/// A field that is shown now.
struct Shown {
    id: String,
    key: String,
    value: Signal<String>,
}

thread_local! {
    static SHOWN: RefCell<Vec<Shown>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a field's text if the session ends, and puts back a kept text. Until the calling component is removed.
pub fn attach(id: &str, label: Signal<String>, value: Signal<String>, on_input: Callback<String>) {
    let path = window().location().pathname().unwrap_or_default();
    let key = format!("{UNSENT}{path} {}", label.get_untracked());
    if stored(&key).is_some() {
        let key = key.clone();
        // A dialog clears or replaces its fields when it opens, in effects that may run later.
        request_animation_frame(move || {
            if value.try_with_untracked(String::is_empty) == Some(true)
                && let Some(text) = take(&key)
            {
                on_input.try_run(text);
            }
        });
    }
    let field = Shown { id: id.to_string(), key, value };
    SHOWN.with_borrow_mut(|shown| shown.push(field));
    let id = id.to_string();
    on_cleanup(move || SHOWN.with_borrow_mut(|shown| shown.retain(|field| field.id != id)));
}

/// Stores the text of all shown fields for a person.
pub fn keep(owner: &str) {
    let Some(storage) = storage() else { return };
    let texts: Vec<(String, String)> = SHOWN.with_borrow(|shown| {
        let fields = shown.iter().filter_map(|field| Some((field.key.clone(), field.value.try_get_untracked()?)));
        fields.filter(|(_, text)| !text.trim().is_empty()).collect()
    });
    // If storage is full or blocked, the text is lost with the form.
    let _ = storage.set_item(OWNER, owner);
    for (key, text) in texts {
        let _ = storage.set_item(&key, &text);
    }
}

/// Removes the kept texts, unless they are this person's.
pub fn forget_unless(owner: &str) {
    let Some(storage) = storage() else { return };
    if storage.get_item(OWNER).ok().flatten().is_none_or(|kept| kept == owner) {
        return;
    }
    let keys = (0..storage.length().unwrap_or_default()).filter_map(|index| storage.key(index).ok().flatten());
    for key in keys.collect::<Vec<_>>() {
        if key == OWNER || key.starts_with(UNSENT) {
            let _ = storage.remove_item(&key);
        }
    }
}

fn stored(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}

fn take(key: &str) -> Option<String> {
    let text = stored(key)?;
    let _ = storage()?.remove_item(key);
    Some(text)
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
