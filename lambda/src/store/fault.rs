//! What can go wrong in the store.

use office::port::StoreError;
use std::error::Error;

/// A fault, before it is known what the store was doing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("DynamoDB could not {call}")]
    Call {
        call: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("DynamoDB does not take what was to be written")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
    #[error("S3 could not {call}")]
    Bucket {
        call: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("a stored {kind} is not readable")]
    Record {
        kind: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("a {kind} has no JSON form")]
    Encode {
        kind: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("a stored {kind} cannot be unpacked")]
    Unpack {
        kind: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("a stored record lacks `{0}`")]
    Lacks(&'static str),
    #[error("a part of a large letter is missing: {0}")]
    PartMissing(String),
    #[error("a large letter lies in a bucket, and this store has none")]
    NoBucket,
    #[error("the object {0} is not what was written: its bytes have another hash")]
    Damaged(String),
    #[error("{count} {what} at once, the store takes {max}")]
    TooMany { what: &'static str, count: usize, max: usize },
    #[error("others wrote the same records again and again")]
    Contended,
    #[error("DynamoDB gave a part of what was asked, again and again")]
    Unprocessed,
}

impl Fault {
    pub(super) fn call(call: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Call { call, source: Box::new(source) }
    }

    pub(super) fn refused(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Refused(Box::new(source))
    }

    pub(super) fn bucket(call: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Bucket { call, source: Box::new(source) }
    }

    pub(super) fn of(self, operation: impl Into<String>) -> StoreError {
        let refused = matches!(self, Self::Refused(_) | Self::Encode { .. } | Self::TooMany { .. });
        StoreError { operation: operation.into(), source: Box::new(self), refused }
    }
}
