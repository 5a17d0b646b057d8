//! Roles and permissions. The server checks every call; the dashboard shows the result.

use serde::{Deserialize, Serialize};

/// A role. Each role includes the permissions of the roles before it. No role may approve its own fix if a second
/// approver is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything, changes nothing.
    Viewer,
    /// Triage: declares fixes, writes notes, plans replays, pauses and aborts them.
    Operator,
    /// Approves, waives and resumes; releases letters from quarantine, and discards letters.
    Approver,
    /// Reports deployments by hand, and changes the policy.
    Admin,
}

impl Role {
    /// All roles, in ascending order.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Approver, Self::Admin];

    /// Returns the role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }

    /// Whether the role has a permission.
    pub fn may(self, permission: Permission) -> bool {
        self >= permission.least_role()
    }
}

/// A permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// View groups, letters (including payloads), replays and the audit log.
    View,
    /// Declare or withdraw a fix, write a note.
    Triage,
    /// Make a plan for a replay.
    Plan,
    /// Pause or abort a replay.
    #[serde(alias = "stop")]
    PauseOrAbort,
    /// Approve a plan, waive a condition, resume a replay, release letters from quarantine, discard letters.
    Approve,
    /// Report a deployment.
    ReportDeployment,
    /// Change the policy.
    ChangePolicy,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 7] = [
        Self::View,
        Self::Triage,
        Self::Plan,
        Self::PauseOrAbort,
        Self::Approve,
        Self::ReportDeployment,
        Self::ChangePolicy,
    ];

    /// Returns the lowest role with this permission.
    pub fn least_role(self) -> Role {
        match self {
            Self::View => Role::Viewer,
            Self::Triage | Self::Plan | Self::PauseOrAbort => Role::Operator,
            Self::Approve => Role::Approver,
            Self::ReportDeployment | Self::ChangePolicy => Role::Admin,
        }
    }
}
