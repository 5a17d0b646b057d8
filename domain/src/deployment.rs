//! A deployment of a consumer, as a CI pipeline (or a demo) reports it: the gate's evidence for a deployed fix.

use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A version of a service that went live.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deployment {
    /// The service's name, as letters have it in `consumer`.
    pub service: String,
    /// The version.
    pub version: String,
    /// The commit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it went live.
    pub at: Timestamp,
}
