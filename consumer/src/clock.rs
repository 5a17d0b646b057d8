//! The system's clock and random numbers, and the runtime's spans.

use domain::time::{Span, Timestamp};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn system_now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Without random numbers from the system, waits half of the ceiling: jitter only spreads retries.
pub(crate) fn system_entropy() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}

/// Converts a span for the runtime; a negative span becomes zero.
pub(crate) fn to_duration(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.as_ms()).unwrap_or(0))
}
