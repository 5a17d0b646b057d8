//! The office's clock, as known from its responses. A browser's own clock may be hours off.

use domain::time::{Span, Timestamp};

/// How far the office's clock is ahead of this machine's.
///
/// Each response tells the office's time at a moment between request and response, so it bounds the difference from both
/// sides. The bounds of several responses are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfficeClock {
    /// The least and the greatest difference; `None` before the first response.
    ahead: Option<(Span, Span)>,
}

impl OfficeClock {
    /// Returns the clock after a response: the office's time in it, and when it was asked for and arrived by this
    /// machine's clock.
    pub fn heard(self, office: Timestamp, asked_at: Timestamp, arrived_at: Timestamp) -> Self {
        let (least, most) = (office.since(arrived_at), office.since(asked_at));
        let ahead = match self.ahead {
            // If nothing satisfies both, one of the clocks was set since.
            Some((low, high)) if low.max(least) <= high.min(most) => (low.max(least), high.min(most)),
            _ => (least.min(most), most.max(least)),
        };
        Self { ahead: Some(ahead) }
    }

    /// Returns the office's time at a time of this machine's clock. Before the first response both are the same.
    pub fn at(self, here: Timestamp) -> Timestamp {
        let ahead = self.ahead.map_or(0, |(low, high)| low.as_ms() + (high.as_ms() - low.as_ms()) / 2);
        here.plus(Span::from_ms(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_795_000_000_000 + ms)
    }

    /// The office's time, when it was asked, and when the response arrived, milliseconds.
    type Response = (i64, i64, i64);

    /// Each row: responses, a time here, and the office's time then.
    #[test]
    fn the_offices_time_counts_whatever_the_clock_here_says() {
        let rows: [(&[Response], i64, i64); 6] = [
            (&[], 5, 5),
            (&[(HOUR + 50, 0, 100)], 200, HOUR + 200),
            (&[(50 - HOUR, 0, 100)], 200, 200 - HOUR),
            // A slow response says less than a quick one, before or after it.
            (&[(HOUR, 0, 4_000), (HOUR + 5_000, 5_000, 5_010)], 6_000, HOUR + 5_995),
            (&[(HOUR + 5_000, 5_000, 5_010), (HOUR + 6_000, 6_000, 9_000)], 10_000, HOUR + 9_995),
            // The clock here is set back by an hour between two responses.
            (&[(0, 0, 100), (10_000, 10_000 - HOUR, 10_100 - HOUR)], 20_000 - HOUR, 19_950),
        ];
        for (responses, here, office) in rows {
            let clock = responses.iter().fold(OfficeClock::default(), |clock, (office, asked, arrived)| {
                clock.heard(at(*office), at(*asked), at(*arrived))
            });
            assert_eq!(clock.at(at(here)), at(office), "{responses:?}");
        }
    }
}
