//! Interprets SQS's errors: which ones say that SQS did nothing, and which leave the outcome open.

use crate::{EntryFailure, QueueError};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::BatchResultErrorEntry;
use domain::id::QueueArn;
use std::error::Error;

/// Error codes for a missing queue, in SQS's old and new protocols.
const MISSING: &[&str] = &["QueueDoesNotExist", "NonExistentQueue"];
/// Error codes for missing permissions or invalid credentials.
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
/// Error codes for throttled calls, which SQS did not process.
const THROTTLED: &[&str] = &["RequestThrottled", "ThrottlingException", "Throttling", "KmsThrottled", "OverLimit"];
/// Error codes with HTTP status 500 or above: SQS may have processed the call.
const SERVER_FAULTS: &[&str] = &["InternalError", "InternalFailure", "InternalServerError", "ServiceUnavailable"];

/// Removes the protocol's prefix from an error code: `AWS.SimpleQueueService.NonExistentQueue`.
fn bare(code: &str) -> &str {
    code.rsplit(['.', '#']).next().unwrap_or(code)
}

fn bare_code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Option<&str> {
    error.as_service_error().and_then(ProvideErrorMetadata::code).map(bare)
}

/// Returns whether SQS throttled the call.
pub(super) fn is_throttled<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    bare_code(error).is_some_and(|code| THROTTLED.contains(&code))
}

/// Converts the error of a call.
pub(super) fn queue_error<E, R>(queue: &QueueArn, error: SdkError<E, R>) -> QueueError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    let queue = queue.clone();
    if let SdkError::ConstructionFailure(_) = &error {
        return QueueError::Invalid { queue, reason: "the SDK could not build the request".into() };
    }
    let Some(service_error) = error.as_service_error() else {
        return QueueError::Unanswered { queue, source: Box::new(error) };
    };
    let code = service_error.code().map(bare).unwrap_or_default().to_owned();
    let reason = format!("{code}: {}", service_error.message().unwrap_or_default());
    let is_one_of = |codes: &[&str]| codes.contains(&code.as_str());
    if is_one_of(MISSING) {
        QueueError::Missing { queue }
    } else if is_one_of(DENIED) {
        // The SDK's own words are a dump of its types.
        QueueError::Denied { queue, source: reason.into() }
    } else if is_one_of(THROTTLED) || !is_rejection(&error) {
        QueueError::Unanswered { queue, source: Box::new(error) }
    } else {
        QueueError::Invalid { queue, reason }
    }
}

/// Returns whether SQS rejected the call without processing it (HTTP status 4xx). The SDK does not always show the
/// status, so the error code decides.
fn is_rejection<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    bare_code(error).is_some_and(|code| !SERVER_FAULTS.contains(&code))
}

/// Converts the failure of one entry of a batch. Returns it with the entry's id.
pub(super) fn entry_failure<T>(entry: &BatchResultErrorEntry) -> (String, Result<T, EntryFailure>) {
    let failure = EntryFailure {
        code: bare(&entry.code).to_owned(),
        reason: entry.message.clone().unwrap_or_default(),
        sender_fault: entry.sender_fault,
    };
    (entry.id.clone(), Err(failure))
}
