//! The views of the list: which groups it shows.

use wire::{GroupRow, NextStep};

/// A view of the list of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Everything that is not resolved.
    #[default]
    Open,
    /// Growing now.
    Growing,
    /// A fix is declared.
    ReplayReady,
    /// A replay runs, or stands and waits for a decision.
    Replaying,
    /// Nothing is left to do.
    Resolved,
}

impl View {
    /// All views, in order.
    pub const ALL: [Self; 5] = [Self::Open, Self::Growing, Self::ReplayReady, Self::Replaying, Self::Resolved];

    /// The view's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Growing => "growing",
            Self::ReplayReady => "replay-ready",
            Self::Replaying => "replaying",
            Self::Resolved => "resolved",
        }
    }

    /// The view's name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Growing => "Growing",
            Self::ReplayReady => "Replay ready",
            Self::Replaying => "Replaying",
            Self::Resolved => "Resolved",
        }
    }

    /// Whether a group is in the view.
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
