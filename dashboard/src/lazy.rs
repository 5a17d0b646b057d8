//! Parts of the program that are loaded when a page needs them, so that the list of groups shows earlier.
//!
//! Only a release is split (feature `split`): `trunk serve` and the tests get one file, in which every part is there from
//! the start.

mod styles;

use crate::reactive::prelude::*;
use dashboard_model::route::PageKey;
use leptos::task::spawn_local;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// How long after the list has shown the part behind its links is fetched: after what the list itself asks for.
const PREFETCH_AFTER: Duration = Duration::from_millis(500);

/// A part that is loaded later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The pages of groups and replays, and the help.
    Work,
    /// The page of the policy.
    Policy,
    /// The pages of people who are not signed in.
    SignIn,
}

impl Part {
    /// Returns the part that a page is in, or `None` if it is in the first one.
    pub fn for_page(page: &PageKey, is_signed_in: bool) -> Option<Self> {
        match (page, is_signed_in) {
            (PageKey::SignIn, _) | (_, false) => Some(Self::SignIn),
            (PageKey::Group(_) | PageKey::Replays | PageKey::Replay(_), _) => Some(Self::Work),
            (PageKey::Policy, _) => Some(Self::Policy),
            (PageKey::Groups | PageKey::Unknown(_), _) => None,
        }
    }

    /// Returns its name in the page's `<meta>`, which is also the name that `split` gives it.
    fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Policy => "policy",
            Self::SignIn => "sign_in",
        }
    }
}

/// The state of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Not asked for yet.
    Absent,
    /// Being fetched.
    Loading,
    /// In memory.
    Ready,
    /// Could not be fetched: the network failed, or the office has another version since this page was opened.
    Failed,
}

/// A fetch in progress. It gives whether the part is in memory now.
pub type Fetching = Pin<Box<dyn Future<Output = bool>>>;
/// Fetches the code of a part. Pages ask for parts, and parts hold pages, so only the application knows both.
pub type Fetch = fn(Part) -> Fetching;

/// The states of all parts.
#[derive(Clone, Copy)]
pub struct Parts {
    fetch: Fetch,
    work: RwSignal<Load>,
    policy: RwSignal<Load>,
    sign_in: RwSignal<Load>,
}

impl Parts {
    /// Provides itself to all components below.
    pub fn provide(fetch: Fetch) -> Self {
        let [work, policy, sign_in] = [(); 3].map(|()| RwSignal::new(Load::Absent));
        let parts = Self { fetch, work, policy, sign_in };
        provide_context(parts);
        parts
    }

    /// Returns a part's state.
    pub fn state(self, part: Part) -> RwSignal<Load> {
        match part {
            Part::Work => self.work,
            Part::Policy => self.policy,
            Part::SignIn => self.sign_in,
        }
    }

    /// Fetches a part unless it is there or on its way. What has failed before is tried again.
    pub fn load(self, part: Part) {
        let state = self.state(part);
        if matches!(state.get_untracked(), Load::Loading | Load::Ready) {
            return;
        }
        let mut loading = self.fetch(part);
        // What is in memory shows at once.
        match at_once(loading.as_mut()) {
            Some(load) => state.set(load),
            None => {
                state.set(Load::Loading);
                spawn_local(async move {
                    let load = loading.await;
                    state.try_set(load);
                });
            }
        }
    }

    /// Fetches a part's styles and code, asking for both before either is awaited.
    fn fetch(self, part: Part) -> Pin<Box<dyn Future<Output = Load>>> {
        let (styles, code) = (styles::add(part.name()), (self.fetch)(part));
        Box::pin(async move {
            let loaded = code.await;
            let styled = match styles {
                Some(styles) => styles.await,
                None => true,
            };
            if loaded && styled { Load::Ready } else { Load::Failed }
        })
    }

    /// Fetches a part soon, because the reader is likely to need it next.
    pub fn prefetch(self, part: Part) {
        set_timeout(move || self.load(part), PREFETCH_AFTER);
    }
}

/// Returns the context, or `None` where a component is tested alone.
pub fn parts() -> Option<Parts> {
    use_context()
}

/// Polls a future once. What is in memory is ready at the first poll.
pub fn at_once<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
