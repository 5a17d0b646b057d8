//! The freshness of a live value, as the badge shows it.

use super::state::State;
use crate::clock;
use crate::reactive::prelude::*;
use dashboard_model::when;
use domain::time::Timestamp;

/// After this time without a response, a value is shown as offline.
const OFFLINE_MS: i64 = 30_000;

/// The freshness of a live value of any type.
#[derive(Clone, Copy)]
pub struct Pulse {
    state: RwSignal<State>,
    last: RwSignal<Option<Timestamp>>,
    paused: RwSignal<bool>,
    retry_at: RwSignal<Option<Timestamp>>,
    refresh: StoredValue<Option<Callback<()>>>,
}

/// The badge's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// No response yet.
    Connecting,
    /// Up to date, last confirmed at this time.
    Live(Timestamp),
    /// Updates paused by the reader; data from this time.
    Paused(Timestamp),
    /// The latest attempt failed; data from this time.
    Reconnecting(Timestamp),
    /// No response for longer, or ever; data from this time.
    Offline(Option<Timestamp>),
    /// The session has ended.
    SignedOut,
    /// There is no value: it does not exist, or the person may not see it.
    Nothing,
}

impl Pulse {
    pub(super) fn new(state: RwSignal<State>) -> Self {
        Self {
            state,
            last: RwSignal::new(None),
            paused: RwSignal::new(false),
            retry_at: RwSignal::new(None),
            refresh: StoredValue::new(None),
        }
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

    /// Returns the time of the last response. Tracked: readers run again after each response, changed or not.
    pub fn beats(self) -> Option<Timestamp> {
        self.last.get()
    }

    /// Returns whether the reader paused updates.
    pub fn paused(self) -> RwSignal<bool> {
        self.paused
    }

    /// When the next attempt is made after a failed one. The polling loop sets it.
    pub(super) fn retry_at(self) -> RwSignal<Option<Timestamp>> {
        self.retry_at
    }

    /// Says when the next attempt is made: `Retrying in 8 s.` Empty if the last one succeeded. Tracked, together with the clock.
    pub fn retrying(self) -> String {
        self.retry_at.get().map(|at| when::retrying(at, clock::ticking())).unwrap_or_default()
    }

    /// Fetches now.
    pub fn refresh(self) {
        if let Some(refresh) = self.refresh.get_value() {
            refresh.run(());
        }
    }

    /// Returns the badge's state. Tracked, together with the clock.
    pub fn reading(self) -> Reading {
        let last = self.last.get();
        match (self.state.get(), last) {
            (State::SignedOut, _) => Reading::SignedOut,
            (State::Forbidden(_) | State::Gone, _) => Reading::Nothing,
            (_, Some(last)) if self.paused.get() => Reading::Paused(last),
            (State::Stale { since, .. }, _) => late(since, clock::ticking()),
            (State::Failed(_), last) => Reading::Offline(last),
            (_, Some(last)) => Reading::Live(last),
            (_, None) => Reading::Connecting,
        }
    }

    /// Explains why changes are disabled: the shown data may be out of date. Returns `None` if they are enabled. Tracked.
    pub fn why_not_write(self) -> Option<String> {
        match self.reading() {
            Reading::Offline(_) => Some("The office is unreachable, so you cannot make changes now.".to_string()),
            Reading::SignedOut => Some("You are signed out.".to_string()),
            _ => None,
        }
    }
}

/// The page's banner says at once that an attempt failed, so the badge does, too.
fn late(since: Timestamp, now: Timestamp) -> Reading {
    if now.since(since).as_ms() < OFFLINE_MS { Reading::Reconnecting(since) } else { Reading::Offline(Some(since)) }
}
