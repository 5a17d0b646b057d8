//! The policy: its rules in words, its text with a check before it is saved, and its versions.

mod editor;
mod history;

use crate::api::{self, PolicyText};
use crate::command::Command;
use crate::component::{At, Button, Frame, Kind, Problem, Skeleton};
use crate::reactive::prelude::*;
use crate::session::tab;
use dashboard_model::policy::{Section, sections};
use domain::role::Permission;
use editor::Editing;

/// What the parts of the page share: the policy that applies, as it was last read.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    policy: RwSignal<Option<PolicyText>>,
    reading: Command,
}

impl Shown {
    /// Reads the policy that applies.
    pub(super) fn read(self) {
        self.reading.run(api::policy(), move |policy| drop(self.policy.try_set(Some(policy))));
    }
}

/// The page of the policy.
#[component]
pub fn PolicyPage() -> impl IntoView {
    let shown = Shown { policy: RwSignal::new(None), reading: Command::new() };
    shown.read();
    let editing = Editing::new(shown);
    view! {
        <Frame title="Policy">
            <Problem error=shown.reading.error() />
            <Show when=move || shown.reading.error().with(Option::is_some)>
                <p><Button press=move |()| shown.read() busy=shown.reading.busy()>"Retry"</Button></p>
            </Show>
            {part(move || match shown.policy.get() {
                Some(policy) => view! { <Page policy editing /> }.into_any(),
                None => view! { <Show when=move || shown.reading.busy().get()><Skeleton rows=8 /></Show> }.into_any(),
            })}
        </Frame>
    }
}

#[component]
fn Page(policy: PolicyText, editing: Editing) -> impl IntoView {
    let tab = tab();
    let why_not = Signal::derive(move || tab.why_not(Permission::ChangePolicy));
    let text = policy.text.clone();
    let rules = sections(&policy.text).into_iter().map(rules).collect_view();
    let version = policy.version;
    view! {
        <p class="policy-version">
            {wrote(&policy)}
        </p>
        {part(move || match editing.is_open() {
            true => view! { <editor::Editor editing /> }.into_any(),
            false => {
                let text = text.clone();
                let press = move |()| editing.begin(text.clone());
                view! { <p><Button press why_not kind=Kind::Plain>"Edit policy…"</Button></p> }.into_any()
            }
        })}
        <div class="policy-rules">{rules}</div>
        <history::History editing version />
    }
}

/// Returns who wrote a version, when and why.
fn wrote(policy: &PolicyText) -> AnyView {
    match (&policy.by, policy.at) {
        (Some(by), Some(at)) => {
            let reason = policy.reason.clone().unwrap_or_default();
            view! {
                <b>{format!("Version {}", policy.version)}</b>
                <span class="muted">{format!("by {by}, ")}<At at=Signal::stored(at) absolute=true /></span>
                <q>{reason}</q>
            }
            .into_any()
        }
        _ => view! {
            <b>"The deployment's policy"</b>
            <span class="muted">"It applies until somebody saves a version here."</span>
        }
        .into_any(),
    }
}

fn rules(section: Section) -> AnyView {
    // The name of a message type stands out; a sentence that is about all of them has no name.
    let is_named = section.title == "Message types";
    let line = |line: String| match line.split_once(": ") {
        Some((name, rest)) if is_named && !name.contains(' ') => {
            view! { <li><b>{name.to_string()}</b>{format!(": {rest}")}</li> }.into_any()
        }
        _ => view! { <li>{line}</li> }.into_any(),
    };
    let lines = section.lines.into_iter().map(line).collect_view();
    view! {
        <section class="policy-part">
            <h2>{section.title}</h2>
            <ul>{lines}</ul>
        </section>
    }
    .into_any()
}
