//! An error's code in a message's attributes, without a message.

use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::reading::{Class, Diagnosis};

fn message(attributes: &[(&str, &str)]) -> DeadMessage {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::text(*value)));
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: "{}".into(), attributes: attributes.collect(), ..Content::default() },
        system: SystemAttributes::default(),
    }
}

fn diagnosis(attributes: &[(&str, &str)]) -> Diagnosis {
    read(&message(attributes), &Policy::default()).diagnosis
}

#[test]
fn a_code_alone_in_an_attribute_is_an_error_if_it_is_the_name_of_one() {
    for (name, value) in [
        ("ErrorCode", "500"),
        ("ErrorCode", "429"),
        ("errorType", "KeyError"),
        ("error_type", "java.net.SocketTimeoutException"),
        ("ERROR_CODE", "ThrottlingException"),
        ("error-code", "ECONNRESET"),
        ("ErrorCode", "HTTP 503"),
    ] {
        let diagnosis = diagnosis(&[(name, value)]);
        assert_eq!(diagnosis.failure.error_type.as_deref(), Some(value), "{name}");
        assert_eq!(diagnosis.failure.message, None);
        assert!(diagnosis.remarks.iter().any(|remark| remark.contains(name)), "{:?}", diagnosis.remarks);
    }
    for value in [
        "0",
        "OK",
        "NONE",
        "none",
        "200",
        "302",
        "SUCCESS",
        "NO_ERROR",
        "UNKNOWN",
        "N/A",
        "1",
        "true",
        "",
        " ",
        "order.placed",
        "42000 ",
        "7",
    ] {
        assert!(diagnosis(&[("ErrorCode", value)]).failure.is_empty(), "{value}");
        assert!(diagnosis(&[("error_type", value)]).failure.is_empty(), "{value}");
    }
    // A code says more than a kind that is no name.
    let both = diagnosis(&[("errorType", "order"), ("errorCode", "503")]);
    assert_eq!(both.failure.error_type.as_deref(), Some("503"));
}

/// SQS adds no attribute to a message that it moves: the code was there before the message failed.
#[test]
fn a_code_alone_says_nothing_of_a_redriven_message() {
    let mut message = message(&[]);
    message.content.attributes.insert("ErrorCode".to_owned(), Attribute::number("503"));
    let by_hand = read(&message, &Policy::default());
    let found = &by_hand.diagnosis;
    assert_eq!((found.failure.error_type.as_deref(), found.classification.class), (Some("503"), Class::Transient));
    assert_eq!(by_hand.original, message.content, "an event of your own may have such attributes");
    message.system.source_queue = Some("arn:aws:sqs:eu-west-1:111122223333:orders".into());
    assert!(read(&message, &Policy::default()).diagnosis.failure.is_empty());
}
