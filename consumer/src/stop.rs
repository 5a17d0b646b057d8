//! Why retries in process end.

use serde::{Deserialize, Serialize};

/// Why an operation is not repeated.
///
/// ```
/// use consumer::retry::Stop;
///
/// assert_eq!(Stop::TimeExhausted.to_string(), "no time is left for another attempt");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// A retry cannot help.
    #[error("the failure is permanent")]
    Permanent,
    /// The last attempt failed.
    #[error("all attempts failed")]
    AttemptsExhausted,
    /// The next wait would end after the time limit.
    #[error("no time is left for another attempt")]
    TimeExhausted,
    /// The dependency's retry budget is exhausted.
    #[error("the retry budget is exhausted")]
    BudgetExhausted,
    /// The dependency's circuit is open.
    #[error("the circuit is open")]
    CircuitOpen,
    /// The process shuts down.
    #[error("the process is shutting down")]
    Cancelled,
}
