//! What the API answers when it cannot do what was asked.

use alloc::string::String;
use alloc::vec::Vec;
use domain::gate::Condition;
use serde::{Deserialize, Serialize};

/// Stable codes: programs branch on these, people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No valid sign-in came with the request. 401.
    SignedOut,
    /// The role does not have the permission. 403.
    Forbidden,
    /// There is no such thing. 404.
    NotFound,
    /// The request is not well-formed, or a value is out of its range. 400.
    Invalid,
    /// Too large. 413.
    TooLarge,
    /// Conditions of the gate are not met; they are listed in `unmet`. 409.
    GateClosed,
    /// The thing has changed, or is not in a state in which this can be done. 409.
    Conflict,
    /// Something in the office failed; the log has the particulars under `request_id`. 500.
    Internal,
    /// A part of the office does not answer; try again. 503.
    Unavailable,
}

/// The body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// The code.
    pub code: ErrorCode,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// The request's id, to be found in the log.
    pub request_id: String,
    /// The conditions that are not met, with `gate_closed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Condition>,
}
