//! How fresh a page's main value is, in the words of the badge.

use super::State;
use crate::clock;
use crate::reactive::prelude::*;
use domain::time::Timestamp;

/// After this long without an answer a value is no longer called live.
const LIVE_MS: i64 = 5_000;

/// After this long it is called offline.
const OFFLINE_MS: i64 = 30_000;

/// The freshness of a live value, whatever its type.
#[derive(Clone, Copy)]
pub struct Pulse {
    state: RwSignal<State>,
    last: RwSignal<Option<Timestamp>>,
    paused: RwSignal<bool>,
    refresh: StoredValue<Option<Callback<()>>>,
}

/// What the badge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Not known yet.
    Connecting,
    /// As the office has it; last confirmed then.
    Live(Timestamp),
    /// Paused by hand; from then.
    Paused(Timestamp),
    /// No answer for some seconds; from then.
    Reconnecting(Timestamp),
    /// No answer for longer, or never; from then.
    Offline(Option<Timestamp>),
    /// Nobody is signed in.
    SignedOut,
    /// There is nothing here that could be fresh: it is not there, or not for this person.
    Nothing,
}

impl Pulse {
    pub(super) fn new(state: RwSignal<State>) -> Self {
        Self { state, last: RwSignal::new(None), paused: RwSignal::new(false), refresh: StoredValue::new(None) }
    }

    pub(super) fn on_refresh(self, refresh: impl Fn() + 'static) {
        let refresh = StoredValue::new(refresh);
        self.refresh.set_value(Some(Callback::new(move |()| refresh.with_value(|refresh| refresh()))));
    }

    pub(super) fn beat(self) {
        self.last.try_set(Some(clock::now()));
    }

    pub(super) fn last(self) -> Option<Timestamp> {
        self.last.try_get_untracked().flatten()
    }

    /// When it was last confirmed. Tracked: runs its reader again with each answer, new or not.
    pub fn beats(self) -> Option<Timestamp> {
        self.last.get()
    }

    /// Whether a person has paused it.
    pub fn paused(self) -> RwSignal<bool> {
        self.paused
    }

    /// Asks now.
    pub fn refresh(self) {
        if let Some(refresh) = self.refresh.get_value() {
            refresh.run(());
        }
    }

    /// What the badge says now. Tracked, with the clock.
    pub fn reading(self) -> Reading {
        let last = self.last.get();
        match (self.state.get(), last) {
            (State::SignedOut, _) => Reading::SignedOut,
            (State::Forbidden(_) | State::Gone(_), _) => Reading::Nothing,
            (_, Some(last)) if self.paused.get() => Reading::Paused(last),
            (State::Stale { since, .. }, _) => late(since, clock::ticking()),
            (State::Failed(_), last) => Reading::Offline(last),
            (_, Some(last)) => Reading::Live(last),
            (_, None) => Reading::Connecting,
        }
    }

    /// Why nothing can be changed now: what is shown may be long gone. Tracked.
    pub fn why_not_write(self) -> Option<String> {
        match self.reading() {
            Reading::Offline(_) => Some("The office does not answer; nothing can be changed now.".to_string()),
            Reading::SignedOut => Some("You are signed out.".to_string()),
            _ => None,
        }
    }
}

fn late(since: Timestamp, now: Timestamp) -> Reading {
    match now.since(since).as_ms() {
        ms if ms < LIVE_MS => Reading::Live(since),
        ms if ms < OFFLINE_MS => Reading::Reconnecting(since),
        _ => Reading::Offline(Some(since)),
    }
}
