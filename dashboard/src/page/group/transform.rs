//! The editor of a payload transform: the program, its preview, its versions, and the dry run.

use super::current::CurrentGroup;
use super::plan::Planning;
use crate::api;
use crate::command::Command;
use crate::component::{At, Button, Kind, PreviewList, Problem, ProgramField, item, list, span};
use crate::reactive::prelude::*;
use dashboard_model::money::counted;
use dashboard_model::transform::{dry_run, starter};
use domain::filter::LetterFilter;
use domain::letter::LetterStateKind;
use domain::transform::{DryRun, LetterFailure};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::{
    DryRunRequest, PreviewTransformRequest, SaveTransformRequest, TransformPreviewAnswer, TransformView,
    TransformsAnswer,
};

/// The pause in typing after which the program is tested.
const TYPING_PAUSE: Duration = Duration::from_millis(250);

/// A transform in the editor.
#[derive(Clone, Copy)]
pub(super) struct EditedTransform {
    current: CurrentGroup,
    planning: Planning,
    program: RwSignal<String>,
    versions: RwSignal<Option<Vec<TransformView>>>,
    preview: RwSignal<Option<TransformPreviewAnswer>>,
    /// Whether the preview belongs to an older text.
    stale: RwSignal<bool>,
    /// Counts the texts. A preview of an older text is dropped.
    revision: StoredValue<u64>,
    loading: Command,
    saving: Command,
    dry_running: Command,
    paused: RwSignal<bool>,
    preview_error: RwSignal<Option<api::ApiError>>,
}

impl EditedTransform {
    /// Creates an empty one.
    pub(super) fn new(current: CurrentGroup, planning: Planning) -> Self {
        Self {
            current,
            planning,
            program: RwSignal::new(String::new()),
            versions: RwSignal::new(None),
            preview: RwSignal::new(None),
            stale: RwSignal::new(false),
            revision: StoredValue::new(0),
            loading: Command::new(),
            saving: Command::new(),
            dry_running: Command::new(),
            paused: RwSignal::new(false),
            preview_error: RwSignal::new(None),
        }
    }

    /// Loads the versions. Starts with the declared version, or with the newest.
    pub(super) fn open(self) {
        self.loading.run(api::transforms(self.current.id()), move |answer: TransformsAnswer| {
            let declared = self.current.now().row.state.fix().and_then(|fix| fix.transform.clone());
            let is_declared =
                |view: &&TransformView| declared.as_ref().is_some_and(|d| d.version == view.transform.version);
            let first = answer.versions.iter().find(is_declared).or(answer.versions.first());
            let text = first.map(|view| view.transform.program.clone());
            match text {
                Some(text) => self.start(text, answer.versions),
                None => self.start_with_example(),
            }
        });
    }

    fn start(self, text: String, versions: Vec<TransformView>) {
        self.program.try_set(text);
        self.versions.try_set(Some(versions));
    }

    /// Starts with an example for a field of the oldest waiting letter. Without such a letter, starts with the program
    /// that changes nothing.
    fn start_with_example(self) {
        let (id, filter) = (self.current.id(), self.planning.filter());
        spawn_local(async move {
            let waiting = Some(LetterStateKind::Waiting);
            let page = api::letters(id, waiting, filter, None, api::Seen::default()).await.ok();
            let oldest = page.and_then(api::Answer::into_new).and_then(|page| page.letters.into_iter().next());
            let letter = match oldest {
                Some(row) => api::letter(row.id, api::Seen::default()).await.ok().and_then(api::Answer::into_new),
                None => None,
            };
            let text = letter.map_or(".".to_string(), |letter| starter(&letter.content.body));
            self.start(text, Vec::new());
        });
    }

    /// Returns the saved version with the edited text. Tracked.
    pub(super) fn saved(self) -> Option<TransformView> {
        let text = self.program.get();
        self.versions.with(|all| all.iter().flatten().find(|view| view.transform.program == text).cloned())
    }

    /// Returns whether it is being saved. Tracked.
    pub(super) fn is_saving(self) -> bool {
        self.saving.busy().get()
    }

    /// Explains why it cannot be saved. Returns `None` if it can, or if it is already saved. Tracked.
    pub(super) fn why_not_save(self) -> Option<String> {
        if self.versions.with(Option::is_none) {
            return Some("Wait until the saved versions are loaded.".to_string());
        }
        let has_faults = self.preview.with(|preview| preview.as_ref().is_some_and(|p| !p.faults.is_empty()));
        has_faults.then(|| "Fix the program's errors first.".to_string())
    }

    /// Tests the program after a pause in typing.
    fn test_soon(self) {
        let revision = self.revision.get_value() + 1;
        self.revision.set_value(revision);
        self.stale.set(true);
        let is_latest = move || self.revision.try_with_value(|latest| *latest == revision) == Some(true);
        let test = move || {
            let Some(program) = self.program.try_get_untracked().filter(|_| is_latest()) else { return };
            let request = PreviewTransformRequest { program, letters_max: None, filter: self.planning.filter() };
            let id = self.current.id();
            spawn_local(async move {
                let answer = api::preview_transform(id, request).await;
                if is_latest() {
                    let (preview, error) = match answer {
                        Ok(preview) => (Some(preview), None),
                        Err(error) => (None, Some(error)),
                    };
                    self.stale.try_set(false);
                    self.preview_error.try_set(error);
                    self.preview.try_set(preview);
                }
            });
        };
        set_timeout(test, TYPING_PAUSE);
    }

    /// Saves it as a new version, then calls `then` with the version's number.
    pub(super) fn save_then(self, then: impl FnOnce(u32) + 'static) {
        let request = SaveTransformRequest { program: self.program.get_untracked(), note: None };
        self.saving.run(api::save_transform(self.current.id(), request), move |transform| {
            let version = transform.version;
            let saved = TransformView { transform, dry_run: None };
            self.versions.try_update(|all| all.get_or_insert_default().insert(0, saved));
            then(version);
        });
    }

    /// Tests the matching letters page by page, until all are tested or the reader pauses. `resume` is the revision of a
    /// paused dry run.
    fn dry_run(self, version: u32, resume: Option<u64>, filter: LetterFilter) {
        self.paused.set(false);
        let request = DryRunRequest { version, go_on: resume, filter };
        self.dry_running.run(api::dry_run(self.current.id(), request), move |run: DryRun| {
            let (revision, is_whole) = (run.revision, run.is_whole());
            self.versions.try_update(|all| {
                let tested = all.iter_mut().flatten().find(|view| view.transform.version == version);
                tested.into_iter().for_each(|view| view.dry_run = Some(run.clone()));
            });
            if is_whole {
                self.current.hurry();
            } else if self.paused.try_get_untracked() == Some(false) {
                self.dry_run(version, Some(revision), run.filter.clone());
            }
        });
    }
}

/// Shows the editor.
#[component]
pub(super) fn Editor(edited: EditedTransform) -> impl IntoView {
    Effect::new(move || {
        // Reads the text, so that each change is tested.
        if edited.program.with(|text| !text.is_empty()) || edited.versions.with(Option::is_some) {
            edited.test_soon();
        }
    });
    let faults = edited.preview.map(|preview| preview.as_ref().map(|p| p.faults.clone()).unwrap_or_default());
    let is_loaded = edited.versions.map(Option::is_some);
    view! {
        <Problem error=edited.loading.error() />
        {part(move || match is_loaded.get() {
            false => span("muted", "Loading saved versions…".to_string()),
            true => view! {
                <ProgramField program=edited.program faults />
                <PreviewList preview=edited.preview busy=edited.stale examples=true />
                <Tested edited />
            }
            .into_any(),
        })}
        <Problem error=edited.preview_error />
        <Problem error=edited.saving.error() />
        <Problem error=edited.dry_running.error() />
    }
}

/// Shows whether the program in the editor is saved, and its dry run, which saves it first: only a version has one.
#[component]
fn Tested(edited: EditedTransform) -> impl IntoView {
    // The buttons keep their elements, and so the focus, while the version is saved and tested.
    let saved = Memo::new(move |_| edited.saved());
    let number = saved.map(|saved| saved.as_ref().map(|view| view.transform.version));
    let run = saved.map(|saved| saved.as_ref().and_then(|view| view.dry_run.clone()));
    let waiting = edited.current.part(|detail| detail.counts.tally(LetterStateKind::Waiting).letters);
    let next =
        move || edited.versions.with(|all| all.iter().flatten().map(|v| v.transform.version).max()).unwrap_or(0) + 1;
    let summary = move || {
        let Some(number) = number.get() else { return format!("Not saved. A dry run saves it as v{}.", next()) };
        let result = run.with(|run| run.as_ref().map(|run| dry_run(run, waiting.get())));
        format!(
            "v{number}: {}",
            result.unwrap_or_else(|| "no dry run over all letters yet. The gate requires one.".into())
        )
    };
    let failures = move || {
        let line = |failure: &LetterFailure| {
            item(failure.letter.as_str().chars().take(8).collect(), span("field-error", failure.reason.clone()))
        };
        run.with(|run| list(run.iter().flat_map(|run| &run.failures).map(line).collect()))
    };
    let resume = run.map(|run| run.as_ref().filter(|run| !run.is_whole()).map(|run| run.revision));
    let busy = edited.dry_running.busy();
    // A dry run over all letters counts for every plan; a filtered one counts for plans with the same filter.
    let filter = StoredValue::new(edited.planning.filter());
    let is_filtered = filter.with_value(|filter| !filter.is_none());
    let over_all =
        move || format!("Dry run over {}", counted(waiting.get().max(0).unsigned_abs(), "letter", "letters"));
    let verb = move || match (busy.get(), resume.get()) {
        (true, _) => "Pause dry run".to_string(),
        (false, Some(_)) => "Continue dry run".to_string(),
        (false, None) if is_filtered => "Dry run over filtered letters".to_string(),
        (false, None) => over_all(),
    };
    let start = move |resume: Option<u64>, filter: LetterFilter| match number.get_untracked() {
        Some(number) => edited.dry_run(number, resume, filter),
        None => edited.save_then(move |number| edited.dry_run(number, None, filter)),
    };
    let press = move |()| {
        if busy.get_untracked() {
            edited.paused.set(true);
        } else {
            start(resume.get_untracked(), filter.get_value());
        }
    };
    let is_saving = edited.saving.busy();
    view! {
        // What is wrong with the program is said at its field, and that it cannot be declared beside that button.
        <Show when=move || edited.why_not_save().is_none()>
            <div class="tested">
                <p aria-live="polite">{part(summary)}</p>
                <Button press busy=is_saving>{part(verb)}</Button>
                <Show when=move || is_filtered && resume.get().is_none() && !busy.get()>
                    <Button kind=Kind::Quiet press=move |()| start(None, LetterFilter::default()) busy=is_saving>
                        {part(over_all)}
                    </Button>
                </Show>
            </div>
            {part(failures)}
        </Show>
    }
}

/// Lists the saved versions other than the one in the editor, newest first. A click loads one into it.
pub(super) fn versions(edited: EditedTransform) -> AnyView {
    let line = |view: TransformView| {
        let TransformView { transform, .. } = view;
        let text = transform.program;
        let button = view! {
            {format!("saved by {} ", transform.saved_by)}<At at=Signal::stored(transform.saved_at) />" "
            <Button press=move |()| edited.program.set(text.clone()) kind=Kind::Quiet>"Use this version"</Button>
        };
        item(format!("v{}", transform.version), button.into_any())
    };
    let shown = edited.program.get();
    let others = edited.versions.get().into_iter().flatten().filter(|view| view.transform.program != shown);
    list(others.map(line).collect())
}
