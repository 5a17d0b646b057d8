//! Errors of API calls.

use domain::gate::Condition;
use wire::{ErrorBody, ErrorCode};

/// The error of an API call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// The office refused the request.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The office's code and message.
        body: ErrorBody,
    },
    /// The response is not the office's JSON: it came from a proxy, or from another version.
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// The first mismatch.
        detail: String,
    },
    /// No response.
    Unreachable {
        /// The browser's error.
        detail: String,
    },
    /// No response in time.
    TooSlow {
        /// The time waited, in milliseconds.
        waited_ms: u32,
    },
}

impl ApiError {
    /// Returns the office's error code, if the office refused the request.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { body, .. } => Some(body.code),
            _ => None,
        }
    }

    /// Describes the error for the reader.
    pub fn message(&self) -> String {
        match self {
            Self::Refused { body, .. } => body.message.clone(),
            Self::Unexpected { status, .. } => format!("Unexpected response ({status}). Retry, or reload the page."),
            Self::Unreachable { .. } => {
                "Cannot reach the office. Check your connection and that it is running, then retry.".to_string()
            }
            Self::TooSlow { waited_ms } => {
                format!("No response within {} s. Reload to see the current state.", waited_ms / 1000)
            }
        }
    }

    /// Returns the request ID, which the office's log contains.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Refused { body, .. } if !body.request_id.is_empty() => Some(&body.request_id),
            _ => None,
        }
    }

    /// Returns the gate's unmet conditions.
    pub fn unmet(&self) -> &[Condition] {
        match self {
            Self::Refused { body, .. } => &body.unmet,
            _ => &[],
        }
    }

    /// Returns whether the session has ended.
    pub fn is_signed_out(&self) -> bool {
        self.code() == Some(ErrorCode::SignedOut)
    }

    /// Returns whether a retry may succeed.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Refused { body, .. } => {
                matches!(body.code, ErrorCode::Internal | ErrorCode::TooManyCalls | ErrorCode::Unavailable)
            }
            Self::Unexpected { .. } | Self::Unreachable { .. } | Self::TooSlow { .. } => true,
        }
    }
}
