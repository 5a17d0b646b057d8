//! The page's actions by key: components register what an action does while they are shown.

use crate::reactive::prelude::*;

/// An action that a key triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Declare a fix.
    DeclareFix,
    /// Edit the note.
    EditNote,
    /// Plan a replay.
    Plan,
    /// Approve a plan, or resume a replay.
    Approve,
}

/// The registered handlers. The latest handler of an action runs.
#[derive(Clone, Copy)]
pub(super) struct Actions(StoredValue<Vec<(u64, Action, Callback<()>)>>);

impl Actions {
    /// Returns an empty registry.
    pub(super) fn new() -> Self {
        Self(StoredValue::new(Vec::new()))
    }

    /// Registers a handler until the calling component is removed.
    pub(super) fn on(self, action: Action, run: impl Fn() + Send + Sync + 'static) {
        let id = self.0.with_value(|all| all.iter().map(|(id, ..)| *id).max().unwrap_or(0) + 1);
        self.0.update_value(|all| all.push((id, action, Callback::new(move |()| run()))));
        on_cleanup(move || {
            self.0.try_update_value(|all| all.retain(|(other, ..)| *other != id));
        });
    }

    /// Runs an action's handler, if there is one.
    pub(super) fn run(self, action: Action) {
        let find = |all: &Vec<(u64, Action, Callback<()>)>| {
            all.iter().rev().find(|(_, other, _)| *other == action).map(|(.., run)| *run)
        };
        if let Some(run) = self.0.with_value(find) {
            run.run(());
        }
    }
}
