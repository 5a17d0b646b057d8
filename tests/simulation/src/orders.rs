//! The orders that producers send and the failures of the consumer, both by seed.

use domain::id::QueueArn;
use domain::limits::ATTRIBUTES_MAX;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, AttributeValue, Content};
use domain::read::Stamp;
use domain::reading::Class;
use domain::time::Timestamp;
use harness::samples::Chance;
use queue::Received;

/// The consumer's name.
pub(super) const SERVICE: &str = "orders";
/// The errors with which it fails on an order.
const ERRORS: [&str; 2] = ["orders::pricing::Overflow", "orders::catalogue::UnknownProduct"];
/// The volume in the error message, in runs with an even seed: several fingerprints that a sweep merges into one group.
const VOLUMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// The workers of the consumer: a letter may name another one with each version.
const WORKERS: u64 = 3;
/// The number of message groups (FIFO).
const MESSAGE_GROUPS: u64 = 4;

fn chance(seed: u64, salt: u64, n: u64) -> Chance {
    let mut chance = Chance(seed ^ salt.wrapping_mul(0x9E37_79B9) ^ n.wrapping_mul(0xD1B5_4A32_D192_ED03));
    chance.number();
    chance
}

/// Returns an order: usually JSON, with any attributes that SQS allows.
pub(super) fn content(seed: u64, n: u64, fifo: bool) -> Content {
    let mut chance = chance(seed, 1, n);
    let body = match chance.below(6) {
        0 => format!("ord_{n:06}|not JSON|\u{1F980}\t\u{7F}"),
        1 => format!("{{\"type\":\"order.placed\",\"order_id\":\"ord_{n:06}\", \"total\" : 1e400 , \"a\":1, \"a\":2}}"),
        _ => harness::world::order(n),
    };
    let mut content = Content { body, ..Content::default() };
    // With ten attributes, the maximum, a message has no room for a marker.
    let attributes = [0, 0, 1, 3, 9, 10][chance.below(6)];
    for at in 0..attributes {
        let value = match at % 4 {
            0 => Attribute::text(format!("value {at} of {n}")),
            1 => Attribute::number(format!("{n}.{at}00")),
            2 => Attribute { data_type: "Binary.png".into(), value: AttributeValue::Binary("3q2+7w==".into()) },
            _ => Attribute { data_type: "Number.cents".into(), value: AttributeValue::Text("-0".into()) },
        };
        content.attributes.insert(format!("app.{at}"), value);
    }
    if fifo || chance.below(4) == 0 {
        content.message_group_id = Some(format!("group-{}", n % MESSAGE_GROUPS));
    }
    if chance.below(4) == 0 {
        content.trace_header = Some(format!("Root=1-5759e988-{n:024x}"));
    }
    content
}

/// Returns the number of the order in a body; `None` if it is not an order.
pub(super) fn number_of(body: &str) -> Option<u64> {
    let at = body.find("ord_")? + 4;
    body.get(at..at + 6)?.parse().ok()
}

/// Returns the error with which a version of the consumer fails on an order; `None` if it processes the order. The first
/// version fails on every order; each later one repairs an error for all orders, for half of them, or for none.
pub(super) fn fails(seed: u64, n: u64, version: u32) -> Option<&'static str> {
    let error = chance(seed, 2, n).below(ERRORS.len());
    let is_repaired = match chance(seed, 3 + u64::from(version), error as u64).below(4) {
        _ if version == 1 => false,
        0 => false,
        1 => n.is_multiple_of(2),
        _ => true,
    };
    // A fix may uncover another error.
    let uncovered = chance(seed, 5, n).below(12) == 0 && version % 3 == 2;
    match (is_repaired, uncovered) {
        (false, _) => Some(ERRORS[error]),
        (true, true) => Some("orders::ship::NoAddress"),
        (true, false) => None,
    }
}

/// Returns a message as the consumer dead-letters it; `None` if its ten attributes leave no room for a stamp.
pub(super) fn stamped(
    (seed, main): (u64, &QueueArn),
    message: &Received,
    error: &str,
    version: u32,
    now: Timestamp,
) -> Option<Content> {
    if message.content.attributes.len() >= ATTRIBUTES_MAX {
        return None;
    }
    let volumes = if seed.is_multiple_of(2) { VOLUMES.len() } else { 1 };
    let number = number_of(&message.content.body).unwrap_or_default();
    let volume = number as usize % volumes;
    let worker = (number / 4 + u64::from(version)) % WORKERS;
    let stamp = Stamp {
        error_type: Some(error.into()),
        message: Some(format!(
            "{error} while volume /srv/{} was read by worker {worker} of {WORKERS}",
            VOLUMES[volume]
        )),
        class: Some(Class::Permanent),
        consumer: Some(SERVICE.into()),
        consumer_version: Some(format!("v{version}")),
        original_message_id: Some(message.message_id.clone()),
        main_queue: Some(main.clone()),
        first_sent_at: message.system.sent_at,
        failed_at: Some(now),
        ..Stamp::default()
    };
    let mut content = message.content.clone();
    content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
    Some(content)
}
