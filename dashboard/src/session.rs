//! The session: one per tab (`sessionStorage`), so that a person can be operator in one tab and approver in another. It
//! survives a reload and ends with the tab.

use crate::json;
use crate::reactive::prelude::*;
use dashboard_model::words;
use domain::role::Permission;
use wire::{Me, Session};

const TOKEN: &str = "dlo.token";
const ME: &str = "dlo.me";
/// The key of a sign-in that is in progress at an issuer.
const PENDING: &str = "dlo.pending";

/// The sign-in state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedIn {
    /// Signed in as this person.
    As(Box<Me>),
    /// Not signed in, or signed out by the person.
    No,
    /// The office ended the session.
    Ended,
}

/// This tab's session.
#[derive(Clone, Copy)]
pub struct Tab(RwSignal<SignedIn>);

impl Tab {
    /// Reads the session and provides it to all components below.
    pub fn provide() -> Self {
        let me = token().and_then(|_| stored(ME)).and_then(|text| json::read(&text).ok());
        let tab = Self(RwSignal::new(me.map_or(SignedIn::No, |me| SignedIn::As(Box::new(me)))));
        provide_context(tab);
        tab
    }

    /// Returns the sign-in state. Tracked.
    pub fn state(self) -> SignedIn {
        self.0.get()
    }

    /// Returns the signed-in person. Tracked.
    pub fn me(self) -> Option<Me> {
        match self.0.get() {
            SignedIn::As(me) => Some(*me),
            SignedIn::No | SignedIn::Ended => None,
        }
    }

    /// Explains why the person may not do something. Returns `None` if they may. Tracked.
    pub fn why_not(self, permission: Permission) -> Option<String> {
        match self.me() {
            Some(me) => words::why_not(me.role, permission),
            None => Some("You are signed out.".to_string()),
        }
    }

    /// Starts a session.
    pub fn enter(self, session: &Session) {
        store(TOKEN, Some(&session.token));
        store(ME, serde_json::to_string(&session.me).ok().as_deref());
        self.0.set(SignedIn::As(Box::new(session.me.clone())));
    }

    /// Ends the session: by the person, or (`ended`) by the office.
    pub fn leave(self, ended: bool) {
        store(TOKEN, None);
        store(ME, None);
        let next = if ended { SignedIn::Ended } else { SignedIn::No };
        if self.0.get_untracked() != next {
            self.0.set(next);
        }
    }
}

/// Returns this tab's session.
pub fn tab() -> Tab {
    expect_context()
}

/// Returns this tab's token, for the header of each request.
pub fn token() -> Option<String> {
    stored(TOKEN)
}

/// Stores a sign-in that is in progress.
pub fn keep_pending(text: &str) {
    store(PENDING, Some(text));
}

/// Removes and returns the stored sign-in, so that it cannot be used twice.
pub fn take_pending() -> Option<String> {
    let text = stored(PENDING);
    store(PENDING, None);
    text
}

fn stored(name: &str) -> Option<String> {
    window().session_storage().ok().flatten()?.get_item(name).ok().flatten()
}

fn store(name: &str, value: Option<&str>) {
    if let Ok(Some(storage)) = window().session_storage() {
        // If storage is full or blocked, the session ends with the page.
        let _ = match value {
            Some(value) => storage.set_item(name, value),
            None => storage.remove_item(name),
        };
    }
}
