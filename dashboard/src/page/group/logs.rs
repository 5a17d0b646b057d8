//! What the consumer's log says about why the letters died, and the button that has it searched.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::{At, Button, Problem, toaster};
use crate::reactive::prelude::*;
use domain::role::Permission;
use wire::LogsView;

/// Shows the evidence from the log, and the button *Look in the logs*. Shows nothing where the office can read no logs and
/// has no evidence.
#[component]
pub(super) fn FromLogs(current: CurrentGroup) -> impl IntoView {
    let logs = current.part(|detail| detail.logs.clone());
    let command = Command::new();
    let toaster = toaster();
    let why_not = current.why_not(Permission::Triage, |detail| {
        detail.logs.search.wanted_at.map(|_| "The log is searched within a minute.".to_string())
    });
    let can_read = logs.map(|logs| logs.can_read);
    let has_something = logs.map(|logs| logs.can_read || logs.search.evidence.is_some());
    let look = move |()| {
        command.run(api::look_in_logs(current.id()), move |detail| {
            toaster.show("Search requested.");
            current.put(detail);
            current.hurry();
        });
    };
    view! {
        <Show when=move || has_something.get()>
            <section class="failure-source" aria-label="From the logs">
                <h2>"From the consumer's logs"</h2>
                {part(move || view! { <Evidence logs=logs.get() /> }.into_any())}
                <Problem error=command.error() />
                <Show when=move || can_read.get()>
                    <div><Button press=look busy=command.busy() why_not>"Look in the logs"</Button></div>
                </Show>
            </section>
        </Show>
    }
}

/// Shows what is between backticks as code.
fn with_code(said: &str) -> impl IntoView {
    let part = |(at, text): (usize, &str)| match at % 2 {
        0 => text.to_string().into_any(),
        _ => view! { <code>{text.to_string()}</code> }.into_any(),
    };
    said.split('`').enumerate().map(part).collect_view()
}

#[component]
fn Evidence(logs: LogsView) -> impl IntoView {
    let Some((evidence, said)) = logs.search.evidence.zip(logs.said) else {
        let words = if logs.search.wanted_at.is_some() { "Search requested." } else { "Not searched yet." };
        return view! { <p class="muted">{words}</p> }.into_any();
    };
    let stack = evidence.finding.error().and_then(|error| error.stack.clone());
    let stack = stack.map(|stack| {
        view! {
            <details class="fold">
                <summary>"Example from the log"</summary>
                <pre class="raw" tabindex="0">{stack}</pre>
            </details>
        }
        .into_any()
    });
    let cut = evidence.cut.then_some(" There was more in the log than a search reads.");
    let source = evidence.source.map(|source| view! { <span class="mono">{source}</span>", " }.into_any());
    view! {
        <p>{with_code(&said)}{cut}</p>
        <p class="muted">{source}"searched "<At at=Signal::stored(evidence.at) /></p>
        {stack}
    }
    .into_any()
}
