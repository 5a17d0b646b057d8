//! The dashboard: the office's user interface in the browser.
//!
//! [`dashboard_model`] holds the logic, [`api`] calls the office, [`poll`] keeps values up to date, [`component`] renders
//! values, and [`page`] combines them. All of them use [`reactive`]. All state worth sharing is in the URL; see
//! [`dashboard_model::route`].

pub mod api;
pub mod app;
pub mod browser;
pub mod clock;
pub mod command;
pub mod component;
pub mod due;
pub mod issuer;
pub mod json;
pub mod keys;
pub mod later;
pub mod lazy;
pub mod leave;
pub mod nav;
pub mod page;
pub mod poll;
pub mod prefs;
pub mod reactive;
pub mod session;
pub mod unsent;

/// Mounts the dashboard in the document's body.
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
