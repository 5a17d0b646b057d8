//! The failure: type, message and stack trace. Library frames are folded.

use super::current::CurrentGroup;
use crate::component::{Copy, Empty};
use crate::reactive::prelude::*;
use dashboard_model::reported;
use dashboard_model::trace::{Block, blocks, has_own};
use domain::reading::{Failure, Reported};

/// Shows the failure of the group's first letter.
#[component]
pub(super) fn FailureTab(current: CurrentGroup) -> impl IntoView {
    let failure = current.part(|detail| (detail.failure.clone(), detail.reported.clone()));
    // What the log says comes first where the letters say nothing.
    let only_logs = current.part(|detail| detail.failure.is_empty() && detail.logs.search.evidence.is_some());
    let could_read_logs = current.part(|detail| detail.failure.is_empty() && !detail.logs.can_read);
    view! {
        <Show when=move || !only_logs.get()>
            {part(move || {
                let (failure, reported) = failure.get();
                view! { <FailureText failure reported /> }
            })}
        </Show>
        <Show when=move || could_read_logs.get()>
            <p class="muted">
                "On AWS, the office can look for the cause in the consumer's logs: parameter "<code>"ConsumerLogGroupArns"</code>"."
            </p>
        </Show>
        <super::logs::FromLogs current />
        <Show when=move || only_logs.get()><p class="muted">"No error details on these letters. "<Advice /></p></Show>
    }
}

/// Says how letters come to carry their error.
#[component]
fn Advice() -> impl IntoView {
    view! { "To see why they failed, let the consumer report or stamp its failures. On AWS you can also add the layer "<code>"witness"</code>" to its function." }
}

/// Shows a failure, and the report that it comes from.
#[component]
pub(super) fn FailureText(failure: Failure, reported: Option<Reported>) -> impl IntoView {
    if failure.is_empty() {
        return view! {
            <Empty title="No error details on these letters.">
                <p>"SQS moves messages to a dead-letter queue without saying why. "<Advice />" Until then, check the payload."</p>
            </Empty>
        }
        .into_any();
    }
    let stack = failure.stack.clone();
    let words = view! {
        <dl class="failure">
            {failure.error_type.map(|t| view! { <div><dt>"Type"</dt><dd class="mono">{t}</dd></div> }.into_any())}
            {failure.message.map(|m| view! { <div><dt>"Message"</dt><dd class="failure-message">{m}</dd></div> }.into_any())}
            {failure.stated_class.map(|class| view! {
                <div><dt>"Class"</dt><dd>{dashboard_model::words::class(class)}<span class="muted">", claimed by the consumer"</span></dd></div>
            }.into_any())}
        </dl>
    };
    let trace = match stack {
        Some(stack) => view! { <Trace stack /> }.into_any(),
        None => view! { <p class="muted">"No stack trace."</p> }.into_any(),
    };
    let source = reported.map(|reported| view! { <Source reported /> }.into_any());
    view! { {words}{source}{trace} }.into_any()
}

/// Shows who reported a failure, how sure it is, and what the invocation logged.
#[component]
fn Source(reported: Reported) -> impl IntoView {
    let invocation = reported::invocation(&reported);
    let invocation = (!invocation.is_empty()).then(|| view! { <p class="muted">{invocation}</p> }.into_any());
    let logs = (!reported.logs.is_empty()).then(|| {
        let lines = reported.logs.join("\n");
        view! {
            <details class="fold">
                <summary>"Log lines of this invocation"</summary>
                <pre class="raw" tabindex="0">{lines}</pre>
            </details>
        }
        .into_any()
    });
    view! {
        <div class="failure-source">
            <p>
                {reported::source(&reported)} ", request " <span class="mono">{reported.request_id.clone()}</span> "."
            </p>
            <p>{reported::certainty(&reported)}</p>
            {invocation}
            {logs}
        </div>
    }
}

#[component]
fn Trace(stack: String) -> impl IntoView {
    let raw = RwSignal::new(false);
    let parts = StoredValue::new(blocks(&stack));
    let stack = StoredValue::new(stack);
    let fold = parts.with_value(|parts| has_own(parts));
    view! {
        <div class="trace-tools">
            <div class="switch" role="group" aria-label="How the trace is shown">
                <button type="button" aria-pressed=attr(move || (!raw.get()).to_string()) on:click=on(move |_| raw.set(false))>"Frames"</button>
                <button type="button" aria-pressed=attr(move || raw.get().to_string()) on:click=on(move |_| raw.set(true))>"Raw"</button>
            </div>
            <Copy text=Signal::derive(move || stack.get_value()) what="the trace" labelled=true />
        </div>
        {part(move || if raw.get() {
            view! { <pre class="raw" tabindex="0">{stack.get_value()}</pre> }.into_any()
        } else {
            let shown = parts.get_value().into_iter().map(|part| block(part, fold)).collect_view();
            view! { <div class="trace">{shown}</div> }.into_any()
        })}
    }
}

fn block(block: Block, fold: bool) -> AnyView {
    match block {
        Block::Words(line) => view! { <p class="trace-words">{line}</p> }.into_any(),
        Block::Own(lines) => view! { <pre class="trace-own">{unindented(&lines)}</pre> }.into_any(),
        Block::Library { lines, frames } => {
            let summary = match frames {
                0 => lines.first().cloned().unwrap_or_default(),
                1 => "1 library frame".to_string(),
                n => format!("{n} library frames"),
            };
            view! {
                <details class="trace-library" open=!fold>
                    <summary>{summary}</summary>
                    <pre>{unindented(&lines)}</pre>
                </details>
            }
            .into_any()
        }
    }
}

/// Removes the indentation that all lines share, and shortens what is left: Rust indents by 13, which leaves no room on a
/// phone.
fn unindented(lines: &[String]) -> String {
    let indent = |line: &String| line.len() - line.trim_start().len();
    let shared = lines.iter().map(indent).min().unwrap_or(0);
    let line = |line: &String| format!("{:1$}{2}", "", (indent(line) - shared).min(INDENT_MAX), line.trim_start());
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The deepest indentation that is shown, columns.
const INDENT_MAX: usize = 4;
