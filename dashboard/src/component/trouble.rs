//! Nothing there, not yet there, not to be had: each is a screen of its own, never a blank page.

use crate::api::ApiError;
use crate::poll::{Face, Live, State};
use crate::reactive::prelude::*;

/// Nothing there: why, and the one way out.
#[component]
pub fn Empty(
    /// Why there is nothing.
    #[prop(into)]
    title: Signal<String>,
    /// What can be done about it.
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

/// Why something failed, with the id that the log has and the gate's conditions where those were the reason.
#[component]
pub fn Problem(
    /// What failed.
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
                .map(|id| view! { <p class="problem-id">"Request "<code>{id.to_string()}</code></p> }.into_any());
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

/// Grey rows while something loads.
#[component]
pub fn Skeleton(
    /// How many.
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

/// A live value's screens: the children once it is known (with a line above them while it is stale), and one screen
/// for each reason why it is not.
#[component]
pub fn Unless<T: Clone + PartialEq + Send + Sync + 'static>(
    /// The value.
    live: Live<T>,
    /// Grey rows while it loads.
    #[prop(default = 12)]
    rows: usize,
    children: ChildrenFn,
) -> impl IntoView {
    view! { <Screens face=live.face() rows children /> }
}

#[component]
fn Screens(face: Face, rows: usize, children: ChildrenFn) -> impl IntoView {
    let pulse = face.pulse;
    let children = StoredValue::new(children);
    let screen = move || match face.state.get() {
        State::Quiet | State::SignedOut => ().into_any(),
        State::Loading | State::Fresh | State::Stale { .. } => view! { <Skeleton rows /> }.into_any(),
        State::Failed(error) => view! {
            <Empty title="This could not be loaded.">
                <Problem error=Signal::stored(Some(error)) />
                <p><button type="button" class="button" on:click=on(move |_| pulse.refresh())>"Try again"</button></p>
                <p class="muted">"It is also tried again by itself."</p>
            </Empty>
        }
        .into_any(),
        State::Forbidden(error) => view! {
            <Empty title="You may not see this.">
                <p>{error.message()}</p>
                <p class="muted">"Sign out, and come in with another role."</p>
            </Empty>
        }
        .into_any(),
        State::Gone(error) => view! {
            <Empty title="There is no such thing, or no longer.">
                <p>{error.message()}</p>
                <p><a class="button" href="/groups">"All groups"</a></p>
            </Empty>
        }
        .into_any(),
    };
    let stale = move || match face.state.get() {
        State::Stale { why, .. } => Some(view! {
            <div class="stale" role="status">
                <span>{why.message()}" What you see is old."</span>
                <button type="button" class="button button-quiet" on:click=on(move |_| pulse.refresh())>"Try now"</button>
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
