//! Kafka's dead letters behind a bridge: Spring's `DeadLetterPublishingRecoverer` (spring-projects/spring-kafka,
//! `KafkaHeaders`) and Connect's reporter (apache/kafka, `DeadLetterQueueReporter`). Numbers are big-endian bytes.

use super::Opening;
use super::facts::Facts;
use super::failure::unwrapped;
use super::layer::{Headers, Layer};
use crate::reading::Failure;
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;

/// The headers `kafka_dlt-*`. Spring wraps the listener's exception, so the cause's class is more specific.
pub fn spring<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let dlt = |name: &str| headers.string(&format!("kafka_dlt-{name}"));
    let failure = Failure {
        error_type: dlt("exception-cause-fqcn").or_else(|| dlt("exception-fqcn")).or_else(|| dlt("key-exception-fqcn")),
        message: dlt("exception-message").or_else(|| dlt("key-exception-message")),
        stack: dlt("exception-stacktrace").or_else(|| dlt("key-exception-stacktrace")),
        stated_class: None,
    };
    let mut facts = Facts {
        failure,
        consumer: dlt("original-consumer-group"),
        sent_at: headers.number("kafka_dlt-original-timestamp").map(Timestamp::from_ms),
        ..Facts::default()
    };
    facts.remarks.extend(position(
        headers,
        "kafka_dlt-original-topic",
        "kafka_dlt-original-partition",
        "kafka_dlt-original-offset",
    ));
    Some(Opening::facts(facts))
}

/// The headers `__connect.errors.*`.
pub fn connect<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let header = |name: &str| headers.string(&format!("__connect.errors.{name}"));
    let failure = Failure {
        error_type: header("exception.class.name"),
        message: header("exception.message"),
        stack: header("exception.stacktrace"),
        stated_class: None,
    };
    let mut facts = Facts { failure: unwrapped(failure), consumer: header("connector.name"), ..Facts::default() };
    if let Some(stage) = header("stage") {
        facts.remarks.push(format!("The connector failed in stage {stage}."));
    }
    facts.remarks.extend(position(
        headers,
        "__connect.errors.topic",
        "__connect.errors.partition",
        "__connect.errors.offset",
    ));
    Some(Opening::facts(facts))
}

/// The record's position in Kafka, for people who want to read it there.
fn position(headers: &Headers<'_>, topic: &str, partition: &str, offset: &str) -> Option<String> {
    let topic = headers.get(topic)?;
    let number = |name: &str| headers.number(name).map_or_else(|| "?".into(), |n| format!("{n}"));
    Some(format!("Position in Kafka: offset {} of partition {} of {topic}.", number(offset), number(partition)))
}
