//! Discarding letters, and taking them back: what is ticked, the dialogs, and the notice on the group's page.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{At, Button, Dialog, DiscardForm, Kind, Reason, toaster};
use crate::reactive::prelude::*;
use dashboard_model::discard::{Form, progress, question};
use dashboard_model::money::counted;
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use domain::filter::LetterFilter;
use domain::group::GroupState;
use domain::id::LetterId;
use domain::letter::LetterStateKind;
use domain::limits::NAMED_LETTERS_MAX;
use domain::role::Permission;
use domain::time::Span;
use std::collections::BTreeSet;
use wire::{DiscardPreview, DiscardPreviewRequest, DiscardRequest, UndoDiscardRequest};

/// The ticked letters.
#[derive(Clone, Copy)]
pub(super) struct Chosen(RwSignal<BTreeSet<LetterId>>);

impl Chosen {
    /// Returns no letters.
    pub(super) fn new() -> Self {
        Self(RwSignal::new(BTreeSet::new()))
    }

    fn set(self, id: &LetterId, ticked: bool) {
        self.0.update(|chosen| {
            let _ = if ticked { chosen.insert(id.clone()) } else { chosen.remove(id) };
        });
    }

    fn count(self) -> usize {
        self.0.with(BTreeSet::len)
    }
}

/// Shows the tick of one letter.
#[component]
pub(super) fn Tick(chosen: Chosen, id: LetterId, short: String) -> impl IntoView {
    let is_ticked = {
        let id = id.clone();
        move || chosen.0.with(|chosen| chosen.contains(&id))
    };
    let flip = {
        let is_ticked = is_ticked.clone();
        move |_| chosen.set(&id, !untrack(&is_ticked))
    };
    view! { <input type="checkbox" aria-label=format!("Select letter {short}") prop:checked=is_ticked on:change=on(flip) /> }
}

/// Shows the tick of all loaded letters.
#[component]
pub(super) fn TickAll(chosen: Chosen, loaded: Memo<Vec<LetterId>>) -> impl IntoView {
    let all = move || chosen.count() > 0 && loaded.with(|loaded| loaded.len() <= chosen.count());
    let flip = move |_| {
        let ticked = !untrack(all);
        chosen.0.set(if ticked { loaded.get_untracked().into_iter().collect() } else { BTreeSet::new() });
    };
    view! { <input type="checkbox" aria-label="Select all loaded letters" prop:checked=all on:change=on(flip) /> }
}

/// Which letters a dialog is about: those named, or all of a filter.
#[derive(Clone, Default)]
struct Choice {
    letters: Vec<LetterId>,
    filter: LetterFilter,
}

/// Shows what can be done with the ticked letters, or with all that are listed.
#[component]
pub(super) fn DiscardBar(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    chosen: Chosen,
    loaded: Memo<Vec<LetterId>>,
    /// Incremented after each change of letters.
    changes: RwSignal<u32>,
) -> impl IntoView {
    let (discard_open, undo_open) = (RwSignal::new(false), RwSignal::new(false));
    let choice = StoredValue::new(Choice::default());
    let filter = StoredValue::new(filter);
    let is_filtered = filter.with_value(|filter| !filter.is_none());
    // A letter may have left the list since it was ticked.
    let ticked = Memo::new(move |_| {
        let loaded: BTreeSet<LetterId> = loaded.get().into_iter().collect();
        chosen.0.with(|chosen| chosen.intersection(&loaded).cloned().collect::<Vec<_>>())
    });
    let count = move || ticked.with(Vec::len);
    let choose = move || {
        let letters = ticked.get_untracked();
        let filter = if letters.is_empty() { filter.get_value() } else { LetterFilter::default() };
        choice.set_value(Choice { letters, filter });
    };
    let is_discarded = state == Some(LetterStateKind::Discarded);
    let can_discard = !matches!(state, Some(LetterStateKind::InReplay | LetterStateKind::Delivered)) && !is_discarded;
    let too_many = move || {
        let why = format!("Select at most {NAMED_LETTERS_MAX} letters, or use a filter.");
        (count() > NAMED_LETTERS_MAX).then_some(why)
    };
    let may_discard = current.why_not(Permission::Approve, move |detail| {
        let open =
            detail.counts.of(LetterStateKind::Waiting).letters + detail.counts.of(LetterStateKind::Quarantined).letters;
        (open <= 0).then(|| "No letter waits or is in quarantine.".to_string())
    });
    let may_undo = current.why_not(Permission::Approve, |detail| {
        let none = detail.counts.of(LetterStateKind::Discarded).letters <= 0;
        none.then(|| "No letter is discarded.".to_string())
    });
    let why_not = Signal::derive(move || may_discard.get().or_else(too_many));
    let why_not_undo = Signal::derive(move || may_undo.get().or_else(too_many));
    let verb = move || match (count(), is_filtered) {
        (0, true) => "Discard these letters…".to_string(),
        (0, false) => "Discard all open letters…".to_string(),
        (n, _) => format!("Discard {}…", counted(n as u64, "letter", "letters")),
    };
    let undo_verb = move || match (count(), is_filtered) {
        (0, true) => "Take these letters back…".to_string(),
        (0, false) => "Take all letters back…".to_string(),
        (n, _) => format!("Take {} back…", counted(n as u64, "letter", "letters")),
    };
    let done = Callback::new(move |()| {
        chosen.0.try_set(BTreeSet::new());
        changes.try_update(|n| *n += 1);
    });
    let press = move |()| {
        choose();
        discard_open.set(true);
    };
    let press_undo = move |()| {
        choose();
        undo_open.set(true);
    };
    view! {
        <div class="found">
            <p class="found-count" role="status">
                {part(move || (count() > 0).then(|| format!("{} selected", counted(count() as u64, "letter", "letters"))))}
            </p>
            {can_discard.then(|| view! { <Button press why_not>{part(verb)}</Button> }.into_any())}
            {is_discarded.then(|| view! { <Button press=press_undo why_not=why_not_undo>{part(undo_verb)}</Button> }.into_any())}
        </div>
        <DiscardDialog current open=discard_open choice done />
        <UndoDialog current open=undo_open choice done />
    }
}

/// Asks for a reason, after showing how many letters and how much money it is about.
#[component]
fn DiscardDialog(
    current: CurrentGroup,
    open: RwSignal<bool>,
    choice: StoredValue<Choice>,
    done: Callback<()>,
) -> impl IntoView {
    let (look, send) = (Command::new(), Command::new());
    let toaster = toaster();
    let form = RwSignal::new(Form::default());
    let seen = RwSignal::new(None::<DiscardPreview>);
    Effect::new(move || {
        if open.get() {
            form.set(Form::default());
            seen.set(None);
            look.clear();
            send.clear();
            let Choice { letters, filter } = choice.get_value();
            let request = DiscardPreviewRequest { letters, filter };
            look.run(api::preview_discard(current.id(), request), move |preview| drop(seen.try_set(Some(preview))));
        }
    });
    let may = current.why_not(Permission::Approve, |_| None);
    let why_not =
        Signal::derive(move || may.get().or_else(|| seen.with(|seen| form.with(|form| form.missing(seen.as_ref())))));
    let confirm = move |()| {
        let (Some(preview), form) = (seen.get_untracked(), form.get_untracked()) else { return };
        let Some(reason) = form.reason else { return };
        let Choice { letters, filter } = choice.get_value();
        let note = Some(form.note.trim().to_string()).filter(|note| !note.is_empty());
        let request = DiscardRequest { letters, filter, seen_at: preview.seen_at, reason, note };
        send.run(api::discard(current.id(), request), move |detail| {
            let is_complete = detail.discarding.is_none();
            current.put(detail);
            open.try_set(false);
            toaster.show(if is_complete { "Letters discarded." } else { "Discard started." });
            done.run(());
        });
    };
    let error = Signal::derive(move || look.error().get().or_else(|| send.error().get()));
    view! {
        <Dialog open title=Signal::derive(move || seen.with(|seen| question(seen.as_ref()))) confirm="Discard letters"
            kind=Kind::Danger busy=send.busy() error why_not on_confirm=Callback::new(confirm)>
            <DiscardForm seen form />
        </Dialog>
    }
}

/// Takes discarded letters back, with a reason.
#[component]
fn UndoDialog(
    current: CurrentGroup,
    open: RwSignal<bool>,
    choice: StoredValue<Choice>,
    done: Callback<()>,
) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let reason = Reason::new(open, command);
    let may = current.why_not(Permission::Approve, |_| None);
    let why_not = reason.why_not(may);
    let send = move |()| {
        let Choice { letters, filter } = choice.get_value();
        let request = UndoDiscardRequest { letters, filter, discarded_at: None, reason: reason.text() };
        command.run(api::undo_discard(current.id(), request), move |detail| {
            current.put(detail);
            open.try_set(false);
            toaster.show("Letters taken back.");
            done.run(());
        });
    };
    view! {
        <Dialog open title="Take discarded letters back?" confirm="Take letters back" kind=Kind::Primary
            busy=command.busy() error=command.error() why_not on_confirm=Callback::new(send)>
            <p>"They are open again: they wait, or return to quarantine, and count in every number and alarm."</p>
            {reason.field()}
        </Dialog>
    }
}

/// On the page of a group: a discard that is under way, or that the group is closed and until when that can be undone.
#[component]
pub(super) fn DiscardNotice(current: CurrentGroup) -> impl IntoView {
    let facts = current.part(|detail| {
        let closed_at = match &detail.row.state {
            GroupState::Discarded { at } => Some(*at),
            _ => None,
        };
        (detail.discarding.as_ref().map(progress), closed_at, detail.discarded_kept_ms)
    });
    let state = Some(LetterStateKind::Discarded);
    let href = Route::Group(GroupRoute { tab: GroupTab::Letters, state, ..GroupRoute::new(current.id()) }).to_string();
    part(move || {
        let href = href.clone();
        Some(match facts.get() {
            (Some(words), ..) => view! { <p class="notice" role="status">{words}</p> }.into_any(),
            (None, Some(at), kept_ms) => {
                let until = kept_ms.map(|ms| {
                    let until = at.plus(Span::from_ms(ms));
                    view! { " until "<At at=Signal::stored(until) absolute=true /> }.into_any()
                });
                view! {
                    <p class="notice">
                        <span>
                            "This group is closed: its open letters were discarded. "
                            <a href=href>"Take letters back"</a>{until}". A new failure reopens the group."
                        </span>
                    </p>
                }
                .into_any()
            }
            _ => return None,
        })
    })
}
