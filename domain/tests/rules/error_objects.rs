//! Errors that services and SDKs print as JSON: the same error means the same, wherever the letter carries it.

use crate::reader::cases;
use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::reading::{Class, Reading};
use serde_json::{Value, json};

fn letter(body: &str, attributes: &[(&str, &str)]) -> Reading {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::text(*value)));
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: body.into(), attributes: attributes.collect(), ..Content::default() },
        system: SystemAttributes::default(),
    };
    read(&message, &Policy::default())
}

/// The places in which a letter carries an error's message, with this one.
fn carried(message: &str) -> Vec<(&'static str, Reading)> {
    let stamp = json!({"v": 1, "error_type": "Error", "message": message}).to_string();
    let record = |answer: Value| {
        json!({"requestContext": {"condition": "RetriesExhausted"}, "requestPayload": {"order": 7}, "responsePayload": answer}).to_string()
    };
    let failed = json!({"errorType": "Error", "errorMessage": message});
    let caught = json!({"Error": "Error", "Cause": message}).to_string();
    let team = |error: Value| json!({"originalMessage": {"order": 7}, "error": error}).to_string();
    let mut places = vec![
        ("a stamp", letter("{}", &[("dlo.failure", &stamp)])),
        ("an attribute", letter("{}", &[("ErrorMessage", message)])),
        ("an attribute beside a type", letter("{}", &[("errorType", "Error"), ("errorMessage", message)])),
        ("a destination", letter(&record(failed), &[])),
        ("a state machine", letter(&caught, &[])),
        ("an envelope's text", letter(&team(message.into()), &[])),
    ];
    // Some writers do not turn the object into a text.
    if let Some(object) = serde_json::from_str(message).ok().filter(Value::is_object) {
        let object: Value = object;
        places.push(("an envelope's object", letter(&team(object.clone()), &[])));
        places.push(("a destination's object", letter(&record(object), &[])));
    }
    places
}

#[test]
fn an_error_object_means_the_same_in_every_place() {
    let (mut wrong, mut all) = (Vec::new(), 0);
    let rows = cases("shapes_classes.txt");
    for row in rows.iter().filter(|row| ["objects", "after_prefix"].contains(&row.mechanism.as_str())) {
        let (expected, message) = (&row.fields[0], &row.fields[2]);
        let class = match expected.split(' ').next() {
            Some("T") => Class::Transient,
            Some("P") => Class::Permanent,
            _ => Class::Unknown,
        };
        for (place, reading) in carried(message) {
            let found = &reading.diagnosis.classification;
            all += 1;
            if found.class != class {
                let failure = &reading.diagnosis.failure;
                wrong.push(format!("{place}: {expected}, not {found:?}\n  {message}\n  {failure:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all}\n{}", wrong.len(), wrong.join("\n"));
}

/// An order has a name, a code and a status, too. Only a place that says why the message failed makes them an error, and
/// not even there if the object is one of a thing.
#[test]
fn a_payload_is_no_error_in_any_place() {
    let rows = cases("shapes_classes.txt");
    for row in rows.iter().filter(|row| row.mechanism == "payloads") {
        // An object that is named `error` is one, whatever it has.
        let texts = carried(&row.fields[2]).into_iter().filter(|(place, _)| !place.ends_with("object"));
        for (place, reading) in texts {
            let found = &reading.diagnosis.classification;
            assert_ne!(found.firm_class(), Class::Transient, "{place}: {found:?}\n{}", row.fields[2]);
        }
    }
    for row in rows.iter().filter(|row| ["objects", "payloads"].contains(&row.mechanism.as_str())) {
        let own = letter(&row.fields[2], &[]).diagnosis;
        assert!(own.failure.is_empty() && own.classification.class != Class::Transient, "{own:?}");
    }
}
