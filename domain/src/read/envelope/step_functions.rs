//! AWS Step Functions: a state machine's `Catch` that sends `Error` and `Cause` to a queue, alone or next to the input
//! (Step Functions developer guide, "Handling errors"). The cause is often JSON in a string.

use super::Opening;
use super::facts::Facts;
use super::failure::failure_of;
use super::layer::Layer;
use super::restored::Restored;
use crate::read::json::{Index, Raw};
use crate::reading::Replayability;

/// Common names for the error under `ResultPath`.
const ERRORS: [&str; 4] = ["error", "Error", "errorInfo", "error-info"];
/// Common names for the input.
const INPUTS: [&str; 4] = ["input", "Input", "originalInput", "executionInput"];

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let is_error = |raw: &Index<'_>| raw.text("Error").is_some() && raw.text("Cause").is_some();
    if is_error(&layer.body) {
        let mut facts = Facts { failure: failure_of(Raw::new(layer.text)), ..Facts::default() };
        let input = layer.body.first(&INPUTS).and_then(Restored::from_body);
        if input.is_none() {
            let reason = "The message contains only the state machine's error, not its input.".into();
            facts.not_replayable = Some(Replayability::MetadataOnly { reason });
        }
        return Some(Opening::original(facts, input));
    }
    let error = ERRORS.iter().find_map(|name| layer.body.get(name).filter(|raw| is_error(&Index::new(*raw))))?;
    Some(Opening::facts(Facts { failure: failure_of(error), ..Facts::default() }))
}
