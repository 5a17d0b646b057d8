//! Faults inside the store, before they become a `StoreError` for the handlers.

use domain::replay::BlockError;
use office::port::StoreError;

/// A fault of the store.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// SQLite failed, for example because the disk is full.
    #[error("SQLite failed")]
    Sqlite(#[from] rusqlite::Error),
    /// A record is not valid.
    #[error("a stored {kind} could not be read")]
    Record {
        /// The kind of record.
        kind: &'static str,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// A block of a replay's entries is not valid.
    #[error("block {number} of the replay cannot be read")]
    Block {
        /// Its number.
        number: i64,
        /// What is wrong.
        #[source]
        source: BlockError,
    },
    /// A record is not as it was written.
    #[error("a stored {kind} has changed since it was written")]
    Changed {
        /// The kind of record.
        kind: &'static str,
    },
    /// A record could not be written as JSON.
    #[error("a {kind} could not be written as JSON")]
    Encode {
        /// The kind of record.
        kind: &'static str,
        /// The serialiser's error.
        #[source]
        source: serde_json::Error,
    },
    /// More items than the port allows.
    #[error("{count} {what} in one call are more than {max}")]
    TooMany {
        /// The kind of items.
        what: &'static str,
        /// The number of items.
        count: usize,
        /// The most that are allowed.
        max: usize,
    },
    /// The shared transaction of several commits failed.
    #[error("the transaction shared with other commits failed: {0}")]
    Transaction(String),
    /// The writer thread has ended.
    #[error("the store was shut down")]
    ShutDown,
}

impl Fault {
    /// Converts the fault to the port's error for an operation.
    pub(super) fn during(self, operation: impl Into<String>) -> StoreError {
        let refused = matches!(self, Self::Encode { .. } | Self::TooMany { .. });
        StoreError { operation: operation.into(), source: Box::new(self), refused }
    }
}
