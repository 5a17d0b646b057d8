//! Writing a payload transform: the program, what it would change, its versions, and the dry run.

use super::here::Here;
use super::plan::Planning;
use crate::api;
use crate::ask::Ask;
use crate::component::{At, Button, Kind, PreviewList, Problem, ProgramField, item, list, words};
use crate::reactive::prelude::*;
use dashboard_model::money::counted;
use dashboard_model::transform::dry_run;
use domain::filter::LetterFilter;
use domain::letter::LetterStateKind;
use domain::transform::{DryRun, LetterFailure};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::{
    DryRunRequest, PreviewTransformRequest, SaveTransformRequest, TransformPreview, TransformView, TransformsAnswer,
};

/// How long nothing is typed before it is tried.
const REST: Duration = Duration::from_millis(250);

/// A transform that is being written.
#[derive(Clone, Copy)]
pub(super) struct Writing {
    here: Here,
    planning: Planning,
    program: RwSignal<String>,
    versions: RwSignal<Option<Vec<TransformView>>>,
    preview: RwSignal<Option<TransformPreview>>,
    /// Whether what is shown belongs to an older text.
    stale: RwSignal<bool>,
    /// Counts the texts: an answer to an older one is dropped.
    turn: StoredValue<u64>,
    loading: Ask,
    saving: Ask,
    trying: Ask,
    stopped: RwSignal<bool>,
    trouble: RwSignal<Option<api::ApiError>>,
}

impl Writing {
    /// Nothing written yet.
    pub(super) fn new(here: Here, planning: Planning) -> Self {
        Self {
            here,
            planning,
            program: RwSignal::new(String::new()),
            versions: RwSignal::new(None),
            preview: RwSignal::new(None),
            stale: RwSignal::new(false),
            turn: StoredValue::new(0),
            loading: Ask::new(),
            saving: Ask::new(),
            trying: Ask::new(),
            stopped: RwSignal::new(false),
            trouble: RwSignal::new(None),
        }
    }

    /// Reads the versions; begins with the one that is declared, or the newest.
    pub(super) fn open(self) {
        self.loading.run(api::transforms(self.here.id()), move |answer: TransformsAnswer| {
            let declared = self.here.now().row.state.fix().and_then(|fix| fix.transform.clone());
            let named = |view: &&TransformView| declared.as_ref().is_some_and(|d| d.version == view.transform.version);
            let first = answer.versions.iter().find(named).or(answer.versions.first());
            let text = first.map_or(".".to_string(), |view| view.transform.program.clone());
            self.program.try_set(text);
            self.versions.try_set(Some(answer.versions));
        });
    }

    /// The saved version that is written here now.
    pub(super) fn chosen(self) -> Option<TransformView> {
        let text = self.program.get();
        self.versions.with(|all| all.iter().flatten().find(|view| view.transform.program == text).cloned())
    }

    /// Tries what is written, once nothing is typed for a moment.
    fn try_soon(self) {
        let turn = self.turn.get_value() + 1;
        self.turn.set_value(turn);
        self.stale.set(true);
        let is_latest = move || self.turn.try_with_value(|latest| *latest == turn) == Some(true);
        let try_it = move || {
            let Some(program) = self.program.try_get_untracked().filter(|_| is_latest()) else { return };
            let ask = PreviewTransformRequest { program, letters_max: None, filter: self.planning.filter() };
            let id = self.here.id();
            spawn_local(async move {
                let answer = api::try_transform(id, ask).await;
                if is_latest() {
                    let (preview, trouble) = match answer {
                        Ok(preview) => (Some(preview), None),
                        Err(trouble) => (None, Some(trouble)),
                    };
                    self.stale.try_set(false);
                    self.trouble.try_set(trouble);
                    self.preview.try_set(preview);
                }
            });
        };
        set_timeout(try_it, REST);
    }

    fn save(self) {
        let ask = SaveTransformRequest { program: self.program.get_untracked(), note: None };
        self.saving.run(api::save_transform(self.here.id(), ask), move |transform| {
            let saved = TransformView { transform, dry_run: None };
            self.versions.try_update(|all| all.get_or_insert_default().insert(0, saved));
        });
    }

    /// Goes through the letters that fit, a page at a time, until it is done or stopped.
    fn dry_run(self, version: u32, go_on: Option<u64>, filter: LetterFilter) {
        self.stopped.set(false);
        let ask = DryRunRequest { version, go_on, filter };
        self.trying.run(api::dry_run(self.here.id(), ask), move |run: DryRun| {
            let (revision, is_whole) = (run.revision, run.is_whole());
            self.versions.try_update(|all| {
                let of = all.iter_mut().flatten().find(|view| view.transform.version == version);
                of.into_iter().for_each(|view| view.dry_run = Some(run.clone()));
            });
            if is_whole {
                self.here.hurry();
            } else if self.stopped.try_get_untracked() == Some(false) {
                self.dry_run(version, Some(revision), run.filter.clone());
            }
        });
    }
}

/// The editor.
#[component]
pub(super) fn Editor(writing: Writing) -> impl IntoView {
    Effect::new(move || {
        // Read, so that each text is tried.
        if writing.program.with(|text| !text.is_empty()) || writing.versions.with(Option::is_some) {
            writing.try_soon();
        }
    });
    let faults = writing.preview.map(|preview| preview.as_ref().map(|p| p.faults.clone()).unwrap_or_default());
    let why_not_save = Signal::derive(move || {
        let wrong = faults.with(|faults| !faults.is_empty());
        wrong.then(|| "The program has a fault.".to_string())
    });
    let next =
        move || writing.versions.with(|all| all.iter().flatten().map(|v| v.transform.version).max()).unwrap_or(0) + 1;
    let chosen = Memo::new(move |_| writing.chosen());
    let known = writing.versions.map(Option::is_some);
    view! {
        <Problem error=writing.loading.error() />
        {part(move || known.get().then(|| view! {
            <ProgramField program=writing.program faults />
            <PreviewList preview=writing.preview busy=writing.stale />
        }.into_any()))}
        <Problem error=writing.trouble />
        {part(move || match (known.get(), chosen.get()) {
            (false, _) => words("muted", "Reading the saved versions…".to_string()),
            (true, Some(version)) => view! { <Trial writing version /> }.into_any(),
            (true, None) => view! {
                <Button press=move |()| writing.save() busy=writing.saving.busy() why_not=why_not_save>
                    {part(move || format!("Save as v{}", next()))}
                </Button>
            }
            .into_any(),
        })}
        <Problem error=writing.saving.error() />
        <Problem error=writing.trying.error() />
        {part(move || versions(writing))}
    }
}

/// The saved version that stands in the editor, and its dry run.
#[component]
fn Trial(writing: Writing, version: TransformView) -> impl IntoView {
    let number = version.transform.version;
    let waiting = writing.here.part(|detail| detail.counts.of(LetterStateKind::Waiting).letters);
    let run = StoredValue::new(version.dry_run);
    let told = move || {
        let said = run.with_value(|run| run.as_ref().map(|run| dry_run(run, waiting.get())));
        format!(
            "v{number}: {}",
            said.unwrap_or_else(|| "not tried over all letters yet; the gate waits for it.".into())
        )
    };
    let failures = run.with_value(|run| {
        let failures = run.iter().flat_map(|run| &run.failures);
        let line = |failure: &LetterFailure| {
            item(failure.letter.as_str().chars().take(8).collect(), words("field-wrong", failure.reason.clone()))
        };
        list(failures.map(line).collect())
    });
    let go_on = run.with_value(|run| run.as_ref().filter(|run| !run.is_whole()).map(|run| run.revision));
    let busy = writing.trying.busy();
    // A dry run over all letters counts for every plan; one under a filter for plans with that filter.
    let filter = StoredValue::new(writing.planning.filter());
    let is_filtered = filter.with_value(|filter| !filter.is_none());
    let over_all =
        move || format!("Dry run over {}", counted(waiting.get().max(0).unsigned_abs(), "letter", "letters"));
    let verb = move || match (busy.get(), go_on) {
        (true, _) => "Stop".to_string(),
        (false, Some(_)) => "Go on".to_string(),
        (false, None) if is_filtered => "Dry run over the letters of the filter".to_string(),
        (false, None) => over_all(),
    };
    let press = move |()| {
        if busy.get_untracked() {
            writing.stopped.set(true);
        } else {
            writing.dry_run(number, go_on, filter.get_value());
        }
    };
    view! {
        <p aria-live="polite">{part(told)}</p>
        <div class="side-buttons">
            <Button press>{part(verb)}</Button>
            <Show when=move || is_filtered && go_on.is_none() && !busy.get()>
                <Button kind=Kind::Quiet press=move |()| writing.dry_run(number, None, LetterFilter::default())>
                    {part(over_all)}
                </Button>
            </Show>
        </div>
        {failures}
    }
}

/// The saved versions, newest first: a press brings one back.
fn versions(writing: Writing) -> AnyView {
    let line = |view: TransformView| {
        let TransformView { transform, .. } = view;
        let text = transform.program;
        let button = view! {
            {format!("saved by {} ", transform.saved_by)}<At at=Signal::stored(transform.saved_at) />" "
            <Button press=move |()| writing.program.set(text.clone()) kind=Kind::Quiet>"Use it"</Button>
        };
        item(format!("v{}", transform.version), button.into_any())
    };
    list(writing.versions.get().unwrap_or_default().into_iter().map(line).collect())
}
