//! CloudEvents 1.0 (cloudevents/spec: "JSON event format" and the binary modes of the protocol bindings): an envelope
//! in the body, or headers next to a raw body. Carries no failure.

use super::Opening;
use super::facts::Facts;
use super::layer::Layer;
use crate::read::json::Raw;
use crate::read::when;
use alloc::borrow::Cow;
use alloc::format;

/// How the bindings spell the names: HTTP and Kafka, bridges that allow only letters, AMQP.
const PREFIXES: [&str; 3] = ["ce-", "ce_", "cloudEvents_"];

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let stated = |name: &str| -> Option<Cow<'a, str>> {
        if let Some(raw) = layer.body.get(name).filter(|_| layer.body.get("specversion").is_some()) {
            return raw.as_text();
        }
        PREFIXES.iter().find_map(|prefix| layer.headers.get(&format!("{prefix}{name}")))
    };
    let owned = |name: &str| stated(name).map(Cow::into_owned);
    let facts = Facts {
        message_type: owned("type"),
        producer: owned("source"),
        tenant: owned("tenantid").or_else(|| owned("tenant")),
        sent_at: stated("time").and_then(|text| when::parse(&text)),
        // The extension "Expiry Time".
        deadline: stated("expirytime").and_then(|text| when::parse(&text)),
        ..Facts::default()
    };
    // Policy pointers reach an object in `data`, but not text or base64.
    let data = layer.body.text("data_base64").or_else(|| layer.body.get("data").and_then(Raw::as_text));
    Some(Opening::payload(facts, data.filter(|_| layer.body.get("specversion").is_some()), None))
}
