//! Alerts: urgent news for people. Each one states what happened and what to do.

use crate::id::{GroupId, ReplayId};
use crate::impact::Severity;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The reason for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A new group: a cause that was not seen before.
    #[serde(alias = "new_cause")]
    NewGroup,
    /// A letter of a resolved group died again after the fix.
    Regression,
    /// A letter of a group whose letters were discarded died again.
    DiscardedAgain,
    /// The office paused a replay.
    ReplayPaused,
    /// A replay finished: each of its letters has an outcome.
    ReplayFinished,
    /// A group has many open letters, or a critical one has new letters.
    GroupGrowing,
    /// The oldest open letter of a group has waited for long.
    GroupWaiting,
    /// The open letters of a group hold much money.
    MoneyAtRisk,
    /// An open letter reaches its deadline soon.
    LossNear,
    /// A consumer's failed messages are deleted.
    MessagesLost,
    /// A consumer's deployment cannot start.
    CannotStart,
    /// The office's clock jumped.
    ClockJumped,
}

impl AlertKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::NewGroup,
        Self::Regression,
        Self::DiscardedAgain,
        Self::ReplayPaused,
        Self::ReplayFinished,
        Self::GroupGrowing,
        Self::GroupWaiting,
        Self::MoneyAtRisk,
        Self::LossNear,
        Self::MessagesLost,
        Self::CannotStart,
        Self::ClockJumped,
    ];

    /// Returns the kind in words. Also the `detail-type` of its event, which rules match: it never changes.
    pub fn label(self) -> &'static str {
        match self {
            Self::NewGroup => "New group",
            Self::Regression => "Regression",
            Self::DiscardedAgain => "Failing again after a discard",
            Self::ReplayPaused => "Replay paused",
            Self::ReplayFinished => "Replay finished",
            Self::GroupGrowing => "Group growing",
            Self::GroupWaiting => "Group waiting",
            Self::MoneyAtRisk => "Money at risk",
            Self::LossNear => "Loss near",
            Self::MessagesLost => "Messages lost",
            Self::CannotStart => "Deployment cannot start",
            Self::ClockJumped => "Clock jumped",
        }
    }
}

/// One alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What happened, in one line. On AWS it has no word of a letter but the name of its error's type, unless the stack's parameter `AlertsCarryTitles`
    /// adds the group's title.
    pub title: String,
    /// The same without a word of a letter: names in code, counts, money and times. It is sent as the title, or not at all.
    #[serde(skip)]
    pub summary: String,
    /// What to do, in one sentence.
    pub advice: String,
}

/// The version of [`AlertEvent`]. It rises if a member is removed or changes its meaning; a new member or a new kind does
/// not change it.
pub const EVENT_VERSION: u8 = 1;

/// An alert as an event: the `detail` of an EventBridge event with the source `dead-letter-office`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlertEvent {
    /// The format's version, 1.
    #[cfg_attr(feature = "schema", schemars(schema_with = "version_schema"))]
    pub v: u8,
    /// The alert.
    #[serde(flatten)]
    pub alert: Alert,
    /// The URL of the group in the dashboard, or of the dashboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Only this version, so that a receiver that checks events notices another one.
#[cfg(feature = "schema")]
fn version_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "integer", "const": EVENT_VERSION })
}

impl Alert {
    /// Returns the alert with its summary as its title.
    pub fn without_words(self) -> Self {
        Self { title: self.summary.clone(), ..self }
    }
}

impl AlertEvent {
    /// Creates the event of an alert.
    pub fn new(alert: Alert, url: Option<String>) -> Self {
        Self { v: EVENT_VERSION, alert, url }
    }
}
