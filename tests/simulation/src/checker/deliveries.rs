//! Letters that count as delivered because their window has passed.

use super::*;
use domain::time::Span;

impl Checker {
    /// Returns whether any letter was ever counted as delivered without a receipt.
    pub fn counts_any_as_delivered(&self) -> bool {
        !self.observed().unconfirmed.is_empty()
    }

    /// Returns whether a message's letter was counted as delivered without a receipt.
    pub fn counts_as_delivered(&self, message: &MessageId) -> bool {
        self.observed().unconfirmed.contains(message)
    }

    /// Records that the clock of a process jumped. From then on, only the main queue tells whether a window has passed.
    pub fn clock_jumped(&self, process: &str, by: Span) {
        let (now, mut observed) = ((self.now)(), self.observed());
        observed.clock_jumped = true;
        observed.note(now, format!("the clock of {process} is wrong by {} s", by.as_ms() / 1_000));
    }
}

impl Observed {
    /// Without a receipt, a letter is delivered only if it was sent and its window has passed.
    pub(super) fn delivery(&mut self, key: &Key, now: Timestamp) {
        if let Some(Entry { outcome: Outcome::InFlight { message_id, .. }, .. }) = self.entries.get(key) {
            self.unconfirmed.insert(message_id.clone());
        }
        if self.clock_jumped {
            return;
        }
        let window = self.replays.get(&key.0).map(Replay::window).unwrap_or_default();
        let sent_at = self.intents.get(key).and_then(|intent| intent.sent_at);
        if sent_at.is_none_or(|at| now.plus(SKEW).plus(SKEW) < at.plus(window)) {
            self.report(format!("letter {} counts as delivered, sent at {sent_at:?}, now {now:?}", key.1));
        }
    }
}
