//! A message while the consumer works on it.

use queue::Received;
use std::time::Instant;

/// A received message, with what settling it needs.
pub(crate) struct Case {
    pub received: Received,
    pub received_at: Instant,
    pub consumer_version: String,
}
