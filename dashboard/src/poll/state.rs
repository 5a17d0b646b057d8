//! The state of a live value.

use crate::api::ApiError;
use domain::time::Timestamp;

/// The state of a live value. A stale value is still shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Fetched for the first time a moment ago: nothing is shown yet.
    Quiet,
    /// Fetched for the first time, and taking longer.
    Loading,
    /// Up to date.
    Fresh,
    /// Out of date: the latest fetch failed.
    Stale {
        /// The time of the last response.
        since: Timestamp,
        /// The error.
        why: ApiError,
    },
    /// No value, because of this error.
    Failed(ApiError),
    /// The person may not see the value.
    Forbidden(ApiError),
    /// The value does not exist, or no longer.
    Gone,
    /// The session has ended.
    SignedOut,
}
