//! A write that a person asked for: runs once at a time, says what came of it.

use crate::api::ApiError;
use crate::reactive::prelude::*;
use crate::session;
use leptos::task::spawn_local;
use std::future::Future;
use std::pin::Pin;

/// What is done with an answer.
type Done = Box<dyn FnOnce()>;

/// A write under way, or its last failure.
#[derive(Clone, Copy)]
pub struct Ask {
    busy: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
    tab: session::Tab,
}

impl Default for Ask {
    fn default() -> Self {
        Self::new()
    }
}

impl Ask {
    /// Nothing asked yet. Made in a component's body: event handlers have no context.
    pub fn new() -> Self {
        Self { busy: RwSignal::new(false), error: RwSignal::new(None), tab: session::tab() }
    }

    /// Whether it is under way.
    pub fn busy(self) -> Signal<bool> {
        self.busy.into()
    }

    /// Why it failed.
    pub fn error(self) -> Signal<Option<ApiError>> {
        self.error.into()
    }

    /// Forgets the last failure.
    pub fn clear(self) {
        self.error.set(None);
    }

    /// Starts it, unless it is under way: pressed twice, it is sent once.
    pub fn run<T: 'static>(
        self,
        call: impl Future<Output = Result<T, ApiError>> + 'static,
        done: impl FnOnce(T) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.error.set(None);
        self.settle(Box::pin(async move { call.await.map(|value| Box::new(move || done(value)) as Done) }));
    }

    fn settle(self, call: Pin<Box<dyn Future<Output = Result<Done, ApiError>>>>) {
        spawn_local(async move {
            let result = call.await;
            // The page may be gone by now; what was asked has happened all the same.
            self.busy.try_set(false);
            match result {
                Ok(done) => done(),
                Err(err) => {
                    if err.is_signed_out() {
                        self.tab.leave(true);
                    }
                    self.error.try_set(Some(err));
                }
            }
        });
    }
}
