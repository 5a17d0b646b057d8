//! Navigation by the History API, including ordinary links inside the dashboard.

use crate::reactive::prelude::*;
use dashboard_model::route::Route;
use leptos::ev;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, MouseEvent};

/// The current route.
#[derive(Clone, Copy)]
pub struct Nav(RwSignal<Route>);

impl Nav {
    /// Reads the URL, follows links and the browser's buttons, and provides itself to all components below.
    pub fn provide() -> Self {
        let nav = Self(RwSignal::new(current()));
        let back = window_event_listener(ev::popstate, move |_| nav.0.set(current()));
        let click = window_event_listener(ev::click, move |event| nav.follow(&event));
        on_cleanup(move || {
            back.remove();
            click.remove();
        });
        provide_context(nav);
        nav
    }

    /// Returns the current route. Tracked.
    pub fn route(self) -> Route {
        self.0.get()
    }

    /// Returns the current route. Not tracked.
    pub fn route_untracked(self) -> Route {
        self.0.get_untracked()
    }

    /// Navigates to a route and adds it to the history.
    pub fn go(self, route: Route) {
        if let Ok(history) = window().history()
            && history.push_state_with_url(&JsValue::NULL, "", Some(&route.to_string())).is_ok()
        {
            self.0.set(route);
        }
    }

    /// Navigates to a route and replaces the current history entry, for changes within a page.
    pub fn replace(self, route: Route) {
        if let Ok(history) = window().history()
            && history.replace_state_with_url(&JsValue::NULL, "", Some(&route.to_string())).is_ok()
        {
            self.0.set(route);
        }
    }

    /// Handles clicks on the dashboard's own links without a page load. The browser handles all others.
    fn follow(self, event: &MouseEvent) {
        let modified = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if event.default_prevented() || event.button() != 0 || modified {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(link) = target.and_then(|element| element.closest("a[href]").ok().flatten()) else { return };
        let href = link.get_attribute("href").unwrap_or_default();
        // The dashboard's own links start with a single slash. Other hosts, the skip link and the API do not count.
        let ours = href.starts_with('/') && !href.starts_with("//") && !href.starts_with("/api/");
        if !ours || link.has_attribute("download") || link.has_attribute("target") {
            return;
        }
        let (path, query) = href.split_once('?').unwrap_or((&href, ""));
        event.prevent_default();
        self.go(Route::parse(path, query));
    }
}

/// Returns the navigation context.
pub fn nav() -> Nav {
    expect_context()
}

/// Sets the title of the browser tab. What waits for the reader comes first, because tabs are narrow.
pub fn set_title(title: &str, due: u64) {
    document().set_title(&dashboard_model::route::tab_title(title, due));
}

/// Removes query and fragment from the URL and returns them, so that a code stays neither in the history nor on the
/// screen.
pub fn take_codes() -> (String, Option<String>) {
    let location = window().location();
    let query = location.search().unwrap_or_default();
    let fragment = location.hash().unwrap_or_default().trim_start_matches('#').to_string();
    if let (Ok(path), Ok(history)) = (location.pathname(), window().history()) {
        // If this fails, the URL keeps a code that is already used up.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&path));
    }
    (query, Some(fragment).filter(|fragment| !fragment.is_empty()))
}

fn current() -> Route {
    let location = window().location();
    Route::parse(&location.pathname().unwrap_or_default(), &location.search().unwrap_or_default())
}
