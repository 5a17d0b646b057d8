//! The dashboard: what a person sees of the office, in the browser.
//!
//! [`dashboard_model`] computes, [`api`] asks, [`poll`] keeps answers fresh, [`component`] shows parts, [`page`] puts them
//! together, written with [`reactive`]. [`dashboard_model::route`] is the URL as a value; the URL is all the state that a person would
//! share.

pub mod api;
pub mod app;
pub mod ask;
pub mod clock;
pub mod component;
pub mod issuer;
pub mod keys;
pub mod nav;
pub mod page;
pub mod poll;
pub mod prefs;
pub mod reactive;
pub mod session;

/// Mounts the dashboard into the document's body.
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
