//! What a function returned for its batch, as an event source mapping with `ReportBatchItemFailures` reads it.
//!
//! The rules are Lambda's (Lambda developer guide, "Implementing partial batch responses"). Nothing or an empty list: the
//! whole batch succeeded. A list that Lambda cannot read, or text that is not JSON: the whole batch failed. What the guide
//! does not name, such as a text or a number, proves nothing: a receipt must not rest on it.

use super::json;
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
    /// Nothing that Lambda reads, and not about single messages. The whole batch failed if its mapping has
    /// `ReportBatchItemFailures`, and succeeded if it does not: nothing is known.
    Unproven,
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
    /// The response has the member, but is not JSON.
    #[error(
        "the response with batchItemFailures is no JSON, for example because it contains NaN: Lambda retries the whole batch"
    )]
    NotJson,
    /// The object with the member is inside of a text or a list.
    #[error("the function returns text or a list with batchItemFailures: return the object itself, not its JSON text")]
    NotAnObject,
}

/// The member that lists failed messages.
const MEMBER: &str = "batchItemFailures";

/// Reads the response for a batch with these messages.
pub fn read(response: &[u8], batch: &BTreeSet<&str>) -> BatchResponse {
    let has_member = response.windows(MEMBER.len()).any(|part| part == MEMBER.as_bytes());
    let object = match json::parse(response) {
        Some(Value::Object(object)) => object,
        Some(Value::Null) => return BatchResponse::AllSucceeded,
        Some(Value::String(text)) if text.is_empty() => return BatchResponse::AllSucceeded,
        Some(Value::Array(list)) if list.is_empty() => return BatchResponse::AllSucceeded,
        Some(_) if has_member => return BatchResponse::Invalid(Invalid::NotAnObject),
        None if response.is_empty() => return BatchResponse::AllSucceeded,
        None if has_member => return BatchResponse::Invalid(Invalid::NotJson),
        _ => return BatchResponse::Unproven,
    };
    let failures = match object.get(MEMBER) {
        // Not read as Lambda reads it, or meant to name failures: Lambda may not do what the function says.
        None if has_member || core::str::from_utf8(response).is_err() => return BatchResponse::Unproven,
        None if object.keys().any(|name| is_misspelt(name)) => return BatchResponse::Unproven,
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

/// Whether a name is [`MEMBER`] in other letters, such as `BatchItemFailures`, `batch_item_failures` or
/// `batchItemFailure`. Lambda ignores it and deletes the whole batch.
fn is_misspelt(name: &str) -> bool {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    let letters = || name.bytes().filter(u8::is_ascii_alphanumeric).map(lower);
    let member = || MEMBER.bytes().map(lower);
    letters().eq(member()) || letters().eq(member().take(MEMBER.len() - 1))
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
        for success in [
            "",
            "null",
            "{}",
            "\"\"",
            "[]",
            "{\"statusCode\":200}",
            "{\"batchItemFailures\":null}",
            "{\"batchItemFailures\":[]}",
        ] {
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
        // Half an emoji, as Node writes it.
        check(r#"{"note":"order \ud83d","batchItemFailures":[{"itemIdentifier":"b"}]}"#, failed(&["b"]));
        let not_json = r#"{"batchItemFailures":[{"itemIdentifier":"b"}],"mean_ms":NaN}"#;
        check(not_json, BatchResponse::Invalid(Invalid::NotJson));
        for inside in [r#""{\"batchItemFailures\":[]}""#, r#"[{"batchItemFailures":[]}]"#] {
            check(inside, BatchResponse::Invalid(Invalid::NotAnObject));
        }
        let no_json = ["OK", "{\"mean_ms\":NaN}", "{\"a\":1e999}", "{", "\u{feff}null"];
        let no_object = ["\"ok\"", "17", "true", "[1]", "[\"a\"]"];
        let nested =
            ["{\"result\":{\"batchItemFailures\":[]}}", r#"{"statusCode":200,"body":"{\"batchItemFailures\":[]}"}"#];
        let misspelt = [
            "{\"BatchItemFailures\":[]}",
            "{\"batchItemFailure\":[]}",
            "{\"batch_item_failures\":[{\"itemIdentifier\":\"b\"}]}",
        ];
        check(" ", BatchResponse::Unproven);
        for unproven in no_json.iter().chain(&no_object).chain(&nested).chain(&misspelt) {
            check(unproven, BatchResponse::Unproven);
        }
        assert_eq!(read(b"{\"note\":\"\xff\"}", &batch), BatchResponse::Unproven);
        let named = b"{\"note\":\"\xff\",\"batchItemFailures\":[{\"itemIdentifier\":\"b\"}]}";
        assert_eq!(read(named, &batch), failed(&["b"]));
    }
}
