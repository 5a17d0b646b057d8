//! Every form of dead letter in its vendor's documented shape, compared with a golden table of readings.
//!
//! Each fixture names its source. `UPDATE=1 cargo test -p dlo-domain --test rules` rewrites the table; review the
//! difference.

use domain::id::QueueArn;
use domain::message::{Attribute, AttributeValue, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::json::Raw;
use domain::read::read;
use domain::reading::{Reading, Replayability};
use domain::time::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The fixtures by name.
pub fn fixtures() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder().join("fixtures/envelopes")).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| {
        (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

/// Builds the message of a fixture. A body that is not a string stands for its own text, byte for byte.
pub fn message(text: &str) -> DeadMessage {
    let fixture: Value = serde_json::from_str(text).unwrap();
    let flag = |name: &str| fixture[name] == true;
    let end = if flag("fifo") { ".fifo" } else { "" };
    let moment = |name: &str| fixture["system"][name].as_i64().map(Timestamp::from_ms);
    let body = Raw::new(text).get("body").unwrap();
    let attributes = fixture["attributes"].as_object().into_iter().flatten().map(|(name, value)| {
        let attribute = match value.as_object().and_then(|o| o.iter().next()) {
            Some((kind, value)) if kind == "Binary" => {
                Attribute { data_type: kind.clone(), value: AttributeValue::Binary(value.as_str().unwrap().into()) }
            }
            Some((_, value)) => Attribute::number(value.as_str().unwrap()),
            None => Attribute::text(value.as_str().unwrap()),
        };
        (name.clone(), attribute)
    });
    DeadMessage {
        dlq: format!("arn:aws:sqs:eu-west-1:111122223333:orders-dlq{end}").as_str().into(),
        message_id: "m-1".into(),
        content: Content {
            body: body.as_string().unwrap_or_else(|| body.text().to_string()),
            attributes: attributes.collect(),
            message_group_id: fixture["message_group_id"].as_str().map(String::from),
            ..Content::default()
        },
        system: SystemAttributes {
            source_queue: flag("redriven")
                .then(|| format!("arn:aws:sqs:eu-west-1:111122223333:orders{end}").as_str().into()),
            sent_at: moment("sent_at"),
            first_received_at: moment("first_received_at"),
            receive_count: fixture["system"]["receive_count"].as_u64().map(|n| n as u32),
            ..SystemAttributes::default()
        },
    }
}

/// The reading, one line for each present part.
fn lines(message: &DeadMessage, reading: &Reading) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(out, "  {name:<13} {}", value.replace('\n', " ~ ")).unwrap();
        }
    };
    let word = |value: Value| value.as_str().map(String::from);
    let at = |moment: Option<Timestamp>| moment.map(|at| at.as_ms().to_string());
    let service = |name: &Option<String>, version: &Option<String>| match (name, version) {
        (None, None) => None,
        (name, version) => Some(format!("{} {}", name.as_deref().unwrap_or("?"), version.as_deref().unwrap_or("-"))),
    };
    let failure = &reading.diagnosis.failure;
    line("envelope", word(serde_json::to_value(reading.diagnosis.envelope).unwrap()));
    line("error type", failure.error_type.clone());
    line("message", failure.message.clone());
    line("stack", failure.stack.clone());
    line("type", reading.diagnosis.message_type.clone());
    line("tenant", reading.diagnosis.tenant.clone());
    line("producer", service(&reading.diagnosis.producer, &reading.diagnosis.producer_version));
    line("consumer", service(&reading.diagnosis.consumer, &reading.diagnosis.consumer_version));
    line("attempts", reading.diagnosis.attempts.map(|n| n.to_string()));
    line("sent", at(reading.sent_at));
    line("first tried", at(reading.diagnosis.first_tried_at));
    line("failed", at(reading.failed_at));
    line("deadline", at(reading.diagnosis.impact.deadline));
    line("money", reading.diagnosis.impact.money.map(|money| format!("{} {}", money.amount, money.currency)));
    line("customer", reading.diagnosis.impact.customer.clone());
    line("main queue", reading.main_queue.as_ref().map(|queue| queue.to_string()));
    line("id", Some(reading.original_message_id.to_string()).filter(|id| id != message.message_id.as_str()));
    line("group id", reading.original.message_group_id.clone());
    let body = if reading.original.body == message.content.body { "unchanged" } else { &reading.original.body };
    line("body", Some(body.to_string()));
    line(
        "attributes",
        Some(reading.original.attributes.keys().cloned().collect::<Vec<_>>().join(" ")).filter(|s| !s.is_empty()),
    );
    let kind = word(serde_json::to_value(&reading.diagnosis.replayability).unwrap()["kind"].clone());
    line("replay", kind.filter(|_| reading.diagnosis.replayability != Replayability::Replayable));
    line("because", reading.diagnosis.replayability.reason().map(String::from));
    reading.diagnosis.remarks.iter().for_each(|remark| line("remark", Some(remark.clone())));
    out
}

#[test]
fn every_form_is_read_as_in_the_golden_table() {
    let mut table = String::new();
    let mut policy = Policy::default();
    policy.queues.main = ["orders", "orders.fifo"]
        .map(|name| QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}")))
        .into();
    for (name, text) in fixtures() {
        let fixture: Value = serde_json::from_str(&text).unwrap();
        let source = fixture["source"].as_str().filter(|source| source.len() > 10);
        let message = message(&text);
        let reading = read(&message, &policy);
        writeln!(table, "{name}: {}\n{}", source.expect(&name), lines(&message, &reading)).unwrap();
    }
    let golden = folder().join("golden/envelopes.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&golden, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    for (read, expected) in table.split("\n\n").zip(expected.split("\n\n")) {
        assert_eq!(read, expected);
    }
    assert_eq!(table, expected);
}

#[test]
fn a_redriven_message_is_sent_back_unchanged() {
    let redriven = fixtures().into_values().map(|text| message(&text)).filter(|m| m.system.source_queue.is_some());
    for message in redriven {
        let reading = read(&message, &Policy::default());
        let mut content = message.content.clone();
        content.attributes.remove("dlo.failure");
        assert_eq!((reading.original, reading.original_message_id), (content, message.message_id));
    }
}
