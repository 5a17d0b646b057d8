//! MassTransit on SQS (MassTransit/MassTransit: `MessageHeaders`, `SqsMoveTransport`, "Message envelope"): moving a
//! message adds fault headers as attributes. The message stays in MassTransit's own envelope.

use super::Opening;
use super::facts::{Facts, last_part, moment, sibling};
use super::layer::Layer;
use crate::read::json::{Index, Raw};
use crate::reading::Failure;
use alloc::string::{String, ToString};

/// A message in the error or skipped queue.
pub fn fault<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let headers = &layer.headers;
    let retries = headers.count("MT-Fault-RetryCount");
    let redeliveries = headers.count("MT-Fault-RedeliveryCount").unwrap_or(0);
    let mut facts = Facts {
        failure: Failure {
            error_type: headers.string("MT-Fault-ExceptionType"),
            message: headers.string("MT-Fault-Message"),
            stack: headers.string("MT-Fault-StackTrace"),
            stated_class: None,
        },
        failed_at: headers.moment("MT-Fault-Timestamp"),
        consumer: headers.string("MT-Fault-ConsumerType"),
        consumer_version: headers.string("MT-Host-AssemblyVersion"),
        message_type: headers.get("MT-Fault-MessageType").map(|urn| type_name(&urn)),
        // A retry follows the first attempt, and each redelivery restarts the count.
        attempts: retries.map(|retries| retries.saturating_add(1).saturating_mul(redeliveries.saturating_add(1))),
        ..Facts::default()
    };
    if facts.failure.is_empty() {
        // Skipped: no consumer took it.
        facts.failure.error_type = headers.string("MT-Reason");
    }
    if let Some(queue) =
        headers.get("MT-Fault-InputAddress").and_then(|address| sibling(layer.dlq, &queue_of(&address)))
    {
        facts.main_queue = Some(queue);
        facts.remarks.push("The main queue comes from the header MT-Fault-InputAddress.".into());
    }
    Some(Opening::facts(facts))
}

/// Returns the queue's name in `amazonsqs://eu-west-1/orders?durable=true`.
fn queue_of(address: &str) -> String {
    last_part(address.split('?').next().unwrap_or_default())
}

/// MassTransit's own envelope: the message is an object in it, within reach of policy pointers.
pub fn message<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let types = layer.body.get("messageType")?;
    let host = layer.body.get("host").map(Index::new).unwrap_or_default();
    Some(Opening::facts(Facts {
        message_type: types.elements().next().and_then(Raw::as_text).map(|urn| type_name(&urn)),
        producer: host.scalar(&["assembly", "processName"]),
        producer_version: host.scalar(&["assemblyVersion"]),
        sent_at: moment(layer.body.get("sentTime")),
        deadline: moment(layer.body.get("expirationTime")),
        ..Facts::default()
    }))
}

/// Turns `urn:message:Shop.Contracts:OrderPlaced` into `Shop.Contracts.OrderPlaced`.
fn type_name(urn: &str) -> String {
    urn.strip_prefix("urn:message:").map_or_else(|| urn.to_string(), |name| name.replace(':', "."))
}
