//! The views of the list of groups.

use crate::{GroupRow, NextStep};

/// A view: a fixed selection of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Groups with work left: neither resolved nor discarded.
    #[default]
    Open,
    /// Groups that grow now.
    Growing,
    /// Groups with a declared fix whose replay has not started: blocked, ready, or waiting for approval.
    FixDeclared,
    /// Groups that wait for the reader's approval.
    ForMe,
    /// Groups whose replay runs, or is paused and needs a decision.
    Replaying,
    /// Resolved groups, and those whose letters were discarded.
    Resolved,
}

impl View {
    /// All views, in order.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Growing, Self::FixDeclared, Self::ForMe, Self::Replaying, Self::Resolved];

    /// Returns the view's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Growing => "growing",
            Self::FixDeclared => "fix-declared",
            Self::ForMe => "for-my-approval",
            Self::Replaying => "replaying",
            Self::Resolved => "resolved",
        }
    }

    /// Returns the view's label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Growing => "Growing",
            Self::FixDeclared => "Fix declared",
            Self::ForMe => "For my approval",
            Self::Replaying => "Replaying",
            Self::Resolved => "Closed",
        }
    }

    /// Returns whether a group is in the view.
    pub fn has(self, row: &GroupRow) -> bool {
        match self {
            Self::Open => row.is_open(),
            Self::Growing => row.next == NextStep::Growing,
            Self::FixDeclared => {
                matches!(row.next, NextStep::Blocked | NextStep::ReplayReady | NextStep::WaitingForApproval)
            }
            Self::ForMe => row.for_me,
            Self::Replaying => matches!(row.next, NextStep::Replaying { .. } | NextStep::ReplayPaused),
            Self::Resolved => !row.is_open(),
        }
    }
}
