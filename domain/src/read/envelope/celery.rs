//! Celery's tasks on SQS (celery/celery, "Message protocol"; celery/kombu, `transport/virtual`): base64 of an object
//! whose body is base64 again. Celery records no error.

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;
use crate::read::json::Index;

/// A task in protocol 2 (`{"body","headers","properties"}`), or in protocol 1 (`{"task","id","args"}`).
pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let Some(headers) = layer.body.get("headers").map(Index::of) else {
        return Some(Opening::facts(first(&layer.body)));
    };
    headers.get("task")?;
    let mut facts = first(&headers);
    facts.producer = headers.scalar(&["origin"]);
    Some(Opening::payload(facts, layer.body.text("body"), None))
}

/// What both protocols call the same.
fn first(fields: &Index<'_>) -> Facts {
    let retries = fields.scalar(&["retries"]).and_then(|n| n.parse::<u32>().ok());
    Facts {
        message_type: fields.scalar(&["task"]),
        attempts: retries.map(|retries| retries.saturating_add(1)),
        deadline: moment(fields.get("expires")),
        ..Facts::default()
    }
}
