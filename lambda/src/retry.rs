//! Waiting between tries.

use std::time::Duration;

/// The first wait of a backoff with full jitter, milliseconds, and the longest.
const BACKOFF_MS: u64 = 10;
const BACKOFF_MS_MAX: u64 = 1_000;

/// Waits before another try: full jitter, longer with each.
pub(super) async fn back_off(tries: u32) {
    let ceiling = BACKOFF_MS.saturating_mul(1 << tries.min(16)).min(BACKOFF_MS_MAX);
    tokio::time::sleep(Duration::from_millis(chance(ceiling + 1))).await;
}

/// A random number below `n`; only how load is spread depends on it.
pub(super) fn chance(n: u64) -> u64 {
    let mut bytes = [0; 8];
    // Without random numbers everybody takes the same: slower, not wrong.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes) % n.max(1)
}
