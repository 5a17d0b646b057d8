//! A command: a request that changes something, or loads more on demand. It runs once at a time and keeps its error.

use crate::api::ApiError;
use crate::reactive::prelude::*;
use crate::session;
use leptos::task::spawn_local;
use std::future::Future;
use std::pin::Pin;

/// Applies a successful response.
type Apply = Box<dyn FnOnce()>;

/// A command's state: whether it runs, and its last error.
#[derive(Clone, Copy)]
pub struct Command {
    busy: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
    tab: session::Tab,
}

impl Default for Command {
    fn default() -> Self {
        Self::new()
    }
}

impl Command {
    /// Returns an idle command. Call it in a component's body: event handlers have no context.
    pub fn new() -> Self {
        Self { busy: RwSignal::new(false), error: RwSignal::new(None), tab: session::tab() }
    }

    /// Returns whether the command runs.
    pub fn busy(self) -> Signal<bool> {
        self.busy.into()
    }

    /// Returns the last error.
    pub fn error(self) -> Signal<Option<ApiError>> {
        self.error.into()
    }

    /// Clears the last error.
    pub fn clear(self) {
        self.error.set(None);
    }

    /// Runs the command, unless it already runs: a double click sends one request.
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
        self.settle(Box::pin(async move { call.await.map(|value| Box::new(move || done(value)) as Apply) }));
    }

    fn settle(self, call: Pin<Box<dyn Future<Output = Result<Apply, ApiError>>>>) {
        spawn_local(async move {
            let result = call.await;
            // The page may be gone, but the command has run.
            self.busy.try_set(false);
            match result {
                Ok(apply) => apply(),
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
