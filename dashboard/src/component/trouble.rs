//! Screens for empty, loading, failed and forbidden values, so that no page is ever blank.

use crate::api::ApiError;
use crate::clock;
use crate::poll::{Face, Live, Pulse, State};
use crate::reactive::prelude::*;

/// Shows an empty state: what would be here, and the action that helps.
#[component]
pub fn Empty(
    /// What is missing.
    #[prop(into)]
    title: Signal<String>,
    /// Details and actions.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="empty-title">{title}</p>
            {children.map(|children| view! { <div class="empty-more">{children()}</div> }.into_any())}
        </div>
    }
}

/// Shows an error, with the request ID of the log, and the gate's unmet conditions if they are the cause.
#[component]
pub fn Problem(
    /// The error.
    #[prop(into)]
    error: Signal<Option<ApiError>>,
) -> impl IntoView {
    part(move || {
        error.get().map(|error| {
            let unmet = error.unmet().iter().map(|condition| {
                view! { <li><b>{condition.kind.label()}</b>": "{condition.evidence.clone()}</li> }.into_any()
            });
            let unmet = (!error.unmet().is_empty()).then(|| view! { <ul>{unmet.collect_view()}</ul> }.into_any());
            let request = error
                .request_id()
                .map(|id| view! { <p class="problem-id">"Request ID "<code>{id.to_string()}</code>": the office's log has the details."</p> }.into_any());
            view! {
                <div class="problem" role="alert">
                    <p>{error.message()}</p>
                    {unmet}
                    {request}
                </div>
            }
            .into_any()
        })
    })
}

/// Shows grey rows while something loads.
#[component]
pub fn Skeleton(
    /// The number of rows.
    #[prop(default = 12)]
    rows: usize,
) -> impl IntoView {
    view! {
        <div class="skeleton" role="status">
            <span class="sr-only">"Loading"</span>
            {(0..rows).map(|_| view! { <div class="skeleton-row"></div> }.into_any()).collect_view()}
        </div>
    }
}

/// Shows its children once a live value is loaded, with a warning above them while it is stale. Otherwise shows why
/// there is no value.
#[component]
pub fn Loaded<T: Clone + PartialEq + Send + Sync + 'static>(
    /// The value.
    live: Live<T>,
    /// What the value is, for "Could not load the …" and "This … does not exist".
    #[prop(default = "page")]
    what: &'static str,
    /// The number of grey rows while it loads.
    #[prop(default = 12)]
    rows: usize,
    children: ChildrenFn,
) -> impl IntoView {
    view! { <Screens face=live.face() what rows children /> }
}

#[component]
fn Screens(face: Face, what: &'static str, rows: usize, children: ChildrenFn) -> impl IntoView {
    let pulse = face.pulse;
    let children = StoredValue::new(children);
    let screen = move || match face.state.get() {
        State::Quiet | State::SignedOut => ().into_any(),
        State::Loading | State::Fresh | State::Stale { .. } => view! { <Skeleton rows /> }.into_any(),
        State::Failed(error) => view! {
            <Empty title=format!("Could not load the {what}.")>
                <Problem error=Signal::stored(Some(error)) />
                <p class="empty-ways">
                    <button type="button" class="button" on:click=on(move |_| pulse.refresh())>"Retry now"</button>
                    <Retrying pulse />
                </p>
            </Empty>
        }
        .into_any(),
        State::Forbidden(error) => view! {
            <Empty title="You do not have access.">
                <p>{error.message()}</p>
                <p>"Ask someone who has access, or sign out and sign in with another role."</p>
            </Empty>
        }
        .into_any(),
        State::Gone => {
            let (page, label) = match what {
                "replay" => ("/replays", "Go to replays"),
                _ => ("/groups", "Go to groups"),
            };
            let why = match what {
                "letter" => "Letters are deleted some time after they were delivered or discarded.",
                _ => "The link may be incomplete, or belong to another office.",
            };
            view! {
                <Empty title=format!("This {what} does not exist.")>
                    <p>{why}</p>
                    <p><a class="button" href=page>{label}</a></p>
                </Empty>
            }
            .into_any()
        }
    };
    let stale = move || match face.state.get() {
        State::Stale { why, since } => Some(view! {
            <div class="stale" role="status">
                <span>{why.message()}" Showing data from "{clock::time_in_zone(since)}"."</span>
                <Retrying pulse />
                <button type="button" class="button button-quiet" on:click=on(move |_| pulse.refresh())>"Retry now"</button>
            </div>
        }),
        _ => None,
    };
    view! {
        <Show when=move || face.known.get() fallback=screen>
            {part(stale)}
            {children.with_value(|children| children())}
        </Show>
    }
}

/// Shows when the next attempt is made. Not for screen readers: they would hear every second.
#[component]
fn Retrying(pulse: Pulse) -> impl IntoView {
    view! {
        <span class="muted" aria-hidden="true">{part(move || pulse.retrying())}</span>
        <span class="sr-only">"The page retries automatically."</span>
    }
}
