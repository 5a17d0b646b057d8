//! The views of the list of groups.

use wire::{GroupRow, NextStep};

/// A view: a fixed selection of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Groups that are not resolved.
    #[default]
    Open,
    /// Groups that grow now.
    Growing,
    /// Groups with a declared fix.
    ReplayReady,
    /// Groups whose replay runs, or is paused and needs a decision.
    Replaying,
    /// Resolved groups.
    Resolved,
}

impl View {
    /// All views, in order.
    pub const ALL: [Self; 5] = [Self::Open, Self::Growing, Self::ReplayReady, Self::Replaying, Self::Resolved];

    /// Returns the view's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Growing => "growing",
            Self::ReplayReady => "replay-ready",
            Self::Replaying => "replaying",
            Self::Resolved => "resolved",
        }
    }

    /// Returns the view's label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Growing => "Growing",
            Self::ReplayReady => "Replay ready",
            Self::Replaying => "Replaying",
            Self::Resolved => "Resolved",
        }
    }

    /// Returns whether a group is in the view.
    pub fn has(self, row: &GroupRow) -> bool {
        match self {
            Self::Open => row.is_open(),
            Self::Growing => row.next == NextStep::Growing,
            Self::ReplayReady => row.next == NextStep::ReplayReady,
            Self::Replaying => matches!(row.next, NextStep::Replaying { .. } | NextStep::ReplayPaused),
            Self::Resolved => !row.is_open(),
        }
    }
}
