//! The polling loop of a live value: one request at a time, none while hidden or paused, and back-off on errors.

use super::pulse::Pulse;
use crate::api::{ApiError, Seen};
use crate::clock;
use crate::reactive::prelude::*;
use domain::time::{Span, Timestamp};
use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::task::spawn_local;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::time::Duration;

/// The interval right after the reader changed something.
const ACTED_PERIOD: Duration = Duration::from_secs(1);
/// How long that interval applies.
const ACTED_FOR_MS: f64 = 15_000.0;

/// The longest wait between two attempts on errors.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// The result of a fetch without its type: applies a new value, or `None` if nothing changed.
pub(super) type Fetched = Result<Option<Box<dyn FnOnce()>>, ApiError>;
/// Fetches the value.
pub(super) type Fetch = Box<dyn Fn(Seen) -> Pin<Box<dyn Future<Output = Fetched>>>>;
/// Applies a result. Returns whether it was an error, and the interval from now on.
type Settle = Box<dyn Fn(Fetched) -> (bool, Option<Duration>)>;

/// The polling loop.
pub(super) struct Engine {
    fetch: Fetch,
    settle: Settle,
    seen: Seen,
    me: Weak<Self>,
    paused: RwSignal<bool>,
    retry_at: RwSignal<Option<Timestamp>>,
    alive: Cell<bool>,
    fetching: Cell<bool>,
    /// Whether to fetch again right after the current request.
    again: Cell<bool>,
    /// Incremented when the reader changes something: responses to older requests are dropped.
    generation: Cell<u64>,
    failures: Cell<u32>,
    period: Cell<Option<Duration>>,
    acted_at: Cell<Option<f64>>,
    timer: RefCell<Option<TimeoutHandle>>,
}

impl Engine {
    pub(super) fn start(fetch: Fetch, settle: Settle, pulse: Pulse) -> Rc<Self> {
        let engine = Rc::new_cyclic(|me| Self {
            fetch,
            settle,
            seen: Seen::default(),
            me: me.clone(),
            paused: pulse.paused(),
            retry_at: pulse.retry_at(),
            alive: Cell::new(true),
            fetching: Cell::new(false),
            again: Cell::new(false),
            generation: Cell::new(0),
            failures: Cell::new(0),
            period: Cell::new(Some(Duration::from_secs(10))),
            acted_at: Cell::new(None),
            timer: RefCell::new(None),
        });
        engine.follow_visibility();
        engine.now();
        engine
    }

    /// Continues when the page becomes visible or updates are resumed. Ends with the component.
    fn follow_visibility(&self) {
        let me = StoredValue::new(self.me.clone());
        let resume = move || {
            if let Some(engine) = me.try_with_value(Weak::upgrade).flatten() {
                engine.now();
            }
        };
        let visible = window_event_listener_untyped("visibilitychange", move |_| {
            if !document().hidden() {
                resume();
            }
        });
        let online = window_event_listener(ev::online, move |_| resume());
        let paused = self.paused;
        Effect::new(move |before: Option<bool>| {
            let is = paused.get();
            if before == Some(true) && !is {
                resume();
            }
            is
        });
        let me = StoredValue::new(self.me.clone());
        on_cleanup(move || {
            visible.remove();
            online.remove();
            if let Some(engine) = me.try_with_value(Weak::upgrade).flatten() {
                engine.end();
            }
        });
    }

    fn end(&self) {
        self.alive.set(false);
        if let Some(timer) = self.timer.take() {
            timer.clear();
        }
    }

    /// Marks that the reader changed something: a response on its way is out of date.
    pub(super) fn acted(&self) {
        self.generation.set(self.generation.get() + 1);
        self.seen.forget();
        self.acted_at.set(Some(js_sys::Date::now()));
        self.schedule();
    }

    /// Fetches now, or right after the current request.
    pub(super) fn now(&self) {
        if !self.alive.get() {
            return;
        }
        if self.fetching.replace(true) {
            self.again.set(true);
            return;
        }
        let Some(engine) = self.me.upgrade() else { return };
        let generation = self.generation.get();
        spawn_local(async move {
            let result = (engine.fetch)(engine.seen.clone()).await;
            engine.fetching.set(false);
            if !engine.alive.get() {
                return;
            }
            if engine.generation.get() == generation {
                let (failed, period) = (engine.settle)(result);
                engine.failures.set(if failed { engine.failures.get() + 1 } else { 0 });
                engine.period.set(period);
            } else {
                // The stored `ETag` belongs to the dropped response.
                engine.seen.forget();
                engine.again.set(true);
            }
            if engine.again.replace(false) { engine.now() } else { engine.schedule() }
        });
    }

    fn schedule(&self) {
        if let Some(timer) = self.timer.take() {
            timer.clear();
        }
        let Some(wait) = self.wait() else { return };
        let is_retry = self.failures.get() > 0;
        self.retry_at.try_set(is_retry.then(|| clock::now().plus(Span::from_ms(wait.as_millis() as i64))));
        let me = self.me.clone();
        let due = move || {
            let Some(engine) = me.upgrade() else { return };
            let paused = engine.paused.try_get_untracked().unwrap_or(true);
            if !paused && !document().hidden() {
                engine.now();
            }
        };
        self.timer.replace(set_timeout_with_handle(due, wait).ok());
    }

    fn wait(&self) -> Option<Duration> {
        let acted = self.acted_at.get().is_some_and(|at| js_sys::Date::now() - at < ACTED_FOR_MS);
        let failures = self.failures.get();
        if failures > 0 {
            return Some(RETRY_MAX.min(Duration::from_secs(1 << failures.min(5))));
        }
        let period = self.period.get();
        if acted { Some(period.map_or(ACTED_PERIOD, |period| period.min(ACTED_PERIOD))) } else { period }
    }
}
