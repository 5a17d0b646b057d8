//! What producers send and what the consumer makes of it, both by seed.

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
/// Why it fails on an order.
const CAUSES: [&str; 2] = ["orders::pricing::Overflow", "orders::catalogue::UnknownProduct"];
/// What it was reading, in every other story: as many fingerprints, which a sweep finds to be one cause.
const VOLUMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// Message groups (FIFO) that orders belong to.
const LANES: u64 = 4;

fn dice(seed: u64, salt: u64, n: u64) -> Chance {
    let mut chance = Chance(seed ^ salt.wrapping_mul(0x9E37_79B9) ^ n.wrapping_mul(0xD1B5_4A32_D192_ED03));
    chance.number();
    chance
}

/// An order: most are JSON, some are not, and their attributes are whatever SQS allows.
pub(super) fn content(seed: u64, n: u64, fifo: bool) -> Content {
    let mut chance = dice(seed, 1, n);
    let body = match chance.below(6) {
        0 => format!("ord_{n:06}|not JSON|\u{1F980}\t\u{7F}"),
        1 => format!("{{\"type\":\"order.placed\",\"order_id\":\"ord_{n:06}\", \"total\" : 1e400 , \"a\":1, \"a\":2}}"),
        _ => harness::world::order(n),
    };
    let mut content = Content { body, ..Content::default() };
    // Ten attributes are all that a message may have: there is no room for a marker then.
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
        content.message_group_id = Some(format!("lane-{}", n % LANES));
    }
    if chance.below(4) == 0 {
        content.trace_header = Some(format!("Root=1-5759e988-{n:024x}"));
    }
    content
}

/// The number of the order that a body is.
pub(super) fn number_of(body: &str) -> Option<u64> {
    let at = body.find("ord_")? + 4;
    body.get(at..at + 6)?.parse().ok()
}

/// Why a version of the consumer fails on an order; none when it processes it. The first version fails on everything;
/// each later one helps against a cause wholly, by half, or not at all.
pub(super) fn fails(seed: u64, n: u64, version: u32) -> Option<&'static str> {
    let cause = dice(seed, 2, n).below(CAUSES.len());
    let helps = match dice(seed, 3 + u64::from(version), cause as u64).below(4) {
        _ if version == 1 => false,
        0 => false,
        1 => n.is_multiple_of(2),
        _ => true,
    };
    // A fix may uncover another fault.
    let uncovered = dice(seed, 5, n).below(12) == 0 && version % 3 == 2;
    match (helps, uncovered) {
        (false, _) => Some(CAUSES[cause]),
        (true, true) => Some("orders::ship::NoAddress"),
        (true, false) => None,
    }
}

/// A message as the consumer gives up on it; none when ten attributes leave no room for a stamp.
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
    let volume = number_of(&message.content.body).map_or(0, |n| n as usize % volumes);
    let stamp = Stamp {
        error_type: Some(error.into()),
        message: Some(format!("{error} while volume /srv/{} was read", VOLUMES[volume])),
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
