//! Discarding: a person gives letters up with a reason. A discarded letter is closed and never sent. It can be taken
//! back until it is deleted.

use crate::id::Actor;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Why letters are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiscardReason {
    /// It is too late to process them.
    Expired,
    /// Their tenant no longer exists.
    TenantGone,
    /// The work was done in another way.
    DuplicateWork,
    /// They are test data.
    TestData,
    /// Another reason, which the note explains.
    Other,
}

impl DiscardReason {
    /// All reasons, in the order of the form.
    pub const ALL: [Self; 5] = [Self::Expired, Self::TenantGone, Self::DuplicateWork, Self::TestData, Self::Other];

    /// Returns the reason's name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::TenantGone => "tenant_gone",
            Self::DuplicateWork => "duplicate_work",
            Self::TestData => "test_data",
            Self::Other => "other",
        }
    }

    /// Returns the reason for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Expired => "Expired",
            Self::TenantGone => "Tenant gone",
            Self::DuplicateWork => "Duplicate of work already done",
            Self::TestData => "Test data",
            Self::Other => "Other",
        }
    }

    /// Whether the reason says nothing without a note.
    pub fn needs_note(self) -> bool {
        self == Self::Other
    }
}

/// One decision to discard letters. All letters of one decision have the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discard {
    /// When it was decided.
    pub at: Timestamp,
    /// Who decided it.
    pub by: Actor,
    /// Why.
    pub reason: DiscardReason,
    /// The reason in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When the letter was quarantined; `None` if it was not in quarantine. It returns there if the discard is undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined_at: Option<Timestamp>,
}

impl Discard {
    /// Returns the reason and the note in one line, for the audit log.
    pub fn words(&self) -> String {
        match &self.note {
            Some(note) => format!("{}: {note}", self.reason.label()),
            None => self.reason.label().into(),
        }
    }
}

/// How a letter was closed. A store deletes closed letters, each kind after a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closed {
    /// It was delivered.
    Delivered,
    /// It was discarded.
    Discarded,
}

impl Closed {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Delivered, Self::Discarded];
}
