//! Google Cloud Pub/Sub (cloud.google.com/pubsub, "Handle message failures", "Push subscriptions"): attributes that
//! the service puts onto a message it forwards to a dead-letter topic, and the push format with its data in base64.

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;
use crate::read::json::Index;
use alloc::format;

/// The attributes `CloudPubSubDeadLetterSource*`.
pub fn dead<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let told = |name: &str| headers.string(&format!("CloudPubSubDeadLetterSource{name}"));
    let mut facts = Facts {
        attempts: headers.count("CloudPubSubDeadLetterSourceDeliveryCount"),
        consumer: told("Subscription"),
        sent_at: headers.moment("CloudPubSubDeadLetterSourceTopicPublishTime"),
        ..Facts::default()
    };
    facts.failure.message = told("DeliveryErrorMessage");
    Some(Opening::facts(facts))
}

/// `{"message":{"data","attributes",...},"subscription"}`.
pub fn push<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let message = Index::of(layer.body.get("message")?);
    let data = message.text("data")?;
    // Where it is a dead letter, this is when it was forwarded; a carrier inside knows when it was sent.
    let facts = Facts { sent_at: moment(message.first(&["publishTime", "publish_time"])), ..Facts::default() };
    Some(Opening::payload(facts, Some(data), message.get("attributes")))
}
