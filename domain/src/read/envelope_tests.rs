//! Priority and doubt: which form counts if a letter has the signs of several. The fixtures of
//! `domain/tests/rules/envelopes.rs` specify what each form yields.

use super::*;
use crate::message::{Attribute, SystemAttributes};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn open_with(body: &str, attributes: &[&str], redriven: bool) -> (Opened, String) {
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content {
            body: body.into(),
            attributes: attributes.iter().map(|name| (name.to_string(), Attribute::text("1"))).collect(),
            ..Content::default()
        },
        system: SystemAttributes {
            source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            ..SystemAttributes::default()
        },
    };
    let mut innermost = String::new();
    let opened = open(&message, &mut |layer, _| innermost = layer.text.into());
    (opened, innermost)
}

const LAMBDA: [&str; 3] = ["RequestID", "ErrorCode", "ErrorMessage"];
const NOTIFICATION: &str = r#"{"Type":"Notification","TopicArn":"t","Message":"{\"a\":1}"}"#;
const TEAM: &str = r#"{"originalMessage":{"a":1},"error":{"message":"m"}}"#;

#[test]
fn the_table_decides_between_signs_of_several_forms() {
    let rows: &[(&str, &[&str], EnvelopeKind)] = &[
        ("{}", &LAMBDA, EnvelopeKind::LambdaAsync),
        // Two of three signs are not enough.
        ("{}", &LAMBDA[..2], EnvelopeKind::Plain),
        (NOTIFICATION, &LAMBDA, EnvelopeKind::Sns),
        (NOTIFICATION, &[], EnvelopeKind::Sns),
        (r#"{"Type":"Notification"}"#, &[], EnvelopeKind::Plain),
        (r#"{"Type":"SubscriptionConfirmation","TopicArn":"t","Message":"m"}"#, &[], EnvelopeKind::Plain),
        ("{}", &["RULE_ARN", "SCHEDULE_ARN"], EnvelopeKind::Scheduler),
        (TEAM, &["RULE_ARN"], EnvelopeKind::EventBridgeRule),
        (TEAM, &[], EnvelopeKind::BodyEnvelope),
        (r#"{"originalMessage":{"a":1}}"#, &[], EnvelopeKind::Plain),
        (r#"{"originalMessage":{},"error":{"Error":"E","Cause":"c"}}"#, &[], EnvelopeKind::BodyEnvelope),
        (r#"{"Error":"E"}"#, &[], EnvelopeKind::Plain),
        (r#"{"requestContext":{"http":{"method":"POST"}}}"#, &[], EnvelopeKind::Plain),
        (r#"{"class":"C","jid":"j"}"#, &[], EnvelopeKind::Plain),
        (r#"{"headers":{"x-death":"no array"}}"#, &[], EnvelopeKind::Plain),
        (r#"{"Records":[]}"#, &[], EnvelopeKind::Plain),
        (r#"{"Headers":{},"Body":"aGk="}"#, &[], EnvelopeKind::Plain),
        // An unreadable stamp does not count.
        (TEAM, &[FAILURE_ATTRIBUTE], EnvelopeKind::BodyEnvelope),
    ];
    for (body, attributes, kind) in rows {
        assert_eq!(open_with(body, attributes, false).0.kind, *kind, "{body} {attributes:?}");
    }
}

#[test]
fn doubt_gets_a_remark() {
    let (opened, _) = open_with(TEAM, &LAMBDA, false);
    assert!(opened.facts.remarks.iter().any(|r| r == "It also carries an error envelope, which was ignored."));
    let (opened, _) = open_with(TEAM, &[], true);
    assert!(opened.facts.remarks.iter().any(|r| r == CARRIED_BEFORE));
}

#[test]
fn wrappings_are_opened_up_to_the_limit() {
    let nested = |levels: usize| {
        (0..levels).fold(String::from("{\"a\":1}"), |inner, _| {
            format!(r#"{{"originalMessage":{inner},"error":{{"message":"m"}}}}"#)
        })
    };
    let (opened, innermost) = open_with(&nested(DEPTH_MAX), &[], true);
    assert_eq!(innermost, "{\"a\":1}");
    assert!(!opened.facts.remarks.iter().any(|r| r.contains("wrapped more than")));
    let (opened, innermost) = open_with(&nested(1_000), &[], true);
    assert!(innermost.starts_with("{\"originalMessage\""));
    assert!(opened.facts.remarks.iter().any(|r| r.contains("wrapped more than")));
}

#[test]
fn stripped_prefixes_are_too_specific_to_hit_a_teams_own_attributes() {
    let names: Vec<&str> = CARRIERS.iter().flat_map(|form| form.adds).copied().collect();
    assert!(names.iter().all(|name| name.len() > 4));
}
