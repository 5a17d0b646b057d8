//! Errors of the store.

use domain::replay::BlockError;
use office::port::StoreError;
use std::error::Error;

/// An error, before the store adds the failed operation to it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("DynamoDB could not {call}")]
    Call {
        call: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("DynamoDB rejected the writes, and would reject them again")]
    Rejected(#[source] Box<dyn Error + Send + Sync>),
    #[error("S3 could not {call}")]
    Bucket {
        call: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("the stored {kind} is not valid JSON of its type")]
    Record {
        kind: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("the {kind} could not be converted to JSON")]
    Encode {
        kind: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("the stored {kind} could not be decompressed")]
    Unpack {
        kind: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("block {number} of the replay cannot be read")]
    Block {
        number: u64,
        #[source]
        source: BlockError,
    },
    #[error("a stored record has no valid `{0}`")]
    MissingAttribute(&'static str),
    #[error("a part of a large letter is missing from the table or the bucket: {0}")]
    PartMissing(String),
    #[error("a large letter is stored in a bucket, but no bucket is configured (DLO_BUCKET)")]
    NoBucket,
    #[error("the object {0} is damaged: its bytes do not match its hash")]
    Damaged(String),
    #[error("{count} {what} at once; the store accepts at most {max}")]
    TooMany { what: &'static str, count: usize, max: usize },
    #[error("other commits kept changing the same records; nothing was written")]
    Contended,
    #[error("DynamoDB kept returning only some of the records")]
    Unprocessed,
}

impl Fault {
    pub(super) fn call(call: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Call { call, source: Box::new(source) }
    }

    pub(super) fn rejected(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Rejected(Box::new(source))
    }

    pub(super) fn bucket(call: &'static str, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Bucket { call, source: Box::new(source) }
    }

    pub(super) fn during(self, operation: impl Into<String>) -> StoreError {
        let refused = matches!(self, Self::Rejected(_) | Self::Encode { .. } | Self::TooMany { .. });
        StoreError { operation: operation.into(), source: Box::new(self), refused }
    }
}
