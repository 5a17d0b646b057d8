//! Log lines about rejected tokens: few, because anybody may send a token, and logs cost money.

use super::token::Rejected;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two log lines about rejected tokens.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Writes log lines about rejected tokens.
#[derive(Debug, Default)]
pub(super) struct Rejections(Mutex<Count>);

impl Rejections {
    /// Counts a rejected token, and writes a line with its reason if one is due.
    pub(super) fn log(&self, reason: &Rejected) {
        // No code panics while it holds this lock, and the count would be usable even then.
        let due = self.0.lock().unwrap_or_else(PoisonError::into_inner).add(Instant::now());
        if let Some(count) = due {
            tracing::info!(%reason, count, "a token was rejected");
        }
    }
}

/// Tokens that were rejected since the last log line.
#[derive(Debug, Default)]
struct Count {
    logged_at: Option<Instant>,
    unlogged: u64,
}

impl Count {
    /// Counts a rejected token. Returns how many tokens the log line stands for, or `None` if there is to be none yet.
    fn add(&mut self, now: Instant) -> Option<u64> {
        self.unlogged += 1;
        let is_due = self.logged_at.is_none_or(|at| now.saturating_duration_since(at) >= LOG_EVERY);
        is_due.then(|| {
            self.logged_at = Some(now);
            std::mem::take(&mut self.unlogged)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_rejected_tokens_is_counted_in_few_log_lines() {
        let (mut count, start) = (Count::default(), Instant::now());
        let lines: Vec<_> = (0..1_000).filter_map(|_| count.add(start)).collect();
        assert_eq!(lines, [1], "the first one, then none for a while");
        assert_eq!(count.add(start + LOG_EVERY - Duration::from_millis(1)), None);
        assert_eq!(count.add(start + LOG_EVERY), Some(1_001));
        assert_eq!(count.add(start + LOG_EVERY * 2), Some(1));
    }
}
