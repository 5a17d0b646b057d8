//! A message while the consumer works on it.

use crate::config::ConsumerConfig;
use domain::impact::Impact;
use domain::marker::MARKER_ATTRIBUTE;
use domain::message::DeadMessage;
use domain::time::{Span, Timestamp};
use queue::Received;
use std::time::Instant;

/// A received message, with what settling it needs.
pub(crate) struct Case {
    pub received: Received,
    pub received_at: Instant,
    /// When the visibility timeout last began.
    pub invisible_since: Instant,
    pub consumer_version: String,
}

impl Case {
    pub(crate) fn new(received: Received, received_at: Instant, consumer_version: String) -> Self {
        Self { received, received_at, invisible_since: received_at, consumer_version }
    }

    /// How often the message has been received, including this time.
    pub(crate) fn receive_count(&self) -> u32 {
        self.received.system.receive_count.unwrap_or(1)
    }

    /// Returns how long ago the message was sent. `None` if that is not known, or if SQS would have deleted the message
    /// before it was received: then a clock is wrong, and its word condemns no message.
    pub(crate) fn age(&self, retention: Span, now: Timestamp) -> Option<Span> {
        let age = now.since(self.received.system.sent_at?);
        (age <= retention.plus(since(self.received_at))).then_some(age)
    }

    /// Whether a replay of the office sent it.
    pub(crate) fn is_replayed(&self) -> bool {
        self.received.content.attributes.contains_key(MARKER_ATTRIBUTE)
    }

    /// Reads money, customer and deadline as the office will.
    pub(crate) fn impact(&self, config: &ConsumerConfig) -> Impact {
        let message = DeadMessage {
            dlq: config.queue.clone(),
            message_id: self.received.message_id.clone(),
            content: self.received.content.clone(),
            system: self.received.system.clone(),
        };
        domain::read::read(&message, &config.policy).diagnosis.impact
    }
}

/// Returns the time since a moment.
pub(crate) fn since(moment: Instant) -> Span {
    Span::from_ms(i64::try_from(moment.elapsed().as_millis()).unwrap_or(i64::MAX))
}
