//! Celery's tasks on SQS (celery/celery, "Message protocol"; celery/kombu, `transport/virtual`): base64 of an object
//! with a body that is base64 again. Celery records no error.

use super::Opening;
use super::facts::{Facts, moment};
use super::layer::Layer;
use crate::read::json::Index;

/// A task in protocol 2 (`{"body","headers","properties"}`), or in protocol 1 (`{"task","id","args"}`).
pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let Some(headers) = layer.body.get("headers").map(Index::new) else {
        return Some(Opening::facts(common_facts(&layer.body)));
    };
    headers.get("task")?;
    let mut facts = common_facts(&headers);
    facts.producer = headers.scalar(&["origin"]);
    Some(Opening::payload(facts, layer.body.text("body"), None))
}

/// The fields that have the same names in both protocols.
fn common_facts(fields: &Index<'_>) -> Facts {
    let retries = fields.scalar(&["retries"]).and_then(|n| n.parse::<u32>().ok());
    Facts {
        message_type: fields.scalar(&["task"]),
        attempts: retries.map(|retries| retries.saturating_add(1)),
        deadline: moment(fields.get("expires")),
        ..Facts::default()
    }
}
