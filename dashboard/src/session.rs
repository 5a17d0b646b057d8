//! Who is signed in: one identity per tab (`sessionStorage`), so that a person can be operator in one tab and
//! approver in the next. Survives a reload, ends with the tab.

use crate::api::json;
use crate::reactive::prelude::*;
use dashboard_model::words;
use domain::role::Permission;
use wire::{Me, Session};

const TOKEN: &str = "dlo.token";
const ME: &str = "dlo.me";
/// What a sign-in at an issuer has to remember until the person comes back to this tab.
const PENDING: &str = "dlo.pending";

/// Whether somebody is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedIn {
    /// As this person.
    As(Box<Me>),
    /// Nobody yet in this tab.
    No,
    /// The office no longer takes this tab's session.
    Ended,
}

/// The session of this tab.
#[derive(Clone, Copy)]
pub struct Tab(RwSignal<SignedIn>);

impl Tab {
    /// Reads it and provides it to everything below.
    pub fn provide() -> Self {
        let me = token().and_then(|_| stored(ME)).and_then(|text| json::read(&text).ok());
        let tab = Self(RwSignal::new(me.map_or(SignedIn::No, |me| SignedIn::As(Box::new(me)))));
        provide_context(tab);
        tab
    }

    /// Whether somebody is signed in. Tracked.
    pub fn state(self) -> SignedIn {
        self.0.get()
    }

    /// Who is signed in. Tracked.
    pub fn me(self) -> Option<Me> {
        match self.0.get() {
            SignedIn::As(me) => Some(*me),
            SignedIn::No | SignedIn::Ended => None,
        }
    }

    /// Why the person here may not do something; none if they may. Tracked.
    pub fn why_not(self, permission: Permission) -> Option<String> {
        match self.me() {
            Some(me) => words::why_not(me.role, permission),
            None => Some("You are signed out.".to_string()),
        }
    }

    /// Somebody signed in.
    pub fn enter(self, session: &Session) {
        store(TOKEN, Some(&session.token));
        store(ME, serde_json::to_string(&session.me).ok().as_deref());
        self.0.set(SignedIn::As(Box::new(session.me.clone())));
    }

    /// Nobody is signed in any more: they asked for it, or (`ended`) the office says so.
    pub fn leave(self, ended: bool) {
        store(TOKEN, None);
        store(ME, None);
        let next = if ended { SignedIn::Ended } else { SignedIn::No };
        if self.0.get_untracked() != next {
            self.0.set(next);
        }
    }
}

/// The session of this tab.
pub fn tab() -> Tab {
    expect_context()
}

/// The token of this tab, for the header of each request.
pub fn token() -> Option<String> {
    stored(TOKEN)
}

/// Remembers a sign-in that is under way.
pub fn keep_pending(text: &str) {
    store(PENDING, Some(text));
}

/// Takes what was remembered: a second use finds nothing.
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
        // A storage that is full or forbidden ends the session with the page; nothing better can be done.
        let _ = match value {
            Some(value) => storage.set_item(name, value),
            None => storage.remove_item(name),
        };
    }
}
