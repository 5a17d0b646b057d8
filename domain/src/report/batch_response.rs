//! What a function returned for its batch, as an event source mapping with `ReportBatchItemFailures` reads it.
//!
//! The rules are Lambda's (Lambda developer guide, "Implementing partial batch responses"): nothing or an empty list is
//! a success of the whole batch; a list that Lambda cannot read is a failure of the whole batch.

use crate::id::MessageId;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use serde_json::Value;

/// What a function returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchResponse {
    /// The whole batch succeeded.
    AllSucceeded,
    /// These messages failed, in the order of the response, each once.
    Failed(Vec<MessageId>),
    /// A list that Lambda cannot read: it retries the whole batch.
    Invalid(Invalid),
}

/// What is wrong with a list of failed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// An entry without a usable id.
    #[error("an entry of batchItemFailures has no itemIdentifier, or an empty one: Lambda retries the whole batch")]
    NoIdentifier,
    /// An id that is not in the batch.
    #[error("batchItemFailures names a message that is not in the batch: Lambda retries the whole batch")]
    UnknownMessage,
    /// The member is not a list.
    #[error("batchItemFailures is not a list: Lambda retries the whole batch")]
    NotAList,
}

/// Reads the response for a batch with these messages. Text that is no JSON object says nothing about single messages:
/// without `ReportBatchItemFailures` a function may return what it likes.
pub fn read(response: &[u8], batch: &BTreeSet<&str>) -> BatchResponse {
    // Most functions return `null` or a few bytes; only this name makes a response worth parsing.
    let Ok(Value::Object(response)) = serde_json::from_slice(response) else { return BatchResponse::AllSucceeded };
    let failures = match response.get("batchItemFailures") {
        None | Some(Value::Null) => return BatchResponse::AllSucceeded,
        Some(Value::Array(failures)) => failures,
        Some(_) => return BatchResponse::Invalid(Invalid::NotAList),
    };
    let mut seen = BTreeSet::new();
    let mut failed = Vec::new();
    for failure in failures {
        let id = failure.get("itemIdentifier").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            return BatchResponse::Invalid(Invalid::NoIdentifier);
        }
        if !batch.contains(id) {
            return BatchResponse::Invalid(Invalid::UnknownMessage);
        }
        if seen.insert(id) {
            failed.push(MessageId::new(id));
        }
    }
    if failed.is_empty() { BatchResponse::AllSucceeded } else { BatchResponse::Failed(failed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_as_lambda_reads_it() {
        let batch = BTreeSet::from(["a", "b"]);
        let check = |response: &str, wanted: BatchResponse| {
            assert_eq!(read(response.as_bytes(), &batch), wanted, "{response}");
        };
        let failed = |ids: &[&str]| BatchResponse::Failed(ids.iter().map(|id| MessageId::from(*id)).collect());
        for success in
            ["", "null", "{}", "\"ok\"", "[]", "17", "{\"batchItemFailures\":null}", "{\"batchItemFailures\":[]}"]
        {
            check(success, BatchResponse::AllSucceeded);
        }
        check(r#"{"batchItemFailures":[{"itemIdentifier":"b"}]}"#, failed(&["b"]));
        check(r#"{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"a"}]}"#, failed(&["b", "a"]));
        check(r#"{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"b"}]}"#, failed(&["b"]));
        for without in [r#"{"itemIdentifier":""}"#, r#"{"itemIdentifier":null}"#, r#"{"id":"a"}"#, "null", "\"a\""] {
            let response = alloc::format!("{{\"batchItemFailures\":[{without}]}}");
            check(&response, BatchResponse::Invalid(Invalid::NoIdentifier));
        }
        let unknown = r#"{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"c"}]}"#;
        check(unknown, BatchResponse::Invalid(Invalid::UnknownMessage));
        check(r#"{"batchItemFailures":"a"}"#, BatchResponse::Invalid(Invalid::NotAList));
    }
}
