//! Alerts: urgent news for people. Each one states what happened and what to do.

use crate::id::{GroupId, ReplayId};
use crate::impact::Severity;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The reason for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A new group: a cause that was not seen before.
    #[serde(alias = "new_cause")]
    NewGroup,
    /// A letter of a resolved group died again after the fix.
    Regression,
    /// The office paused a replay.
    ReplayPaused,
    /// The office's clock jumped.
    ClockJumped,
}

/// One alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// The reason.
    pub kind: AlertKind,
    /// How urgent: the severity of the message type.
    pub level: Severity,
    /// When it happened.
    pub at: Timestamp,
    /// The group; `None` if the alert is about the office itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The replay, if the alert is about one.
    pub replay: Option<ReplayId>,
    /// What happened, in one line.
    pub title: String,
    /// What to do, in one sentence.
    pub advice: String,
}
