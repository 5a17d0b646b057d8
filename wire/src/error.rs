//! The API's error answers.

use alloc::string::String;
use alloc::vec::Vec;
use domain::gate::Condition;
use serde::{Deserialize, Serialize};

/// Stable codes: programs branch on these, people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request has no valid sign-in. 401.
    SignedOut,
    /// The role does not have the permission. 403.
    Forbidden,
    /// Not found. 404.
    NotFound,
    /// The request is malformed, or a value is out of range. 400.
    Invalid,
    /// The path does not have this method; the header `Allow` lists those that it has. 405.
    MethodNotAllowed,
    /// The request, or the response, is too large. 413.
    TooLarge,
    /// The request body is not JSON. 415.
    UnsupportedMediaType,
    /// Conditions of the gate are not met; `unmet` lists them. 409.
    GateClosed,
    /// The object has changed, or its state does not allow this. 409.
    Conflict,
    /// The caller makes too many calls; the header `Retry-After` says how long to wait. 429.
    TooManyCalls,
    /// The office failed internally; the log has details under `request_id`. 500.
    Internal,
    /// A part of the office does not respond; try again. 503.
    Unavailable,
}

/// The body of every error answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// The code.
    pub code: ErrorCode,
    /// For people: what happened and what to do.
    pub message: String,
    /// The request's id, for finding it in the log.
    pub request_id: String,
    /// The unmet conditions, with `gate_closed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Condition>,
}
