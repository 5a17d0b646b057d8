//! Google Cloud Pub/Sub (cloud.google.com/pubsub, "Handle message failures", "Push subscriptions"): the attributes
//! that the service adds when it forwards a message to a dead-letter topic, and the push format with its data in
//! base64.

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;
use crate::read::json::Index;
use alloc::format;

/// The attributes `CloudPubSubDeadLetterSource*`.
pub fn dead<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let header = |name: &str| headers.string(&format!("CloudPubSubDeadLetterSource{name}"));
    let mut facts = Facts {
        attempts: headers.count("CloudPubSubDeadLetterSourceDeliveryCount"),
        consumer: header("Subscription"),
        sent_at: headers.moment("CloudPubSubDeadLetterSourceTopicPublishTime"),
        ..Facts::default()
    };
    facts.failure.message = header("DeliveryErrorMessage");
    Some(Opening::facts(facts))
}

/// `{"message":{"data","attributes",...},"subscription"}`.
pub fn push<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let message = Index::new(layer.body.get("message")?);
    let data = message.text("data")?;
    // For a dead letter this is the time of forwarding; a carrier inside knows the time of sending.
    let facts = Facts { sent_at: moment(message.first(&["publishTime", "publish_time"])), ..Facts::default() };
    Some(Opening::payload(facts, Some(data), message.get("attributes")))
}
