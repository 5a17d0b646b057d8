//! Who may do what. Checked on the server for every call; shown by the dashboard.

use serde::{Deserialize, Serialize};

/// A role. Each one may do what the ones before it may, except that nobody's role lets them approve their own fix
/// where four eyes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything, changes nothing.
    Viewer,
    /// Triage: declares fixes, writes notes, plans replays, pauses and aborts them.
    Operator,
    /// Approves, waives and resumes.
    Approver,
    /// Reports deployments by hand, and whatever else the office lets people change.
    Admin,
}

impl Role {
    /// All roles, least first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Approver, Self::Admin];

    /// The role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }

    /// Whether a person of this role may do something.
    pub fn may(self, permission: Permission) -> bool {
        self >= permission.least_role()
    }
}

/// Something that a person may or may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Look at groups, letters (payloads too), replays and the audit.
    View,
    /// Declare or withdraw a fix, write a note.
    Triage,
    /// Make a plan for a replay.
    Plan,
    /// Pause or abort a replay.
    Stop,
    /// Approve a plan, waive a condition, resume a replay.
    Approve,
    /// Report a deployment.
    ReportDeployment,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 6] =
        [Self::View, Self::Triage, Self::Plan, Self::Stop, Self::Approve, Self::ReportDeployment];

    /// The least role that has it.
    pub fn least_role(self) -> Role {
        match self {
            Self::View => Role::Viewer,
            Self::Triage | Self::Plan | Self::Stop => Role::Operator,
            Self::Approve => Role::Approver,
            Self::ReportDeployment => Role::Admin,
        }
    }
}
