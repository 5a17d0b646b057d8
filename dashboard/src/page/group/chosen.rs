//! The letters that a person has ticked.

use crate::reactive::prelude::*;
use domain::filter::LetterFilter;
use domain::id::LetterId;
use leptos::ev::MouseEvent;
use std::collections::BTreeSet;

/// The ticked letters: named one by one, or all that the list's filter names.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    ids: RwSignal<BTreeSet<LetterId>>,
    all: RwSignal<bool>,
    /// The letters that are listed, in the order of the list.
    listed: Memo<Vec<LetterId>>,
    /// The letter that was clicked last: the other end of a range.
    last: StoredValue<Option<LetterId>>,
}

impl Chosen {
    /// Returns no letters of a list.
    pub(super) fn new(listed: Memo<Vec<LetterId>>) -> Self {
        Self { ids: RwSignal::new(BTreeSet::new()), all: RwSignal::new(false), listed, last: StoredValue::new(None) }
    }

    /// Returns whether the choice is all letters of the filter, also those that are not listed. Tracked.
    pub(super) fn is_all(self) -> bool {
        self.all.get()
    }

    /// Returns the letters that are ticked by name, in the order of the list. A letter that has left the list since does
    /// not count. Tracked.
    pub(super) fn named(self) -> Vec<LetterId> {
        if self.is_all() {
            return Vec::new();
        }
        self.ids.with(|ids| self.listed.get().into_iter().filter(|id| ids.contains(id)).collect())
    }

    /// Unticks every letter.
    pub(super) fn clear(self) {
        self.all.try_set(false);
        self.ids.try_set(BTreeSet::new());
        self.last.set_value(None);
    }

    /// Chooses all letters of the filter.
    pub(super) fn choose_all(self) {
        self.clear();
        self.all.set(true);
    }

    /// Returns whether a letter is ticked. Tracked.
    pub(super) fn is_ticked(self, id: &LetterId) -> bool {
        self.all.get() || self.ids.with(|ids| ids.contains(id))
    }

    /// Ticks or unticks a letter; with Shift, all letters from the one that was clicked last.
    fn click(self, id: &LetterId, with_shift: bool) {
        let ticked = !untrack(|| self.is_ticked(id));
        let listed = self.listed.get_untracked();
        let at = |id: &LetterId| listed.iter().position(|other| other == id);
        let from = self.last.get_value().filter(|_| with_shift).and_then(|last| at(&last));
        let range = match (from, at(id)) {
            (Some(from), Some(to)) => listed[from.min(to)..=from.max(to)].to_vec(),
            _ => vec![id.clone()],
        };
        if self.all.get_untracked() {
            // Without one of them the choice is no longer all: what is listed stays ticked.
            self.all.set(false);
            self.ids.set(listed.iter().cloned().collect());
        }
        self.ids.update(|ids| {
            for id in range {
                let _ = if ticked { ids.insert(id) } else { ids.remove(&id) };
            }
        });
        self.last.set_value(Some(id.clone()));
    }

    /// Returns whether every listed letter is ticked. Tracked.
    pub(super) fn is_whole_list(self) -> bool {
        self.is_all() || self.listed.with(|listed| !listed.is_empty() && listed.len() == self.named().len())
    }
}

/// Which letters an action is about: those named, or all of a filter.
#[derive(Clone, Default)]
pub(super) struct Choice {
    /// The letters; empty for all of the filter.
    pub(super) letters: Vec<LetterId>,
    /// The filter.
    pub(super) filter: LetterFilter,
}

impl Choice {
    /// Returns all letters of a filter.
    pub(super) fn from_filter(filter: LetterFilter) -> Self {
        Self { letters: Vec::new(), filter }
    }
}

/// Shows the tick of one letter.
#[component]
pub(super) fn Tick(chosen: Chosen, id: LetterId, short: String) -> impl IntoView {
    let is_ticked = {
        let id = id.clone();
        move || chosen.is_ticked(&id)
    };
    let flip = move |event: MouseEvent| chosen.click(&id, event.shift_key());
    view! { <input type="checkbox" aria-label=format!("Select letter {short}") prop:checked=is_ticked on:click=on(flip) /> }
}

/// Shows the tick of all listed letters.
#[component]
pub(super) fn TickAll(chosen: Chosen) -> impl IntoView {
    let flip = move |_| {
        if untrack(|| chosen.is_whole_list()) {
            chosen.clear();
        } else {
            chosen.all.set(false);
            chosen.ids.set(chosen.listed.get_untracked().into_iter().collect());
        }
    };
    view! {
        <input type="checkbox" aria-label="Select all listed letters" title="Select all listed letters. Shift-click selects a range."
            prop:checked=move || chosen.is_whole_list() on:change=on(flip) />
    }
}
