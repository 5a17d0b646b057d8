//! Error envelopes as teams write them: what is restored of the original, and what is read besides.

use domain::message::{Attribute, AttributeValue, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::reading::{Reading, Replayability};
use domain::time::Timestamp;
use serde_json::{Value, json};

/// 2026-11-19T08:00:00Z.
const EIGHT_MS: i64 = 1_795_075_200_000;

fn by_hand(body: &str) -> Reading {
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), trace_header: Some("Root=outer".into()), ..Content::default() },
        system: SystemAttributes::default(),
    };
    read(&message, &Policy::default())
}

fn envelope(parts: Value) -> Reading {
    by_hand(&parts.to_string())
}

/// The remarks on parts of the original that could not be restored exactly.
fn remarks(reading: &Reading) -> Vec<&str> {
    let about_original = |remark: &&str| remark.contains("original");
    reading.diagnosis.remarks.iter().map(String::as_str).filter(about_original).collect()
}

#[test]
fn a_body_is_restored_byte_for_byte_or_a_remark_says_why_not() {
    const AS_JSON: &str = "The envelope holds the original body as JSON";
    const DAMAGED: &str = "The original body contains half a character";
    const BASE64: &str = "The original body is base64 and is sent back as base64";
    const NOT_BASE64: &str = "The envelope says that the original body is base64, but";
    const ENCODED: &str = "The envelope says that the original body is encoded";
    // The envelope's members besides the failure, the restored body, the beginning of the remark.
    let rows: &[(&str, &str, Option<&str>)] = &[
        (r#""originalMessage":"{ \"n\": 1.0 }""#, "{ \"n\": 1.0 }", None),
        (r#""originalMessage":"a line\nand \u00e9, \ud83d\ude00""#, "a line\nand é, 😀", None),
        (r#""originalMessage":"half \ud83d of it""#, "half \u{fffd} of it", Some(DAMAGED)),
        (r#""originalMessage":"\ufffd was sent so""#, "\u{fffd} was sent so", None),
        (r#""originalMessage":{ "n" : 1.0,  "m":1e2 }"#, r#"{ "n" : 1.0,  "m":1e2 }"#, Some(AS_JSON)),
        (r#""originalMessage":[1, 2]"#, "[1, 2]", Some(AS_JSON)),
        (r#""originalMessage":null,"originalBody":"second""#, "second", None),
        (r#""originalMessage":"eyJvcmRlciI6NywibiI6MX0=""#, "eyJvcmRlciI6NywibiI6MX0=", Some(BASE64)),
        (r#""originalMessage":"eyJvcmRlciI6NywibiI6MX0=","encoding":"base64""#, r#"{"order":7,"n":1}"#, None),
        (r#""originalMessage":"eyJvcmRlciI6NywibiI6MX0=","isBase64Encoded":true"#, r#"{"order":7,"n":1}"#, None),
        (r#""originalMessage":"not base64!","encoding":"base64""#, "not base64!", Some(NOT_BASE64)),
        (r#""originalMessage":"H4sIAAAA","encoding":"gzip""#, "H4sIAAAA", Some(ENCODED)),
        (r#""originalMessage":"text","encoding":"utf-8""#, "text", None),
    ];
    for (parts, body, remark) in rows {
        let reading = by_hand(&format!(r#"{{{parts},"failureReason":"m","messageAttributes":{{}}}}"#));
        assert_eq!(reading.original.body, *body, "{parts}");
        let remarks = remarks(&reading);
        assert_eq!(remarks.len(), usize::from(remark.is_some()), "{parts}: {remarks:?}");
        assert!(remarks.iter().zip(remark).all(|(is, expected)| is.starts_with(expected)), "{parts}: {remarks:?}");
        assert_eq!(reading.original.trace_header.as_deref(), Some("Root=outer"));
    }
}

#[test]
fn an_envelope_without_its_message_is_not_sent_back() {
    for (parts, kind) in [
        (r#""originalMessage":null"#, "metadata_only"),
        (r#""originalMessage":"  ""#, "metadata_only"),
        (r#""originalMessage":7"#, "metadata_only"),
        (r#""originalMessage":"{\"order\":","truncated":true"#, "truncated"),
    ] {
        let reading = by_hand(&format!(r#"{{{parts},"failureReason":"m"}}"#));
        let replayability = serde_json::to_value(&reading.diagnosis.replayability).unwrap();
        assert_eq!(replayability["kind"], kind, "{parts}");
    }
    let destination = r#"{"requestContext":{"condition":"RetriesExhausted"},"responsePayload":{"errorMessage":"m"}}"#;
    assert!(matches!(by_hand(destination).diagnosis.replayability, Replayability::MetadataOnly { .. }));
}

#[test]
fn a_whole_record_comes_back_with_its_attributes() {
    let in_lambda = json!({
        "messageId": "m-0", "receiptHandle": "AQEB", "body": "{\"order\":7}", "eventSource": "aws:sqs",
        "attributes": {"MessageGroupId": "g-1", "AWSTraceHeader": "Root=inner", "ApproximateReceiveCount": "4"},
        "messageAttributes": {
            "count": {"dataType": "Number.int", "stringValue": "1.50"},
            "bytes": {"dataType": "Binary", "binaryValue": "AAE="},
            "dlo.failure": {"dataType": "String", "stringValue": "of an earlier death"},
        },
    });
    let in_api = json!({
        "MessageId": "m-0", "ReceiptHandle": "AQEB", "Body": "{\"order\":7}", "MD5OfBody": "x",
        "Attributes": {"MessageGroupId": "g-1", "AWSTraceHeader": "Root=inner", "ApproximateReceiveCount": "4"},
        "MessageAttributes": {
            "count": {"DataType": "Number.int", "StringValue": "1.50"},
            "bytes": {"DataType": "Binary", "BinaryValue": "AAE="},
        },
    });
    let as_text = Value::String(in_lambda.to_string());
    for record in [in_lambda, in_api, as_text] {
        let reading = envelope(json!({"originalMessage": record, "failureReason": "m"}));
        let bytes = Attribute { data_type: "Binary".into(), value: AttributeValue::Binary("AAE=".into()) };
        let count = Attribute { data_type: "Number.int".into(), value: AttributeValue::Text("1.50".into()) };
        let expected = Content {
            body: "{\"order\":7}".into(),
            attributes: [("bytes".to_string(), bytes), ("count".to_string(), count)].into(),
            message_group_id: Some("g-1".into()),
            trace_header: Some("Root=inner".into()),
        };
        assert_eq!(reading.original, expected, "{record}");
        assert_eq!(reading.diagnosis.attempts, Some(4), "{record}");
        assert_eq!(remarks(&reading), Vec::<&str>::new(), "{record}");
    }
}

#[test]
fn an_applications_own_id_and_body_are_no_record() {
    let mail = r#"{"messageId":"mail-7","body":"Dear Anna","to":"anna@shop.example"}"#;
    let reading = by_hand(&format!(r#"{{"originalMessage":{mail},"failureReason":"m"}}"#));
    assert_eq!((reading.original.body.as_str(), reading.original_message_id.as_str()), (mail, "m-1"));
}

#[test]
fn attributes_next_to_the_original_are_restored() {
    let reading = envelope(json!({
        "originalMessage": "body", "failureReason": "m", "originalMessageGroupId": "g-2",
        "originalMessageAttributes": {
            "typed": {"DataType": "String", "StringValue": "a"},
            "of_sns": {"Type": "Number", "Value": "7"},
            "text": "b",
            "number": 1.5,
            "list": ["c"],
            "alien": {"dataType": "Sorted", "stringValue": "d"},
        },
    }));
    let names: Vec<_> = reading.original.attributes.iter().map(|(name, a)| format!("{name} {}", a.data_type)).collect();
    assert_eq!(names, ["number Number", "of_sns Number", "text String", "typed String"]);
    assert_eq!(reading.original.message_group_id.as_deref(), Some("g-2"));
    assert_eq!(
        remarks(&reading),
        [
            "The envelope does not record the types of the original's attributes. Texts became String, numbers became Number.",
            "2 of the original's attributes could not be restored from the envelope.",
        ]
    );
    let reading = envelope(json!({"originalMessage": "body", "failureReason": "m"}));
    assert_eq!(remarks(&reading), ["The envelope does not record the original's message attributes."]);
}

/// One envelope in several spellings, with the same facts.
fn spellings() -> Vec<Value> {
    vec![
        json!({
            "originalMessage": {"order": 7},
            "failureReason": {"type": "GatewayError", "message": "no answer", "stack": "at pay (pay.js:7:1)", "timestamp": "2026-11-19T08:00:05Z"},
            "processingContext": {"totalAttempts": 3, "firstAttempt": "2026-11-19T08:00:00Z", "finalAttempt": "2026-11-19T08:00:04Z", "processingDuration": 4200, "handler": "pay", "correlationId": "c-1"},
            "environmentContext": {"service": "billing", "version": "2.3.1", "hostname": "web-3", "region": "eu-west-1"},
        }),
        json!({
            "original_message": {"order": 7},
            "failure_reason": {"error_type": "GatewayError", "error_message": "no answer", "stack_trace": ["at pay (pay.js:7:1)"]},
            "processing_context": {"total_attempts": "3", "first_attempt": {"timestamp": "2026-11-19T08:00:00Z"}, "final_attempt": {"timestamp": "2026-11-19T08:00:05Z", "error": "no answer"}, "processing_duration": "4200", "correlation_id": "c-1"},
            "environment_context": {"service_name": "billing", "service_version": "2.3.1", "host": "web-3", "aws_region": "eu-west-1", "handler": "pay"},
        }),
        json!({
            "OriginalMessage": {"order": 7},
            "FailureReason": {"ExceptionType": "GatewayError", "Message": "no answer", "StackTrace": "at pay (pay.js:7:1)"},
            "ProcessingContext": {"AttemptNumber": 3, "FirstAttemptAt": 1_795_075_200_000_i64, "FailedAt": 1_795_075_205_000_i64, "Handler": "pay", "CorrelationId": "c-1", "ProcessingDuration": 4200},
            "EnvironmentContext": {"Application": "billing", "AppVersion": "2.3.1", "MachineName": "web-3", "Region": "eu-west-1"},
        }),
        // Flat, with a code next to the details.
        json!({
            "originalMessage": {"order": 7},
            "failureReason": "GatewayError: no answer",
            "stackTrace": "at pay (pay.js:7:1)",
            "attempts": [{"at": "2026-11-19T08:00:00Z"}, {}, {}],
            "firstAttemptTime": "2026-11-19T08:00:00Z",
            "lastAttemptTime": "2026-11-19T08:00:05Z",
            "processingDuration": 4200,
            "service": "billing",
            "version": "2.3.1",
            "handler": "pay",
            "correlationId": "c-1",
            "host": "web-3",
            "region": "eu-west-1",
        }),
    ]
}

#[test]
fn facts_are_read_in_any_spelling() {
    for body in spellings() {
        let reading = envelope(body.clone());
        let found = &reading.diagnosis;
        assert_eq!(reading.original.body, "{\"order\":7}", "{body}");
        let failure =
            (found.failure.error_type.as_deref(), found.failure.message.as_deref(), found.failure.stack.as_deref());
        assert_eq!(failure, (Some("GatewayError"), Some("no answer"), Some("at pay (pay.js:7:1)")), "{body}");
        assert_eq!(found.attempts, Some(3), "{body}");
        assert_eq!(found.first_tried_at, Some(Timestamp::from_ms(EIGHT_MS)), "{body}");
        assert_eq!(reading.failed_at, Some(Timestamp::from_ms(EIGHT_MS + 5_000)), "{body}");
        let consumer = (found.consumer.as_deref(), found.consumer_version.as_deref());
        assert_eq!(consumer, (Some("billing"), Some("2.3.1")), "{body}");
        let said = "The envelope also records: host web-3, Region eu-west-1, handler pay, correlation ID c-1, processing duration 4200.";
        assert!(found.remarks.iter().any(|remark| remark == said), "{body}: {:?}", found.remarks);
    }
}

#[test]
fn the_time_of_the_error_counts_where_no_attempt_states_one() {
    for (parts, at_s) in [
        (r#""failureReason":{"message":"m","timestamp":"2026-11-19T08:00:05Z"},"processingContext":{}"#, Some(5)),
        (
            r#""failureReason":{"message":"m","timestamp":"2026-11-19T08:00:01Z"},"processingContext":{"finalAttempt":"2026-11-19T08:00:05Z"}"#,
            Some(5),
        ),
        (r#""failureReason":"m","processingContext":{"timestamp":"2026-11-19T08:00:05Z"}"#, Some(5)),
        (r#""failureReason":"m","timestamp":"2026-11-19T08:00:05Z""#, Some(5)),
        (r#""failureReason":"m","processingContext":{"finalAttempt":3}"#, None),
    ] {
        let reading = by_hand(&format!(r#"{{"originalMessage":"b",{parts}}}"#));
        assert_eq!(reading.failed_at, at_s.map(|s| Timestamp::from_ms(EIGHT_MS + s * 1000)), "{parts}");
    }
}

#[test]
fn details_win_over_a_code_next_to_them() {
    let reading = envelope(json!({
        "originalMessage": "b", "failureReason": "MAX_RETRIES_EXCEEDED",
        "errorDetails": {"name": "TimeoutError", "message": "timed out"}, "processingContext": {},
    }));
    let failure = reading.diagnosis.failure;
    assert_eq!((failure.error_type.as_deref(), failure.message.as_deref()), (Some("TimeoutError"), Some("timed out")));
    // A bare version next to the original is the envelope's, not the consumer's.
    let reading = envelope(json!({"originalMessage": "b", "failureReason": "m", "version": "1.0"}));
    assert_eq!(reading.diagnosis.consumer_version, None);
}
