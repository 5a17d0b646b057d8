//! One row per form: what kind of envelope it is, and what failure it carries.

use super::*;
use crate::message::{Attribute, Content, SystemAttributes};
use alloc::vec;

fn message(body: &str, attributes: &[(&str, &str)], redriven: bool) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content {
            body: body.into(),
            attributes: attributes.iter().map(|(n, v)| (n.to_string(), Attribute::text(*v))).collect(),
            ..Content::default()
        },
        system: SystemAttributes {
            source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            ..SystemAttributes::default()
        },
    }
}

fn check(body: &str, attributes: &[(&str, &str)], redriven: bool, expected: &str) {
    let opened = open(&message(body, attributes, redriven));
    let failure = &opened.failure;
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    let line = format!(
        "{:?}|{}|{}|{}|{}",
        opened.kind,
        part(&failure.error_type),
        part(&failure.message),
        part(&failure.stack).replace('\n', "~"),
        part(&opened.original_body)
    );
    assert_eq!(line, expected, "{body}");
}

#[test]
fn each_form_is_recognised_and_its_failure_read() {
    check(r#"{"a":1}"#, &[], true, "SqsRedrive||||");
    check("anything", &[], false, "Plain||||");
    check("{}", &[("dlo.failure", r#"{"v":1,"error_type":"E","message":"m","stack":"s"}"#)], false, "Consumer|E|m|s|");
    check("{}", &[("dlo.failure", "garbage")], true, "SqsRedrive||||");
    check(
        "{}",
        &[("RequestID", "6f1c"), ("ErrorCode", "200"), ("ErrorMessage", "KeyError: 'sku'")],
        false,
        "LambdaAsync|KeyError|'sku'||",
    );
    check(
        r#"{"detail-type":"x"}"#,
        &[("RULE_ARN", "arn"), ("ERROR_CODE", "NO_PERMISSIONS"), ("ERROR_MESSAGE", "denied")],
        false,
        "EventBridgeRule|NO_PERMISSIONS|denied||",
    );
    check("{}", &[("SCHEDULE_ARN", "arn"), ("ERROR_CODE", "AWS.X")], false, "Scheduler|AWS.X|||");
    check(
        r#"{"requestContext":{"condition":"RetriesExhausted","approximateInvokeCount":3},"requestPayload":{"invoice": 77},"responsePayload":{"errorMessage":"boom","errorType":"ValueError","stackTrace":["a","b"]}}"#,
        &[],
        false,
        r#"LambdaDestination|ValueError|boom|a~b|{"invoice": 77}"#,
    );
    check(r#"{"Type":"Notification","TopicArn":"t","Message":"{\"type\":\"x\"}"}"#, &[], false, "Sns||||");
    check(
        r#"{"originalMessage":{"id": 1.50},"failureReason":{"errorMessage":"bad","errorStack":"at x","errorType":"T"},"processingContext":{"service":"s"}}"#,
        &[],
        false,
        r#"BodyEnvelope|T|bad|at x|{"id": 1.50}"#,
    );
    check(
        r#"{"originalMessage":"{\"id\":1}","failureReason":"ValueError: bad"}"#,
        &[],
        false,
        r#"BodyEnvelope|ValueError|bad||{"id":1}"#,
    );
    check(r#"{"originalMessage":"x","failureReason":{"message":"bad"}}"#, &[], true, "BodyEnvelope||bad||");
}

#[test]
fn truncated_and_metadata_only_letters_are_not_replayable() {
    let schedule = [("SCHEDULE_ARN", "arn"), ("IS_PAYLOAD_TRUNCATED", "true")];
    let stream = r#"{"requestContext":{"condition":"RetryAttemptsExhausted"},"KinesisBatchInfo":{}}"#;
    for opened in [open(&message("{", &schedule, false)), open(&message(stream, &[], false))] {
        assert!(matches!(opened.replayability(), Replayability::NotReplayable { .. }));
    }
}

#[test]
fn a_pointer_into_s3_is_remarked() {
    let body = r#"["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]"#;
    assert_eq!(
        open(&message(body, &[], true)).remarks,
        vec!["The payload lies in S3; this message is a pointer to it."]
    );
}
