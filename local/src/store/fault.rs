//! What can go wrong inside the store, before it is told to the handlers as a `StoreError`.

use office::port::StoreError;

/// A fault of the store.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// SQLite failed; a full disk is one of its reasons.
    #[error("SQLite failed")]
    Sqlite(#[from] rusqlite::Error),
    /// A record is not what this program writes.
    #[error("a stored {kind} could not be read")]
    Record {
        /// What it should be.
        kind: &'static str,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A record could not be written as JSON.
    #[error("a {kind} could not be written as JSON")]
    Encode {
        /// What it is.
        kind: &'static str,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// More than the port allows.
    #[error("{count} {what} at once are more than {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many are allowed.
        max: usize,
    },
    /// Other writes of the same transaction made it fail as a whole.
    #[error("the transaction that this commit was part of failed: {0}")]
    Together(String),
    /// The thread that does the work has ended.
    #[error("the store has stopped")]
    Stopped,
}

impl Fault {
    /// The fault as the handlers know it.
    pub(super) fn of(self, operation: impl Into<String>) -> StoreError {
        let refused = matches!(self, Self::Encode { .. } | Self::TooMany { .. });
        StoreError { operation: operation.into(), source: Box::new(self), refused }
    }
}
