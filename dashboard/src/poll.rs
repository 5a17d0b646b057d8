//! Live values: asked for again and again while somebody looks, and honest about how old they are.

mod engine;
mod pulse;

pub use pulse::{Pulse, Reading};

use crate::api::{Answer, ApiError, Seen};
use crate::reactive::prelude::*;
use crate::session;
use domain::time::Timestamp;
use engine::Engine;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use wire::ErrorCode;

/// How often a value is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Something is under way: every 2 s.
    Busy,
    /// Every 10 s.
    Calm,
    /// It will not change any more.
    Done,
}

impl Pace {
    fn period(self) -> Option<Duration> {
        match self {
            Self::Busy => Some(Duration::from_secs(2)),
            Self::Calm => Some(Duration::from_secs(10)),
            Self::Done => None,
        }
    }
}

/// Where a live value is. The value itself stays while it is merely stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Asked for a moment ago: nothing to show yet, not even that it loads.
    Quiet,
    /// Asked for, and it takes a while.
    Loading,
    /// The value is as the office has it.
    Fresh,
    /// The value is old: the office does not answer.
    Stale {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: ApiError,
    },
    /// There is no value, and this is why.
    Failed(ApiError),
    /// The person may not see it.
    Forbidden(ApiError),
    /// There is no such thing, or no longer.
    Gone(ApiError),
    /// Nobody is signed in.
    SignedOut,
}

/// What a call gives.
type Told<T> = Result<Answer<T>, ApiError>;
/// What a call gives, without its type: how a new value is taken.
type Taking = Result<Option<Box<dyn FnOnce()>>, ApiError>;
type Asker = Box<dyn Fn(Seen) -> Pin<Box<dyn Future<Output = Taking>>>>;
/// The pace that the value asks for; none while there is no value.
type Pacer = Box<dyn Fn() -> Option<Pace>>;

/// A live value without its type.
#[derive(Clone, Copy)]
pub struct Face {
    /// Where it is.
    pub state: RwSignal<State>,
    /// Whether there is a value.
    pub known: Memo<bool>,
    /// How fresh it is.
    pub pulse: Pulse,
}

/// A live value.
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
    /// Asks at once and then at the pace that each value gives, for as long as the caller's component lives.
    pub fn new<F>(ask: impl Fn(Seen) -> F + 'static, pace: impl Fn(&T) -> Pace + 'static) -> Self
    where
        F: Future<Output = Told<T>> + 'static,
    {
        Self::seeded(None, ask, pace)
    }

    /// The same, showing what was known before until the first answer.
    pub fn seeded<F>(known: Option<T>, ask: impl Fn(Seen) -> F + 'static, pace: impl Fn(&T) -> Pace + 'static) -> Self
    where
        F: Future<Output = Told<T>> + 'static,
    {
        let data = RwSignal::new(known);
        let ask = move |seen| taking(data, Box::pin(ask(seen)));
        let pace = move || data.try_with_untracked(|data| data.as_ref().map(&pace)).flatten();
        let (state, pulse, engine) = begin(Box::new(ask), Box::new(pace));
        Self { data, state, pulse, engine }
    }

    /// What a page shows of it whatever its type: where it is, and whether there is a value.
    pub fn face(self) -> Face {
        let data = self.data;
        Face { state: self.state, known: data.map(Option::is_some), pulse: self.pulse }
    }

    /// The value. Tracked.
    pub fn get(self) -> Option<T> {
        self.data.get()
    }

    /// The value as a signal.
    pub fn data(self) -> Signal<Option<T>> {
        self.data.into()
    }

    /// Part of the value; runs its readers again only when that part changes.
    pub fn part<U: Clone + PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&T) -> U + Send + Sync + 'static,
    ) -> Memo<Option<U>> {
        self.data.map(move |data| data.as_ref().map(&of))
    }

    /// Where it is. Tracked.
    pub fn state(self) -> State {
        self.state.get()
    }

    /// How fresh it is, for the badge at the top of the page.
    pub fn pulse(self) -> Pulse {
        self.pulse
    }

    /// Asks now.
    pub fn refresh(self) {
        self.engine.try_with_value(|engine| engine.now());
    }

    /// Takes the answer to something that the person did; an older answer on its way is dropped, and for a while the
    /// value is asked for more often.
    pub fn put(self, value: T) {
        self.data.try_set(Some(value));
        self.state.try_set(State::Fresh);
        self.pulse.beat();
        self.engine.try_with_value(|engine| engine.acted());
    }

    /// The person did something that this value will show: ask now, and more often for a while.
    pub fn hurry(self) {
        self.engine.try_with_value(|engine| engine.acted());
        self.refresh();
    }
}

/// Makes a call's value one that is taken: compiled once for each kind of value, not for each page.
fn taking<T>(
    data: RwSignal<Option<T>>,
    call: Pin<Box<dyn Future<Output = Told<T>>>>,
) -> Pin<Box<dyn Future<Output = Taking>>>
where
    T: PartialEq + Send + Sync + 'static,
{
    let take = move |value: T| {
        if data.try_with_untracked(|data| data.as_ref() != Some(&value)) == Some(true) {
            data.try_set(Some(value));
        }
    };
    Box::pin(async move {
        let new = call.await?.into_new();
        Ok(new.map(|value| Box::new(move || take(value)) as Box<dyn FnOnce()>))
    })
}

type Engined = (RwSignal<State>, Pulse, StoredValue<Rc<Engine>>);

/// Starts the clockwork, which is compiled once, not for each kind of value.
fn begin(ask: Asker, pace: Pacer) -> Engined {
    let state = RwSignal::new(if pace().is_some() { State::Fresh } else { State::Quiet });
    let pulse = Pulse::new(state);
    let tab = session::tab();
    let settle = move |result: Taking| {
        let failed = result.is_err();
        settle(&pace, state, pulse, tab, result);
        (failed, pace().unwrap_or(Pace::Calm).period())
    };
    let engine = StoredValue::new(Engine::start(ask, Box::new(settle), pulse.paused()));
    pulse.on_refresh(move || {
        engine.try_with_value(|engine| engine.now());
    });
    after_a_while(state);
    (state, pulse, engine)
}

fn settle(pace: &Pacer, state: RwSignal<State>, pulse: Pulse, tab: session::Tab, result: Taking) {
    let next = match result {
        Ok(taking) => {
            if let Some(take) = taking {
                take();
            }
            pulse.beat();
            State::Fresh
        }
        Err(why) if why.is_signed_out() => {
            tab.leave(true);
            State::SignedOut
        }
        Err(why) if why.code() == Some(ErrorCode::Forbidden) => State::Forbidden(why),
        Err(why) if why.code() == Some(ErrorCode::NotFound) => State::Gone(why),
        Err(why) => match (pace(), pulse.last()) {
            (Some(_), Some(since)) => State::Stale { since, why },
            _ => State::Failed(why),
        },
    };
    if state.try_with_untracked(|state| *state != next).unwrap_or(false) {
        state.try_set(next);
    }
}

/// Nothing for 200 ms, so that a quick answer does not flicker; then that it loads.
fn after_a_while(state: RwSignal<State>) {
    let show = move || {
        if state.try_get_untracked() == Some(State::Quiet) {
            state.try_set(State::Loading);
        }
    };
    set_timeout(show, Duration::from_millis(200));
}
