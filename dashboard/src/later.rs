//! Pages whose part of the program is loaded when they are needed.

mod split;

use crate::component::{Empty, Frame, Skeleton, toaster};
use crate::lazy::{Fetching, Load, Part, Parts, at_once};
use crate::reactive::prelude::*;
use dashboard_model::route::PageKey;
use domain::time::Timestamp;
use std::time::Duration;

/// Parts come faster than this as a rule; grey rows for a moment would only flicker.
const SHOW_LOADING_AFTER: Duration = Duration::from_millis(200);

/// Fetches the code of a part.
pub fn fetch(part: Part) -> Fetching {
    Box::pin(async move {
        match part {
            Part::Work => {
                split::load_work().await.is_ok()
                    && split::load_help().await.is_ok()
                    && split::load_warning().await.is_ok()
            }
            Part::Policy => split::load_policy().await.is_ok(),
            Part::SignIn => split::load_sign_in().await.is_ok(),
        }
    })
}

/// Shows a page as soon as its part is there.
#[component]
pub fn LaterPage(
    /// The page.
    page: PageKey,
    /// The part that the page is in.
    in_part: Part,
) -> impl IntoView {
    let parts: Parts = expect_context();
    let state = parts.state(in_part);
    parts.load(in_part);
    let is_slow = RwSignal::new(false);
    set_timeout(
        move || {
            is_slow.try_set(true);
        },
        SHOW_LOADING_AFTER,
    );
    let title = title(&page);
    part(move || match state.get() {
        Load::Ready => render(page.clone(), in_part).unwrap_or_else(|| not_loaded(in_part, title)),
        Load::Failed => not_loaded(in_part, title),
        Load::Absent | Load::Loading => {
            let rows = part(move || is_slow.get().then(|| view! { <Skeleton rows=6 /> }));
            framed(in_part, title, rows)
        }
    })
}

/// Shows the help, once it has been opened and its part is there.
#[component]
pub fn LaterHelp(open: RwSignal<bool>, #[prop(into)] page: Signal<PageKey>) -> impl IntoView {
    let toaster = toaster();
    let failed = move || {
        open.set(false);
        toaster.error("The keyboard shortcuts could not be loaded. Reload the page, then try again.");
    };
    later(open, failed, move || at_once(Box::pin(split::help(open, page)).as_mut())?.ok())
}

/// Warns that the session is about to end, once it is and the warning's part is there.
#[component]
pub fn LaterWarning(open: RwSignal<bool>, ends_at: RwSignal<Timestamp>) -> impl IntoView {
    let toaster = toaster();
    let failed =
        move || toaster.error("There was no input for a while. You will be signed out soon: press a key to stay.");
    later(open, failed, move || at_once(Box::pin(split::warning(open, ends_at)).as_mut())?.ok())
}

/// Shows a dialog of the part *work*, once it has been opened and the part is there. Calls `failed` if it cannot be.
fn later(
    open: RwSignal<bool>,
    failed: impl Fn() + Send + Sync + 'static,
    show: impl Fn() -> Option<AnyView> + Send + 'static,
) -> AnyView {
    let parts: Parts = expect_context();
    let state = parts.state(Part::Work);
    let has_opened = RwSignal::new(false);
    Effect::new(move || {
        if open.get() {
            parts.load(Part::Work);
            has_opened.set(true);
        }
    });
    // Not the same effect: what has failed is tried again when somebody opens it, and not by itself.
    Effect::new(move || {
        if state.get() == Load::Failed && open.get_untracked() {
            failed();
        }
    });
    part(move || if has_opened.get() && state.get() == Load::Ready { show() } else { None })
}

/// Renders a page of a part. Returns `None` if the part is not [`Load::Ready`].
///
/// The call is made here and not awaited: the view must be made under the reactive owner of its caller.
fn render(page: PageKey, part: Part) -> Option<AnyView> {
    let view = match part {
        Part::Work => at_once(Box::pin(split::work(page)).as_mut()),
        Part::Policy => at_once(Box::pin(split::policy()).as_mut()),
        Part::SignIn => at_once(Box::pin(split::sign_in(page)).as_mut()),
    };
    view?.ok()
}

fn title(page: &PageKey) -> &'static str {
    match page {
        PageKey::Group(_) => "Group",
        PageKey::Replays => "Replays",
        PageKey::Replay(_) => "Replay",
        PageKey::Policy => "Policy",
        _ => "Sign in",
    }
}

/// People who are not signed in see no frame.
fn framed(in_part: Part, title: &'static str, content: AnyView) -> AnyView {
    match in_part {
        Part::Work | Part::Policy => view! { <Frame title>{content}</Frame> }.into_any(),
        Part::SignIn => view! { <div class="door">{content}</div> }.into_any(),
    }
}

/// Offers to load the whole program again: after a new version the office no longer has the parts of the old one.
fn not_loaded(in_part: Part, title: &'static str) -> AnyView {
    // No `Button`, which is in the other parts.
    let reload = move |_| {
        // A page that cannot reload itself still has the browser's button.
        let _ = window().location().reload();
    };
    let content = view! {
        <div role="alert">
            <Empty title="This page could not be loaded.">
                <p>"The office may run a newer version than this tab, or cannot be reached. Reload to get the page."</p>
                <p><button type="button" class="button button-primary" on:click=on(reload)>"Reload"</button></p>
            </Empty>
        </div>
    };
    framed(in_part, title, content.into_any())
}
