//! Brokers that record the reason for dead-lettering: RabbitMQ (rabbitmq.com, "Dead letter exchanges") and Azure
//! Service Bus (learn.microsoft.com, "Overview of Service Bus dead-letter queues").

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;
use crate::read::json::{Index, Raw};
use crate::time::{Span, Timestamp};
use alloc::borrow::Cow;
use alloc::format;

/// The headers `x-death` (an array, the latest death first) and `x-first-death-*`. The broker records that the message
/// was rejected or expired, not the consumer's error.
pub fn rabbitmq<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let deaths = headers.get("x-death").unwrap_or(Cow::Borrowed(""));
    let mut all = Raw::new(&deaths).elements().map(Index::new);
    let latest = all.next().unwrap_or_default();
    let reason =
        latest.scalar(&["reason"]).or_else(|| headers.first(&["x-last-death-reason", "x-first-death-reason"]))?;
    let queue = latest.scalar(&["queue"]).or_else(|| headers.first(&["x-last-death-queue", "x-first-death-queue"]));
    let count = |death: &Index<'_>| death.scalar(&["count"]).and_then(|n| n.parse::<u32>().ok());
    let at = |death: &Index<'_>| moment(death.first(&["time", "last-time", "first-time"]));
    let failed_at = at(&latest);
    let life = latest.scalar(&["original-expiration"]).and_then(|ms| ms.parse().ok()).map(Span::from_ms);
    let mut facts = Facts {
        attempts: count(&latest),
        failed_at,
        first_tried_at: all.last().as_ref().and_then(at),
        // It expired at its deadline.
        deadline: failed_at.filter(|_| reason == "expired" && life.is_some()),
        ..Facts::default()
    };
    let queue = queue.as_deref().unwrap_or("its queue");
    facts.failure.message = Some(match reason.as_str() {
        "rejected" => format!("RabbitMQ: rejected by the consumer of {queue}"),
        "expired" => format!("RabbitMQ: expired in {queue}"),
        "maxlen" => format!("RabbitMQ: {queue} was full"),
        "delivery_limit" => format!("RabbitMQ: delivered more often than {queue} allows"),
        other => format!("RabbitMQ: {other} in {queue}"),
    });
    // The management plugin's format has the body as text.
    Some(Opening::payload(facts, layer.body.text("payload"), None))
}

/// The properties that Service Bus or the application sets on dead-lettering.
pub fn service_bus<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let stated = |name: &str| layer.headers.string(name).or_else(|| layer.body.scalar(&[name]));
    let at = |name: &str| -> Option<Timestamp> { moment(layer.body.get(name)) };
    let mut facts = Facts {
        attempts: stated("DeliveryCount").and_then(|n| n.parse().ok()),
        consumer: stated("DeadLetterSource"),
        sent_at: at("EnqueuedTimeUtc").or_else(|| at("EnqueuedTime")),
        deadline: at("ExpiresAtUtc").or_else(|| at("ExpiresAt")),
        ..Facts::default()
    };
    facts.failure.error_type = stated("DeadLetterReason");
    facts.failure.message = stated("DeadLetterErrorDescription");
    let body = layer.body.first(&["Body", "body"]).filter(|raw| raw.as_text().is_some());
    Some(Opening::payload(facts, body.and_then(Raw::as_text), None))
}
