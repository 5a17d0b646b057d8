//! The session: one per tab (`sessionStorage`), so that a person can be operator in one tab and approver in another. It
//! survives a reload and ends with the tab. A new tab gets that of an open one (`boot.js`).

use crate::browser;
use crate::clock;
use crate::json;
use crate::reactive::prelude::*;
use crate::unsent;
use dashboard_model::{stay, words};
use domain::role::Permission;
use domain::time::{Span, Timestamp};
use wire::{MeAnswer, SessionAnswer};

const TOKEN: &str = "dlo.token";
const ME: &str = "dlo.me";
/// The key of the issuer's refresh token.
const REFRESH: &str = "dlo.refresh";
/// The key of the time at which the session is renewed, by this machine's clock, milliseconds.
const RENEW_AT: &str = "dlo.renew-at";
/// How long after a failed renewal the next one is tried.
const RETRY_AFTER: Span = Span::from_secs(10);
/// The key of a mark: the person has signed out in this tab, so that it does not take over another tab's session.
const LEFT: &str = "dlo.left";
/// The key of a sign-in that is in progress at an issuer.
const PENDING: &str = "dlo.pending";

/// The sign-in state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedIn {
    /// Signed in as this person.
    As(Box<MeAnswer>),
    /// Not signed in, or signed out by the person.
    No,
    /// The office ended the session.
    Ended,
    /// Signed out for lack of input; the time that a session may be idle.
    Idle(Option<Span>),
}

/// This tab's session.
#[derive(Clone, Copy)]
pub struct Tab(RwSignal<SignedIn>);

impl Tab {
    /// Reads the session and provides it to all components below.
    pub fn provide() -> Self {
        let me = token().and_then(|_| stored(ME)).and_then(|text| json::read::<MeAnswer>(&text).ok());
        // A tab that the browser had put aside may come back after a sign-out.
        let has_left = me.as_ref().is_some_and(|me| browser::has_left(me.name.as_str()));
        let me = me.filter(|_| !has_left);
        let tab = Self(RwSignal::new(me.map_or(SignedIn::No, |me| SignedIn::As(Box::new(me)))));
        if has_left {
            tab.leave(false);
        }
        provide_context(tab);
        tab
    }

    /// Returns the sign-in state. Tracked.
    pub fn state(self) -> SignedIn {
        self.0.get()
    }

    /// Returns the signed-in person. Tracked.
    pub fn me(self) -> Option<MeAnswer> {
        match self.0.get() {
            SignedIn::As(me) => Some(*me),
            SignedIn::No | SignedIn::Ended | SignedIn::Idle(_) => None,
        }
    }

    /// Returns the signed-in person. Not tracked.
    pub fn me_untracked(self) -> Option<MeAnswer> {
        self.0.with_untracked(|state| match state {
            SignedIn::As(me) => Some(MeAnswer::clone(me)),
            _ => None,
        })
    }

    /// Explains why the person may not do something. Returns `None` if they may. Tracked.
    pub fn why_not(self, permission: Permission) -> Option<String> {
        match self.me() {
            Some(me) => words::why_not(me.role, permission),
            None => Some("You are signed out.".to_string()),
        }
    }

    /// Starts a session.
    pub fn enter(self, session: &SessionAnswer) {
        let name = session.me.name.as_str();
        unsent::forget_unless(name);
        browser::enters(name);
        browser::used(clock::here());
        keep(session);
        self.0.set(SignedIn::As(Box::new(session.me.clone())));
    }

    /// Ends the session: by the person, or (`ended`) by the office. If the office ended it, the text in forms is kept.
    pub fn leave(self, ended: bool) {
        self.close(ended);
        self.clear();
    }

    /// Shows nothing of the office any more, like `leave`, but keeps the token, so that the office can be asked to end it.
    pub fn close(self, ended: bool) {
        // The office also ends a session that another tab with the same token has signed out of.
        let ended = ended && !self.has_left();
        match (ended, self.me_untracked()) {
            (true, Some(me)) => unsent::keep(me.name.as_str()),
            (true, None) => {}
            (false, _) => {
                unsent::forget_unless("");
                store(LEFT, Some("yes"));
            }
        }
        let next = if ended { SignedIn::Ended } else { SignedIn::No };
        // A person who was signed out for lack of input reads that, and not that requests fail since.
        let is_idle = self.0.with_untracked(|state| matches!(state, SignedIn::Idle(_)));
        if self.0.get_untracked() != next && !(ended && is_idle) {
            self.0.set(next);
        }
    }

    /// Hides everything because the person makes no input, and keeps the text in forms. The session still exists.
    pub fn hide(self) {
        if let Some(me) = self.me_untracked() {
            unsent::keep(me.name.as_str());
            self.0.set(SignedIn::Idle(me.idle_ms));
        }
    }

    /// Returns whether the signed-in person has signed out in another tab. Not tracked.
    pub fn has_left(self) -> bool {
        self.me_untracked().is_some_and(|me| browser::has_left(me.name.as_str()))
    }

    /// Removes the session from the tab's storage.
    pub fn clear(self) {
        for key in [TOKEN, ME, REFRESH, RENEW_AT] {
            store(key, None);
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

/// Returns the issuer's refresh token.
pub fn refresh_token() -> Option<String> {
    stored(REFRESH)
}

/// Stores a session.
pub fn keep(session: &SessionAnswer) {
    store(LEFT, None);
    store(TOKEN, Some(&session.token));
    store(ME, serde_json::to_string(&session.me).ok().as_deref());
    store(REFRESH, session.refresh.as_deref());
    set_renewal(stay::renew_at(clock::here(), session.lasts_ms));
}

/// Returns whether the token expires soon and can be renewed.
pub fn is_renewal_due() -> bool {
    let renew_at = stored(RENEW_AT).and_then(|text| text.parse().ok()).map(Timestamp::from_ms);
    refresh_token().is_some() && renew_at.is_some_and(|at| at <= clock::here())
}

/// Makes the renewal due.
pub fn renew_now() {
    set_renewal(clock::here());
}

/// Tries the next renewal a little later.
pub fn postpone_renewal() {
    set_renewal(clock::here().plus(RETRY_AFTER));
}

/// Removes a refresh token that the issuer no longer accepts. The session ends with its token.
pub fn forget_refresh_token() {
    store(REFRESH, None);
}

fn set_renewal(at: Timestamp) {
    store(RENEW_AT, Some(&at.as_ms().to_string()));
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
