//! Alerts: what people are told, by level. Not mere depth: each says what happened and what to do.

use crate::id::{GroupId, ReplayId};
use crate::impact::Severity;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Why somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A cause that was not seen before.
    NewCause,
    /// A resolved cause is back.
    Regression,
    /// A replay stopped by itself.
    ReplayPaused,
}

/// One alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Why.
    pub kind: AlertKind,
    /// How urgent: the level of the message type.
    pub level: Severity,
    /// When.
    pub at: Timestamp,
    /// The group.
    pub group: GroupId,
    /// The replay, where there is one.
    pub replay: Option<ReplayId>,
    /// What happened, one line.
    pub title: String,
    /// What to do, a sentence.
    pub advice: String,
}
