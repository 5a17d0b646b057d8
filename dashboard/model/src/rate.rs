//! How fast a replay sends, as observed by its page.

use domain::time::Timestamp;

/// The number of sent letters over time, as observed by this page.
#[derive(Clone, Debug, Default)]
pub struct Rate(Vec<(Timestamp, u64)>);

/// The period over which the rate is measured.
const RATE_MS: i64 = 10_000;

impl Rate {
    /// Adds an observation: the number of letters sent by a time.
    pub fn add(&mut self, at: Timestamp, sent: u64) {
        if self.0.last().is_some_and(|(_, before)| *before > sent) {
            self.0.clear();
        }
        self.0.push((at, sent));
        let from = self.0.iter().rposition(|(then, _)| at.since(*then).as_ms() >= RATE_MS).unwrap_or(0);
        self.0.drain(..from);
    }

    /// Returns letters per second, or `None` before the second observation.
    pub fn per_s(&self) -> Option<u64> {
        let ((from, before), (to, after)) = (self.0.first()?, self.0.last()?);
        let ms = to.since(*from).as_ms();
        (ms > 0).then(|| ((after - before) * 1000).div_ceil(ms.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_covers_the_last_seconds() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_s(), None);
        for s in 0..30 {
            rate.add(Timestamp::from_ms(s * 1000), if s < 10 { 0 } else { (s as u64 - 10) * 50 });
        }
        assert_eq!(rate.per_s(), Some(50));
        assert!(rate.0.len() <= 12);
    }
}
