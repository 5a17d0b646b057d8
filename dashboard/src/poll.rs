//! Live values: polled while the page is visible, with their freshness.

mod engine;
mod pulse;
mod state;

pub use pulse::{Pulse, Reading};
pub use state::State;

use crate::api::{Answer, ApiError, Seen};
use crate::reactive::prelude::*;
use crate::session;
use engine::{Engine, Fetch, Fetched};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use wire::ErrorCode;

/// The polling pace of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every 2 s, while something is in progress.
    Busy,
    /// Every 10 s.
    Calm,
    /// Every 30 s, for what is shown on every page.
    Slow,
    /// Never again: the value is final.
    Done,
}

impl Pace {
    fn period(self) -> Option<Duration> {
        match self {
            Self::Busy => Some(Duration::from_secs(2)),
            Self::Calm => Some(Duration::from_secs(10)),
            Self::Slow => Some(Duration::from_secs(30)),
            Self::Done => None,
        }
    }
}

/// The result of an API call.
type CallResult<T> = Result<Answer<T>, ApiError>;
/// Returns the value's pace, or `None` while there is no value.
type Pacer = Box<dyn Fn() -> Option<Pace>>;

/// A live value without its type, for components that show any value.
#[derive(Clone, Copy)]
pub struct Face {
    /// The state.
    pub state: RwSignal<State>,
    /// Whether there is a value.
    pub known: Memo<bool>,
    /// The freshness.
    pub pulse: Pulse,
}

/// A live value: the latest response of a call that is repeated.
pub struct Live<T: Send + Sync + 'static> {
    data: RwSignal<Option<T>>,
    state: RwSignal<State>,
    pulse: Pulse,
    engine: StoredValue<Rc<Engine>>,
}

impl<T: Send + Sync + 'static> Clone for Live<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Live<T> {}

impl<T: Clone + PartialEq + Send + Sync + 'static> Live<T> {
    /// Fetches at once, then at the pace of each value, until the calling component is removed.
    pub fn new<F>(call: impl Fn(Seen) -> F + 'static, pace: impl Fn(&T) -> Pace + 'static) -> Self
    where
        F: Future<Output = CallResult<T>> + 'static,
    {
        Self::over(RwSignal::new(None), call, pace)
    }

    /// Like [`Live::new`], with a value to show until the first response. The call may read it: it is in `data`.
    pub fn over<F>(
        data: RwSignal<Option<T>>,
        call: impl Fn(Seen) -> F + 'static,
        pace: impl Fn(&T) -> Pace + 'static,
    ) -> Self
    where
        F: Future<Output = CallResult<T>> + 'static,
    {
        let fetch = move |seen| erase(data, Box::pin(call(seen)));
        let pace = move || data.try_with_untracked(|data| data.as_ref().map(&pace)).flatten();
        let (state, pulse, engine) = begin(Box::new(fetch), Box::new(pace));
        Self { data, state, pulse, engine }
    }

    /// Returns the value's state and freshness without its type.
    pub fn face(self) -> Face {
        let data = self.data;
        Face { state: self.state, known: data.map(Option::is_some), pulse: self.pulse }
    }

    /// Returns the value. Tracked.
    pub fn get(self) -> Option<T> {
        self.data.get()
    }

    /// Returns the value as a signal.
    pub fn data(self) -> Signal<Option<T>> {
        self.data.into()
    }

    /// Returns a part of the value. Readers run again only when that part changes.
    pub fn part<U: Clone + PartialEq + Send + Sync + 'static>(
        self,
        select: impl Fn(&T) -> U + Send + Sync + 'static,
    ) -> Memo<Option<U>> {
        self.data.map(move |data| data.as_ref().map(&select))
    }

    /// Returns the state. Tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// Returns the freshness, for the badge at the top of the page.
    pub fn pulse(self) -> Pulse {
        self.pulse
    }

    /// Fetches now.
    pub fn refresh(self) {
        self.engine.try_with_value(|engine| engine.now());
    }

    /// Sets the value to the response of a command. A response to an older fetch is dropped, and the value is fetched more
    /// often for a while.
    pub fn put(self, value: T) {
        self.data.try_set(Some(value));
        self.state.try_set(State::Fresh);
        self.pulse.beat();
        self.engine.try_with_value(|engine| engine.acted());
    }

    /// Fetches now, and more often for a while, because the reader changed something that this value shows.
    pub fn hurry(self) {
        self.engine.try_with_value(|engine| engine.acted());
        self.refresh();
    }
}

/// Erases a call's type. Compiled once per type of value, not once per page.
fn erase<T>(
    data: RwSignal<Option<T>>,
    call: Pin<Box<dyn Future<Output = CallResult<T>>>>,
) -> Pin<Box<dyn Future<Output = Fetched>>>
where
    T: PartialEq + Send + Sync + 'static,
{
    let apply = move |value: T| {
        if data.try_with_untracked(|data| data.as_ref() != Some(&value)) == Some(true) {
            data.try_set(Some(value));
        }
    };
    Box::pin(async move {
        let new = call.await?.into_new();
        Ok(new.map(|value| Box::new(move || apply(value)) as Box<dyn FnOnce()>))
    })
}

type Parts = (RwSignal<State>, Pulse, StoredValue<Rc<Engine>>);

/// Starts polling. Compiled once for all types of values.
fn begin(fetch: Fetch, pace: Pacer) -> Parts {
    let state = RwSignal::new(if pace().is_some() { State::Fresh } else { State::Quiet });
    let pulse = Pulse::new(state);
    let tab = session::tab();
    let settle = move |result: Fetched| {
        let failed = result.is_err();
        settle(&pace, state, pulse, tab, result);
        (failed, pace().unwrap_or(Pace::Calm).period())
    };
    let engine = StoredValue::new(Engine::start(fetch, Box::new(settle), pulse));
    pulse.on_refresh(move || {
        engine.try_with_value(|engine| engine.now());
    });
    show_loading_later(state);
    (state, pulse, engine)
}

fn settle(pace: &Pacer, state: RwSignal<State>, pulse: Pulse, tab: session::Tab, result: Fetched) {
    let next = match result {
        Ok(new) => {
            if let Some(apply) = new {
                apply();
            }
            pulse.beat();
            State::Fresh
        }
        Err(why) if why.is_signed_out() => {
            tab.leave(true);
            State::SignedOut
        }
        Err(why) if why.code() == Some(ErrorCode::Forbidden) => State::Forbidden(why),
        Err(why) if why.code() == Some(ErrorCode::NotFound) => State::Gone,
        Err(why) => match (pace(), pulse.last()) {
            (Some(_), Some(since)) => State::Stale { since, why },
            _ => State::Failed(why),
        },
    };
    if state.try_with_untracked(|state| *state != next).unwrap_or(false) {
        state.try_set(next);
    }
}

/// Shows the loading state only after 200 ms, so that a quick response does not flicker.
fn show_loading_later(state: RwSignal<State>) {
    let show = move || {
        if state.try_get_untracked() == Some(State::Quiet) {
            state.try_set(State::Loading);
        }
    };
    set_timeout(show, Duration::from_millis(200));
}
