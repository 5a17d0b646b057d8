//! Discarding letters, and taking them back: the dialogs, and the notice on the group's page.

use super::chosen::{Choice, Chosen};
use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{At, Button, Dialog, DiscardForm, Kind, Reason, toaster};
use crate::reactive::prelude::*;
use dashboard_model::discard::{Form, progress, question};
use dashboard_model::money::counted;
use dashboard_model::offer::why_discard;
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use domain::filter::LetterFilter;
use domain::group::GroupState;
use domain::letter::LetterStateKind;
use domain::limits::NAMED_LETTERS_MAX;
use domain::role::Permission;
use domain::time::Span;
use wire::{DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest, UndoDiscardRequest};

/// Shows the button that discards the ticked letters, or all that are listed; or the one that takes them back.
#[component]
pub(super) fn DiscardButton(
    current: CurrentGroup,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    chosen: Chosen,
    /// Incremented after each change of letters.
    changes: RwSignal<u32>,
    /// Whether the button is shown. A dialog that is open stays, with what was typed.
    #[prop(into)]
    is_shown: Signal<bool>,
) -> impl IntoView {
    let (discard_open, undo_open) = (RwSignal::new(false), RwSignal::new(false));
    let choice = StoredValue::new(Choice::default());
    let filter = StoredValue::new(filter);
    let is_filtered = filter.with_value(|filter| !filter.is_none());
    let ticked = Memo::new(move |_| chosen.named());
    let count = move || ticked.with(Vec::len);
    let choose = move || {
        let letters = ticked.get_untracked();
        let filter = if letters.is_empty() { filter.get_value() } else { LetterFilter::default() };
        choice.set_value(Choice { letters, filter });
    };
    let is_discarded = state == Some(LetterStateKind::Discarded);
    let can_discard = !matches!(state, Some(LetterStateKind::InReplay | LetterStateKind::Delivered)) && !is_discarded;
    let may_discard = current.why_not(Permission::Approve, move |detail| {
        let open = detail.counts.tally(LetterStateKind::Waiting).letters
            + detail.counts.tally(LetterStateKind::Quarantined).letters;
        (open <= 0).then(|| "No letters are waiting or in quarantine.".to_string())
    });
    let may_undo = current.why_not(Permission::Approve, |detail| {
        let none = detail.counts.tally(LetterStateKind::Discarded).letters <= 0;
        none.then(|| "No letter is discarded.".to_string())
    });
    let why_not = Signal::derive(move || may_discard.get().or_else(|| too_many(count())));
    let why_not_undo = Signal::derive(move || may_undo.get().or_else(|| too_many(count())));
    // A filter applies to all open letters, whatever state the list is limited to.
    let verb = move || match (count(), is_filtered, state) {
        (0, true, None) => "Discard these letters…".to_string(),
        (0, true, Some(_)) => "Discard matching open letters…".to_string(),
        (0, false, _) => "Discard all open letters…".to_string(),
        (n, ..) => format!("Discard {}…", counted(n as u64, "letter", "letters")),
    };
    let undo_verb = move || match (count(), is_filtered) {
        (0, true) => "Take these letters back…".to_string(),
        (0, false) => "Take all letters back…".to_string(),
        (n, _) => format!("Take {} back…", counted(n as u64, "letter", "letters")),
    };
    let done = Callback::new(move |()| {
        chosen.clear();
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
        <Show when=move || can_discard && is_shown.get()><Button press why_not>{part(verb)}</Button></Show>
        <Show when=move || is_discarded && is_shown.get()>
            <Button press=press_undo why_not=why_not_undo>{part(undo_verb)}</Button>
        </Show>
        <DiscardDialog current open=discard_open choice done />
        <UndoDialog current open=undo_open choice done />
    }
}

/// Says why no fix helps the letters, and discards all that are open.
#[component]
pub(super) fn DiscardAll(current: CurrentGroup) -> impl IntoView {
    let open = RwSignal::new(false);
    let why = current.part(why_discard);
    let why_not = current.why_not(Permission::Approve, |_| None);
    view! {
        <p class="muted">{part(move || why.get())}</p>
        <Button kind=Kind::Primary press=move |()| open.set(true) why_not>"Discard all open letters…"</Button>
        <DiscardDialog current open choice=StoredValue::new(Choice::default()) done=|()| () />
    }
}

/// Explains that more letters are ticked than a request may name.
pub(super) fn too_many(ticked: usize) -> Option<String> {
    let why = || format!("Select at most {NAMED_LETTERS_MAX} letters, or use a filter.");
    (ticked > NAMED_LETTERS_MAX).then(why)
}

/// Asks for a reason, after showing how many letters and how much money it is about.
#[component]
fn DiscardDialog(
    current: CurrentGroup,
    open: RwSignal<bool>,
    choice: StoredValue<Choice>,
    #[prop(into)] done: Callback<()>,
) -> impl IntoView {
    let (look, send) = (Command::new(), Command::new());
    let toaster = toaster();
    let form = RwSignal::new(Form::default());
    let seen = RwSignal::new(None::<DiscardPreviewAnswer>);
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
            <p>"They open again: they wait, or return to quarantine, and every number and alarm counts them."</p>
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
