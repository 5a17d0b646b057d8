//! Backoff between attempts.

use std::time::Duration;

/// Longest wait after the first attempt, in milliseconds. It doubles with each attempt.
const BACKOFF_MS: u64 = 10;
/// Longest wait after any attempt, in milliseconds.
const BACKOFF_MS_MAX: u64 = 1_000;

/// Waits before the next attempt: exponential backoff with full jitter.
pub(super) async fn back_off(attempt: u32) {
    let ceiling = BACKOFF_MS.saturating_mul(1 << attempt.min(16)).min(BACKOFF_MS_MAX);
    tokio::time::sleep(Duration::from_millis(random_below(ceiling + 1))).await;
}

/// Returns a random number below `n`. It only spreads load, so it need not be unpredictable.
pub(super) fn random_below(n: u64) -> u64 {
    let mut bytes = [0; 8];
    // If the system has no random numbers, every process picks 0: slower, but still correct.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes) % n.max(1)
}
