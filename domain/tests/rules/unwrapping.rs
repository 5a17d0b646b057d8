//! What is sent back: a message that SQS redrove goes back as it lay, whatever it looks like. Any other message loses
//! the envelope that was added when it died. Which of the two it was comes from SQS alone.

use super::envelopes::{fixtures, message};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content, DeadMessage};
use domain::policy::{Policy, QueuePolicy};
use domain::read::{Stamp, read};
use domain::reading::{Reading, Replayability};
use std::collections::BTreeSet;

const MAIN: &str = "arn:aws:sqs:eu-west-1:111122223333:orders";

/// What is sent back of a message that no redrive policy moved.
enum Sent {
    /// The body as it lay, without these attributes.
    Body(&'static [&'static str]),
    /// The original inside the body.
    Original,
    /// Nothing: the letter does not contain the message.
    Nothing,
}
use Sent::{Body, Nothing, Original};

#[rustfmt::skip]
const FORMS: &[(&str, Sent)] = &[
    // Whoever sent the message may have set them.
    ("attributes", Body(&[])),
    ("attributes_python", Body(&[])),
    ("attributes_redriven", Body(&[])),
    ("celery", Body(&[])),
    ("celery_protocol_1", Body(&[])),
    ("cloudevents_base64", Body(&[])),
    ("cloudevents_binary", Body(&[])),
    ("cloudevents_structured", Body(&[])),
    ("consumer_stamp", Body(&["dlo.failure"])),
    ("consumer_stamp_garbled", Body(&["dlo.failure"])),
    // Two carriers: the stamp lies next to the message, so the body is the message.
    ("consumer_stamp_in_doubt", Body(&["dlo.failure"])),
    ("dynamodb_stream", Nothing),
    ("eventbridge_event", Body(&[])),
    ("eventbridge_rule", Body(&["RULE_ARN", "TARGET_ARN", "ERROR_CODE", "ERROR_MESSAGE", "EXHAUSTED_RETRY_CONDITION", "RETRY_ATTEMPTS"])),
    ("eventbridge_rule_to_lambda", Body(&["RULE_ARN", "TARGET_ARN", "ERROR_CODE", "ERROR_MESSAGE", "EXHAUSTED_RETRY_CONDITION", "RETRY_ATTEMPTS"])),
    ("kafka_connect", Body(&["__connect.errors."])),
    ("kinesis_stream", Nothing),
    ("lambda_async", Body(&["RequestID", "ErrorCode", "ErrorMessage"])),
    ("lambda_async_throttled", Body(&["RequestID", "ErrorCode", "ErrorMessage"])),
    ("lambda_destination", Original),
    ("lambda_destination_age", Original),
    ("lambda_destination_in_sns", Original),
    ("masstransit_fault", Body(&["MT-Fault-", "MT-Reason", "MT-Host-"])),
    ("masstransit_skipped", Body(&["MT-Fault-", "MT-Reason", "MT-Host-"])),
    ("nservicebus_attribute", Body(&["NServiceBus.ExceptionInfo.", "NServiceBus.FailedQ", "NServiceBus.TimeOfFailure"])),
    ("nservicebus_body_in_s3", Nothing),
    ("nservicebus_transport_message", Body(&[])),
    // Packing is the sender's, not the envelope's.
    ("packed_base64", Body(&[])),
    ("packed_bomb", Body(&[])),
    ("packed_gzip", Body(&[])),
    ("packed_gzip_in_sns", Body(&[])),
    ("packed_string", Body(&[])),
    ("pipes_kinesis", Nothing),
    ("plain", Body(&[])),
    ("pubsub_attributes", Body(&["CloudPubSubDeadLetter"])),
    // A bridge writes every message in this form, dead or not.
    ("pubsub_push", Body(&[])),
    ("rabbitmq_amqp10", Body(&["x-death", "x-first-death-", "x-last-death-"])),
    ("rabbitmq_attributes", Body(&["x-death", "x-first-death-", "x-last-death-"])),
    ("rabbitmq_in_body", Body(&[])),
    ("s3_notification", Body(&[])),
    ("s3_pointer", Nothing),
    ("s3_pointer_legacy", Nothing),
    ("s3_test_event", Body(&[])),
    ("scheduler", Body(&["SCHEDULE_ARN", "TARGET_ARN", "ERROR_", "EXHAUSTED_RETRY_CONDITION", "RETRY_ATTEMPTS", "EXECUTION_ID", "IS_PAYLOAD_TRUNCATED", "SCHEDULED_TIME"])),
    ("scheduler_truncated", Nothing),
    ("service_bus", Body(&["DeadLetterReason", "DeadLetterErrorDescription", "DeadLetterSource"])),
    ("service_bus_in_body", Body(&[])),
    ("sidekiq", Body(&[])),
    ("sidekiq_older", Body(&[])),
    ("sns_delivery_failure", Body(&["RequestID", "ErrorCode", "ErrorMessage"])),
    ("sns_raw", Body(&["RequestID", "ErrorCode", "ErrorMessage"])),
    // The consumer expects the notification.
    ("sns_wrapped", Body(&[])),
    ("sns_wrapped_redriven", Body(&[])),
    ("spring_kafka", Body(&["kafka_dlt-"])),
    ("sqs_event_of_one", Original),
    ("sqs_event_of_two", Nothing),
    ("sqs_redrive", Body(&[])),
    ("sqs_redrive_fair_queue", Body(&[])),
    ("sqs_redrive_fifo", Body(&[])),
    ("step_functions", Nothing),
    ("step_functions_beside_input", Body(&[])),
    ("team_envelope", Original),
    ("team_envelope_attempts", Original),
    ("team_envelope_record", Original),
    ("team_envelope_redriven", Original),
    ("team_envelope_text", Original),
    ("team_envelope_twice", Original),
    // An event of your own may have these names, too.
    ("team_wrapper", Body(&[])),
];

fn read_by(message: &DeadMessage, source_queue: Option<&str>) -> Reading {
    let mut message = message.clone();
    message.system.source_queue = source_queue.map(Into::into);
    // A default main queue makes no difference.
    let queues = QueuePolicy { default_main: Some(MAIN.into()), ..QueuePolicy::default() };
    read(&message, &Policy { queues, ..Policy::default() })
}

/// Whether `inner` is a part of `outer`, byte for byte: as JSON, or as the text of a JSON string, up to twice.
fn contains(outer: &str, inner: &str) -> bool {
    let quoted = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    outer.contains(inner) || outer.contains(&quoted(inner)) || outer.contains(&quoted(&quoted(inner)))
}

#[test]
fn each_form_is_unwrapped_unless_sqs_redrove_it() {
    let fixtures = fixtures();
    let named: BTreeSet<_> = FORMS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(named, fixtures.keys().cloned().collect(), "each form has a row");
    for (name, sent) in FORMS {
        let lay = message(&fixtures[*name]);
        let redriven = read_by(&lay, Some(MAIN));
        let mut as_it_lay = lay.content.clone();
        as_it_lay.attributes.remove(FAILURE_ATTRIBUTE);
        assert_eq!(redriven.original, as_it_lay, "{name}, redriven");

        let by_hand = read_by(&lay, None);
        match sent {
            Body(added) => {
                let is_added = |attribute: &String| added.iter().any(|prefix| attribute.starts_with(prefix));
                let mut without = lay.content.clone();
                without.attributes.retain(|attribute, _| !is_added(attribute));
                assert_eq!(by_hand.original, without, "{name}");
            }
            Original => {
                assert_ne!(by_hand.original.body, lay.content.body, "{name}");
                assert!(contains(&lay.content.body, &by_hand.original.body), "{name}: {}", by_hand.original.body);
                assert!(by_hand.original.body.contains("order.placed"), "{name}");
            }
            Nothing => assert_ne!(by_hand.diagnosis.replayability, Replayability::Replayable, "{name}"),
        }
    }
}

fn lying(body: &str) -> DeadMessage {
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), ..Content::default() },
        system: Default::default(),
    }
}

#[test]
fn a_body_next_to_a_stamp_is_the_message() {
    // The consumer stamped what it received, so none of these bodies was written by whom dead-lettered it.
    let record = r#"{"Records":[{"messageId":"m-0","body":"inner","eventSource":"aws:sqs","messageAttributes":{}}]}"#;
    let envelope = r#"{"originalMessage":{"a":1},"failureReason":{"message":"m"},"processingContext":{}}"#;
    let notification = serde_json::json!({"Type": "Notification", "TopicArn": "t", "Message": envelope}).to_string();
    let text = serde_json::to_string(envelope).unwrap();
    for body in [record, envelope, &notification, &text] {
        for source_queue in [None, Some(MAIN)] {
            let mut letter = lying(body);
            let stamp = Stamp { message: Some("gave up".into()), ..Stamp::default() };
            letter.content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
            assert_eq!(read_by(&letter, source_queue).original.body, body);
        }
    }
}

#[test]
fn a_stamp_that_the_body_quotes_is_no_stamp() {
    let quoted = serde_json::to_string(
        r#"{"v":1,"message":"m","main_queue":"arn:aws:sqs:r:1:other","original_message_id":"m-0"}"#,
    )
    .unwrap();
    let letter = lying(&format!(r#"{{"headers":{{"dlo.failure":{quoted}}},"order":7}}"#));
    let redriven = read_by(&letter, Some(MAIN));
    assert_eq!(redriven.main_queue.as_ref().map(|queue| queue.as_str()), Some(MAIN));
    assert_eq!(redriven.original_message_id.as_str(), "m-1");
    assert_eq!(redriven.original, letter.content);
}

#[test]
fn only_an_unmistakable_envelope_is_unwrapped() {
    const RECORD: &str = r#"{"messageId":"m-0","body":"{\"order\":7}","receiptHandle":"AQEB"}"#;
    let rows: &[(&str, bool)] = &[
        (
            r#"{"originalMessage":{"order":7},"failureReason":{"message":"m"},"processingContext":{},"environmentContext":{}}"#,
            true,
        ),
        (r#"{"originalMessage":{"order":7},"failureReason":{"message":"m"}}"#, true),
        (r#"{"original_message":"{\"order\":7}","error":"m","timestamp":"2026-11-19T08:01:02Z","attempts":3}"#, true),
        (r#"{"OriginalMessage":{"order":7},"FailureReason":{"Message":"m"},"FailedAt":"2026-11-19T08:01:02Z"}"#, true),
        (r#"{"originalMessage":{"order":7},"processingContext":{},"environmentContext":{}}"#, true),
        // A member of the application's own does not matter next to a context that only an envelope has.
        (
            r#"{"type":"dead","originalMessage":{"order":7},"failureReason":{"message":"m"},"processingContext":{}}"#,
            true,
        ),
        (&r#"{"type":"dead","originalMessage":RECORD,"error":"m"}"#.replace("RECORD", RECORD).leak()[..], true),
        // Events of an application, and other texts.
        (r#"{"type":"payment.failed","originalPayload":{"order":7},"failureReason":"card declined"}"#, false),
        (
            r#"{"recipient":"a@b.example","originalMessage":{"order":7},"error":{"code":550,"message":"mailbox full"}}"#,
            false,
        ),
        (r#"{"originalMessage":{"order":7},"reason":"spam"}"#, false),
        (r#"{"originalMessage":{"order":7},"reason":"spam","context":{"user":"u"}}"#, false),
        (r#"{"originalMessage":{"order":7},"error":false}"#, false),
        (r#"{"originalMessage":{"order":7},"error":null}"#, false),
        (r#"{"originalMessage":{"order":7},"metadata":{"user":"u"}}"#, false),
        (r#"{"originalMessage":{"order":7},"processingContext":{}}"#, false),
        (r#"{"failureReason":{"message":"m"},"processingContext":{},"environmentContext":{}}"#, false),
        (r#"{"message":{"order":7},"failureReason":{"message":"m"}}"#, false),
    ];
    for (body, unwrapped) in rows {
        let reading = read_by(&lying(body), None);
        let sent = &reading.original.body;
        assert_eq!(sent, if *unwrapped { "{\"order\":7}" } else { body }, "{body}");
        assert_eq!(read_by(&lying(body), Some(MAIN)).original.body, *body, "redriven: {body}");
        // What is neither stays readable as evidence, and a remark tells why it stays.
        let doubted =
            reading.diagnosis.remarks.iter().any(|remark| remark.starts_with("It looks like an error envelope"));
        assert_eq!(doubted, !unwrapped && reading.diagnosis.failure != Default::default(), "{body}");
    }
}
