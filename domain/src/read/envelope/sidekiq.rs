//! Jobs of Sidekiq and Shoryuken (sidekiq/sidekiq, "Job format", `JobRetry`): errors are fields of the job itself. The
//! backtrace is base64 of zlib of JSON. Times are milliseconds; in older versions, seconds with a fraction.

use super::facts::{Facts, moment};
use super::layer::Layer;
use super::{Opening, unpack};
use crate::read::json::Raw;
use crate::reading::Failure;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A failed job.
pub fn failed<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let mut opening = job(layer)?;
    let body = &layer.body;
    opening.facts.failure = Failure {
        error_type: body.scalar(&["error_class"]),
        message: body.scalar(&["error_message"]),
        stack: body.get("error_backtrace").and_then(backtrace),
        stated_class: None,
    };
    // `failed_at` is the first failure; `retried_at` is set from the second failure on.
    let first = moment(body.get("failed_at"));
    opening.facts.first_tried_at = first;
    opening.facts.failed_at = moment(body.get("retried_at")).or(first);
    // The first failure sets the count to 0, so there was one more attempt than failed retries.
    let retries = body.scalar(&["retry_count"]).and_then(|n| n.parse::<u32>().ok());
    opening.facts.attempts = Some(retries.map_or(1, |retries| retries.saturating_add(1)));
    Some(opening)
}

/// A job.
pub fn job<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    layer.body.text("jid")?;
    Some(Opening::facts(Facts {
        message_type: layer.body.scalar(&["wrapped", "class"]),
        sent_at: moment(layer.body.get("created_at")),
        ..Facts::default()
    }))
}

fn backtrace(raw: Raw<'_>) -> Option<String> {
    let lines = |raw: Raw<'_>| -> Option<String> {
        let lines: Vec<String> = raw.elements().filter_map(Raw::as_string).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    if raw.is_array() {
        return lines(raw);
    }
    let text = raw.as_text()?;
    let mut left = crate::limits::STACK_BYTES_MAX;
    match unpack::text(&text, &mut left) {
        Some(unpacked) => lines(Raw::new(&unpacked.text)).or(Some(unpacked.text)),
        None => Some(text.to_string()),
    }
}
