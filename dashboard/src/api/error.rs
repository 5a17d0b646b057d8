//! What can go wrong between the browser and the office.

use domain::gate::Condition;
use wire::{ErrorBody, ErrorCode};

/// Why a call gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// The office said no.
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        body: ErrorBody,
    },
    /// Something answered, but not in the office's words: a proxy, or another version.
    NotUnderstood {
        /// The HTTP status.
        status: u16,
        /// What could not be read.
        detail: String,
    },
    /// Nothing answered.
    Unreachable {
        /// What the browser said.
        detail: String,
    },
    /// Nothing answered in time.
    TooSlow {
        /// How long was waited, milliseconds.
        waited_ms: u32,
    },
}

impl ApiError {
    /// The office's code, if it was the office that refused.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { body, .. } => Some(body.code),
            _ => None,
        }
    }

    /// What is wrong, for a person.
    pub fn message(&self) -> String {
        match self {
            Self::Refused { body, .. } => body.message.clone(),
            Self::NotUnderstood { status, .. } => format!(
                "Something answered with status {status}, but not in the office's words. Reload the page: the office may have been updated."
            ),
            Self::Unreachable { .. } => "The office does not answer. Is it still running?".to_string(),
            Self::TooSlow { waited_ms } => format!("The office did not answer within {} s.", waited_ms / 1000),
        }
    }

    /// The request's id, to be found in the log.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Refused { body, .. } if !body.request_id.is_empty() => Some(&body.request_id),
            _ => None,
        }
    }

    /// The conditions of the gate that are not met.
    pub fn unmet(&self) -> &[Condition] {
        match self {
            Self::Refused { body, .. } => &body.unmet,
            _ => &[],
        }
    }

    /// Whether the session is no longer taken.
    pub fn is_signed_out(&self) -> bool {
        self.code() == Some(ErrorCode::SignedOut)
    }

    /// Whether asking again later may help by itself.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused { body, .. } => matches!(body.code, ErrorCode::Internal | ErrorCode::Unavailable),
            Self::NotUnderstood { .. } | Self::Unreachable { .. } | Self::TooSlow { .. } => true,
        }
    }
}
