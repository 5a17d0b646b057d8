//! SNS without raw delivery: the message is a string inside a notification (SNS developer guide, "Parsing message
//! formats"). The message is read; a replay sends the whole notification back, because the consumer expects it.

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;

pub fn notification<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    (layer.body.text("Type")? == "Notification").then_some(())?;
    let facts = Facts { sent_at: moment(layer.body.get("Timestamp")), ..Facts::default() };
    Some(Opening::payload(facts, layer.body.text("Message"), layer.body.get("MessageAttributes")))
}
