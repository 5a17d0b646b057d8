//! The application: shared contexts, global keyboard shortcuts, and the current page.

use crate::clock::{self, Clock};
use crate::component::{HelpOpen, Rail, Toaster, Toasts};
use crate::due::{Due, DueWatch};
use crate::keys::{self, Keys, key};
use crate::later::{self, LaterHelp, LaterPage, LaterWarning};
use crate::lazy::{Load, Part, Parts};
use crate::nav::Nav;
use crate::page::{GroupsPage, IdleWatch, Memory, UnknownPage};
use crate::prefs::Prefs;
use crate::reactive::prelude::*;
use crate::session::{SignedIn, Tab};
use dashboard_model::replays::Show as Replays;
use dashboard_model::route::{PageKey, Route};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// The application.
#[component]
pub fn App() -> impl IntoView {
    let prefs = Prefs::provide();
    Clock::provide();
    let tab = Tab::provide();
    let nav = Nav::provide();
    Keys::provide();
    Toaster::provide();
    Memory::provide();
    Due::provide();
    let parts = Parts::provide(later::fetch);
    let help = RwSignal::new(false);
    provide_context(HelpOpen(help));
    let (idle, ends_at) = (RwSignal::new(false), RwSignal::new(clock::here()));
    bind_keys(prefs, nav, help);
    let page = Memo::new(move |_| nav.route().page());
    let inside = Memo::new(move |_| matches!(tab.state(), SignedIn::As(_)));
    let in_part = Memo::new(move |_| Part::for_page(&page.get(), inside.get()));
    let is_shown = Memo::new(move |_| {
        in_part.get().is_none_or(|part| !matches!(parts.state(part).get(), Load::Absent | Load::Loading))
    });
    focus_new_pages(page, is_shown);
    let memory: Memory = expect_context();
    Effect::new(move || {
        if !inside.get() {
            memory.clear();
        }
    });
    view! {
        <a class="skip" href="#main">"Skip to content"</a>
        <div class="shell">
            <Show when=move || inside.get()>
                <Rail />
                <IdleWatch open=idle ends_at />
                <LaterWarning open=idle ends_at />
                <DueWatch />
            </Show>
            <main id="main" tabindex="-1">
                {part(move || match (page.get(), in_part.get()) {
                    (page, Some(in_part)) => view! { <LaterPage page in_part /> }.into_any(),
                    (PageKey::Unknown(path), None) => view! { <UnknownPage path /> }.into_any(),
                    (_, None) => view! { <GroupsPage /> }.into_any(),
                })}
            </main>
        </div>
        <LaterHelp open=help page />
        <Toasts />
    }
}

fn bind_keys(prefs: Prefs, nav: Nav, help: RwSignal<bool>) {
    keys::bind(
        "Everywhere",
        vec![
            key("?", "Show keyboard shortcuts", move || help.set(true)),
            key("g g", "Go to groups", move || nav.go(Route::home())),
            key("g p", "Go to replays", move || nav.go(Route::Replays(Replays::All))),
            key("g r", "Go to the policy", move || nav.go(Route::Policy)),
            key("t", "Switch theme", move || prefs.toggle_theme()),
            key("d", "Row density", move || prefs.dense.update(|dense| *dense = !*dense)),
            key("u", "Switch local time and UTC", move || prefs.utc.update(|utc| *utc = !*utc)),
        ],
    );
}

/// Focuses the heading of each new page, as a page load would, unless the page has set the focus itself. A page whose part
/// of the program is still loading has no heading yet.
fn focus_new_pages(page: Memo<PageKey>, is_shown: Memo<bool>) {
    Effect::new(move |before: Option<(PageKey, bool)>| {
        let page = page.get();
        let is_new = before.is_some_and(|(before, waits)| waits || before != page);
        let waits = is_new && !is_shown.get();
        if is_new && !waits {
            request_animation_frame(|| {
                let focused = document().active_element().is_some_and(|element| element.tag_name() != "BODY");
                let heading = document().query_selector("main h1").ok().flatten();
                if let (false, Some(heading)) = (focused, heading.and_then(|h| h.dyn_into::<HtmlElement>().ok())) {
                    let _ = heading.focus();
                }
            });
        }
        (page, waits)
    });
}
