//! Toasts: short messages at the edge of the page, announced to screen readers. There is at most one: a newer message
//! takes the place of an older one.

use crate::component::{Glyph, Icon};
use crate::nav::{Nav, nav};
use crate::reactive::prelude::*;
use dashboard_model::route::PageKey;
use std::time::Duration;

/// Long enough to read the message twice.
const VISIBLE_FOR: Duration = Duration::from_secs(6);
/// How often a message that somebody points at tries to go.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A message that somebody points at, or whose button has the focus.
const HELD: &str = ".toast:is(:hover, :focus-within)";

#[derive(Clone, PartialEq, Eq)]
struct Toast {
    id: u64,
    text: String,
    is_error: bool,
    /// The page that it belongs to.
    page: PageKey,
}

/// The toast.
#[derive(Clone, Copy)]
pub struct Toaster {
    toast: RwSignal<Option<Toast>>,
    last: StoredValue<u64>,
    nav: Nav,
}

impl Toaster {
    /// Provides itself to all components below.
    pub fn provide() {
        provide_context(Self { toast: RwSignal::new(None), last: StoredValue::new(0), nav: nav() });
    }

    /// Shows a message that disappears by itself, and with its page.
    pub fn show(self, text: impl Into<String>) {
        let id = self.put(text.into(), false);
        set_timeout(move || self.expire(id), VISIBLE_FOR);
    }

    /// Shows an error that stays until it is dismissed, or its page is left.
    pub fn error(self, text: impl Into<String>) {
        self.put(text.into(), true);
    }

    /// Drops a message whose time is over, unless somebody points at it or has the focus in it: then later.
    fn expire(self, id: u64) {
        if self.toast.with_untracked(|toast| toast.as_ref().is_none_or(|toast| toast.id != id)) {
            return;
        }
        match document().query_selector(HELD) {
            Ok(Some(_)) => set_timeout(move || self.expire(id), RETRY_AFTER),
            _ => self.toast.set(None),
        }
    }

    fn put(self, text: String, is_error: bool) -> u64 {
        let id = self.last.get_value() + 1;
        self.last.set_value(id);
        let page = self.nav.route_untracked().page();
        self.toast.set(Some(Toast { id, text, is_error, page }));
        id
    }
}

/// Returns the toaster. Call it in a component's body: event handlers have no context.
pub fn toaster() -> Toaster {
    expect_context()
}

/// Shows the toast.
#[component]
pub fn Toasts() -> impl IntoView {
    let toaster = toaster();
    Effect::new(move || {
        let page = toaster.nav.route().page();
        if toaster.toast.with_untracked(|toast| toast.as_ref().is_some_and(|toast| toast.page != page)) {
            toaster.toast.set(None);
        }
    });
    let select = move |errors: bool| toaster.toast.get().filter(|toast| toast.is_error == errors);
    let shown = move |toast: Toast| {
        view! {
            <div class="toast" class:toast-error=toast.is_error>
                <span>{toast.text}</span>
                <button type="button" class="tool" aria-label="Dismiss" on:click=on(move |_| toaster.toast.set(None))>
                    <Icon glyph=Glyph::Close />
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <div class="toasts">
            <div role="status" aria-live="polite">{part(move || select(false).map(shown))}</div>
            <div role="alert">{part(move || select(true).map(shown))}</div>
        </div>
    }
}
