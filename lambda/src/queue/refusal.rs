//! What SQS's errors mean: which say that nothing was done, and which say nothing.

use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::BatchResultErrorEntry;
use domain::id::QueueArn;
use queue::{EntryFailure, QueueError};
use std::error::Error;

/// Codes of a queue that is not there, of SQS's old and new protocols.
const MISSING: &[&str] = &["QueueDoesNotExist", "NonExistentQueue"];
/// Codes of calls that we may not make.
const DENIED: &[&str] = &[
    "AccessDenied",
    "AccessDeniedException",
    "KmsAccessDenied",
    "InvalidSecurity",
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "ExpiredToken",
    "ExpiredTokenException",
    "SignatureDoesNotMatch",
];
/// Codes of calls that SQS has not looked at, because there were too many.
const THROTTLED: &[&str] = &["RequestThrottled", "ThrottlingException", "Throttling", "KmsThrottled", "OverLimit"];

/// A code without the protocol's prefix: `AWS.SimpleQueueService.NonExistentQueue`.
fn bare(code: &str) -> &str {
    code.rsplit(['.', '#']).next().unwrap_or(code)
}

/// Whether SQS refused a call because there were too many.
pub(super) struct Throttled;

impl Throttled {
    pub(super) fn is<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
        error
            .as_service_error()
            .and_then(ProvideErrorMetadata::code)
            .is_some_and(|code| THROTTLED.contains(&bare(code)))
    }
}

/// What an error says of a call.
pub(super) fn refusal<E, R>(queue: &QueueArn, error: SdkError<E, R>) -> QueueError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    let queue = queue.clone();
    if let SdkError::ConstructionFailure(_) = &error {
        return QueueError::Invalid { queue, reason: "it could not be asked".into() };
    }
    let Some(said) = error.as_service_error() else {
        return QueueError::Unanswered { queue, source: Box::new(error) };
    };
    let code = said.code().map(bare).unwrap_or_default().to_owned();
    let reason = format!("{code}: {}", said.message().unwrap_or_default());
    let by_code = |codes: &[&str]| codes.contains(&code.as_str());
    if by_code(MISSING) {
        QueueError::Missing { queue }
    } else if by_code(DENIED) {
        QueueError::Denied { queue, source: Box::new(error) }
    } else if by_code(THROTTLED) || !is_refusal(&error) {
        QueueError::Unanswered { queue, source: Box::new(error) }
    } else {
        QueueError::Invalid { queue, reason }
    }
}

/// Whether the answer is one of those that say that nothing was done: HTTP's 400s. Where the SDK does not show the
/// status, a code is one.
fn is_refusal<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code).map(bare);
    !matches!(code, None | Some("InternalError" | "InternalFailure" | "InternalServerError" | "ServiceUnavailable"))
}

/// Why one entry of a batch failed, by its id.
pub(super) fn failure<T>(entry: &BatchResultErrorEntry) -> (String, Result<T, EntryFailure>) {
    let failure = EntryFailure {
        code: bare(&entry.code).to_owned(),
        reason: entry.message.clone().unwrap_or_default(),
        sender_fault: entry.sender_fault,
    };
    (entry.id.clone(), Err(failure))
}
