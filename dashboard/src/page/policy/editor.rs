//! The editor of the policy's text: errors at their position, what would change, and saving over the version that was read.

use super::Shown;
use crate::api::{self, ApiError, PolicyText};
use crate::command::Command;
use crate::component::{Button, Field, Kind, Problem, Toaster, item, list, next_id, span, toaster};
use crate::reactive::prelude::*;
use crate::session::tab;
use dashboard_model::money::counted;
use dashboard_model::policy::{TextPosition, change, position_of, syntax_error};
use domain::role::Permission;
use leptos::html;
use leptos::task::spawn_local;
use std::time::Duration;
use wire::{ErrorCode, PolicyCheckAnswer};

/// The pause in typing after which the office checks the text.
const TYPING_PAUSE: Duration = Duration::from_millis(400);

/// The text in the editor.
#[derive(Clone, Copy)]
pub(super) struct Editing {
    shown: Shown,
    is_open: RwSignal<bool>,
    text: RwSignal<String>,
    reason: RwSignal<String>,
    /// The version that the text is based on.
    over: RwSignal<u64>,
    check: RwSignal<Option<Result<PolicyCheckAnswer, ApiError>>>,
    /// Whether the check belongs to an older text.
    stale: RwSignal<bool>,
    /// Counts the texts. A check of an older text is dropped.
    revision: StoredValue<u64>,
    saving: Command,
    /// The newest version, if it is not the one that the text is based on.
    newer: RwSignal<Option<PolicyText>>,
    toaster: Toaster,
}

impl Editing {
    /// Returns a closed editor.
    pub(super) fn new(shown: Shown) -> Self {
        let editing = Self {
            shown,
            is_open: RwSignal::new(false),
            text: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            over: RwSignal::new(0),
            check: RwSignal::new(None),
            stale: RwSignal::new(false),
            revision: StoredValue::new(0),
            saving: Command::new(),
            newer: RwSignal::new(None),
            toaster: toaster(),
        };
        // A refusal because of another version: that version is read, so that the page can say what it changed.
        let reading = Command::new();
        Effect::new(move || {
            let refused = editing.saving.error().get().and_then(|error| error.code());
            if refused == Some(ErrorCode::Conflict) {
                reading.run(api::policy(), move |newest: PolicyText| {
                    editing.shown.policy.try_set(Some(newest.clone()));
                    editing.newer.try_set(Some(newest));
                });
            }
        });
        editing
    }

    /// Returns whether the editor is open. Tracked.
    pub(super) fn is_open(self) -> bool {
        self.is_open.get()
    }

    /// Opens the editor with a text, over the version that applies.
    pub(super) fn begin(self, text: String) {
        self.over.set(self.shown.policy.with_untracked(|policy| policy.as_ref().map_or(0, |policy| policy.version)));
        self.saving.clear();
        self.newer.set(None);
        if !self.is_open.get_untracked() {
            self.reason.set(String::new());
        }
        self.is_open.set(true);
        self.write(text);
    }

    fn close(self) {
        self.is_open.set(false);
        self.check.set(None);
    }

    fn write(self, text: String) {
        self.text.set(text);
        self.check_soon();
    }

    /// Checks the text after a pause in typing, unless it is not JSON.
    fn check_soon(self) {
        let revision = self.revision.get_value() + 1;
        self.revision.set_value(revision);
        self.stale.set(true);
        let is_latest = move || self.revision.try_with_value(|latest| *latest == revision) == Some(true);
        let check = move || {
            let Some(text) = self.text.try_get_untracked().filter(|_| is_latest()) else { return };
            if syntax_error(&text).is_some() {
                self.check.try_set(None);
                self.stale.try_set(false);
                return;
            }
            spawn_local(async move {
                let checked = api::check_policy(&text).await;
                if is_latest() {
                    self.stale.try_set(false);
                    self.check.try_set(Some(checked));
                }
            });
        };
        set_timeout(check, TYPING_PAUSE);
    }

    /// Returns the errors in the text with their positions. An error without a position has none.
    fn errors(self) -> Vec<(Option<TextPosition>, String)> {
        self.text.with(|text| match syntax_error(text) {
            Some(position) => vec![(Some(position.clone()), position.words)],
            None => self.check.with(|check| match check {
                Some(Ok(check)) => {
                    check.problems.iter().map(|problem| (position_of(text, problem), problem.clone())).collect()
                }
                _ => Vec::new(),
            }),
        })
    }

    /// Returns the version that somebody else has saved meanwhile.
    fn newest(self) -> Option<u64> {
        self.newer.with(|newest| newest.as_ref().map(|newest| newest.version))
    }

    fn why_not(self) -> Option<String> {
        if !self.errors().is_empty() {
            return Some("Correct the errors above first.".to_string());
        }
        if let Some(version) = self.newest() {
            return Some(format!("Compare your text with version {version} first."));
        }
        let changes =
            self.check.with(|check| check.as_ref().and_then(|check| Some(check.as_ref().ok()?.changes.len())));
        match changes {
            None => Some("Wait for the check.".to_string()),
            Some(_) if self.stale.get() => Some("Wait for the check.".to_string()),
            Some(0) => Some("Nothing is changed yet.".to_string()),
            Some(_) if self.reason.with(|reason| reason.trim().is_empty()) => Some("Enter a reason.".to_string()),
            Some(_) => None,
        }
    }

    fn save(self) {
        let (text, over, reason) = (self.text.get_untracked(), self.over.get_untracked(), self.reason.get_untracked());
        let call = async move { api::change_policy(&text, over, &reason).await };
        self.newer.set(None);
        self.saving.run(call, move |policy: PolicyText| {
            self.toaster.show(format!("Version {} saved. It applies everywhere within 10 s.", policy.version));
            self.close();
            self.shown.policy.try_set(Some(policy));
        });
    }

    /// Bases the text on the newest version: the next check compares with that one.
    fn rebase(self, newest: PolicyText) {
        self.over.set(newest.version);
        self.newer.set(None);
        self.saving.clear();
        self.check_soon();
    }
}

/// Shows the text, the check and the reason.
#[component]
pub(super) fn Editor(editing: Editing) -> impl IntoView {
    let tab = tab();
    let area: NodeRef<html::Textarea> = NodeRef::new();
    let id = next_id();
    let errors = Memo::new(move |_| editing.errors());
    let is_wrong = move || errors.with(|errors| !errors.is_empty()).then_some("true");
    let go = move |position: TextPosition| {
        if let Some(area) = area.get_untracked() {
            let _ = area.focus();
            let _ = area.set_selection_range(position.start, position.start);
        }
    };
    let error = move |(position, words): (Option<TextPosition>, String)| {
        let link = position.map(|position| {
            let at = format!("Line {}, column {}", position.line, position.column);
            view! { <button type="button" class="button button-quiet" on:click=on(move |_| go(position.clone()))>{at}</button> }.into_any()
        });
        view! { <li>{link}<span class="field-error">{words}</span></li> }.into_any()
    };
    let why_not = Signal::derive(move || tab.why_not(Permission::ChangePolicy).or_else(|| editing.why_not()));
    let next = move || format!("Save version {}", editing.newest().unwrap_or_else(|| editing.over.get()) + 1);
    let revert = move |()| editing.close();
    view! {
        <section class="policy-editor" aria-label="Edit the policy">
            <div class="field">
                <label for=id.clone()>"The policy as JSON"</label>
                <textarea class="input mono" id=id rows="18" spellcheck="false" autocomplete="off" node_ref=area
                    aria-invalid=attr(is_wrong) prop:value=move || editing.text.get()
                    on:input:target=move |event| editing.write(event.target().value())></textarea>
                <span class="field-note"><span class="field-hint">"A setting that is left out gets its default."</span></span>
            </div>
            <div class="policy-check" aria-live="polite" aria-busy=attr(move || editing.stale.get().then_some("true"))>
                {part(move || {
                    let errors = errors.get();
                    match errors.is_empty() {
                        true => view! { <Checked editing /> }.into_any(),
                        false => view! { <ul class="policy-errors">{errors.into_iter().map(error).collect_view()}</ul> }.into_any(),
                    }
                })}
            </div>
            <Field label="Reason" lines=true value=editing.reason on_input=move |text| editing.reason.set(text)
                hint=Some("Saved with the version, for everybody who reads the history.".to_string()) />
            {part(move || editing.newer.get().map(|newest| view! { <Newer editing newest /> }.into_any()))}
            <Show when=move || editing.newer.with(Option::is_none)><Problem error=editing.saving.error() /></Show>
            <div class="side-buttons policy-buttons">
                <Button press=move |()| editing.save() kind=Kind::Primary busy=editing.saving.busy() why_not>{part(next)}</Button>
                <Button press=revert>"Cancel"</Button>
            </div>
        </section>
    }
}

/// Shows what the text would change, and what that would remove.
#[component]
fn Checked(editing: Editing) -> impl IntoView {
    part(move || match editing.check.get() {
        None => span("muted", "Checking…".to_string()),
        Some(Err(error)) => view! { <Problem error=Signal::stored(Some(error)) /> }.into_any(),
        Some(Ok(check)) => {
            let words = match check.changes.len() as u64 {
                0 => "Nothing would change.".to_string(),
                n => format!("{} would change:", counted(n, "setting", "settings")),
            };
            let line = |found| {
                let (setting, words) = change(found);
                item(setting, span("", words))
            };
            let changes = list(check.changes.iter().map(line).collect());
            let warnings = check.warnings.iter().map(|warning| view! { <li>{warning.clone()}</li> }.into_any());
            let warnings = (!check.warnings.is_empty())
                .then(|| view! { <ul class="policy-warnings">{warnings.collect_view()}</ul> }.into_any());
            view! { <p><b>{words}</b></p>{changes}{warnings} }.into_any()
        }
    })
}

/// Explains that somebody else has saved a version meanwhile. The text stays.
#[component]
fn Newer(editing: Editing, newest: PolicyText) -> impl IntoView {
    let by = newest.by.as_ref().map_or_else(|| "somebody".to_string(), ToString::to_string);
    let reason = newest.reason.clone().unwrap_or_default();
    let (words, take) = (
        format!("Not saved: {by} saved version {} while you were editing. Your text is kept.", newest.version),
        newest.text.clone(),
    );
    let rebase = {
        let newest = newest.clone();
        move |()| editing.rebase(newest.clone())
    };
    let replace = move |()| {
        editing.rebase(newest.clone());
        editing.write(take.clone());
    };
    view! {
        <div class="problem" role="alert">
            <p>{words}" "<q>{reason}</q></p>
            <p>"Compare your text with that version, then save. Changes that exist only in that version appear as yours. Copy them into your text, or saving undoes them."</p>
            <div class="side-buttons">
                <Button press=rebase>"Compare my text"</Button>
                <Button press=replace kind=Kind::Quiet>"Discard my text and start from theirs"</Button>
            </div>
        </div>
    }
}
