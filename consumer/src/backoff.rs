//! How long to wait before the next attempt: exponential backoff with a choice of jitter. Pure: no clock, no random
//! numbers of its own.
//!
//! Messages that failed together must not be retried together, or they hit the recovering service at once. Full jitter
//! spreads them the most, so it is the default.

use domain::time::Span;

pub use domain::policy::Jitter;

/// Doublings after which any base in milliseconds exceeds the largest span.
const DOUBLINGS_MAX: u32 = 62;
/// The share by which [`Jitter::Proportional`] differs from the ceiling, percent.
const PROPORTIONAL_PCT: i64 = 10;

/// Exponential backoff: base, cap and jitter.
///
/// ```
/// use consumer::backoff::Backoff;
/// use domain::time::Span;
///
/// let backoff = Backoff::new(Span::from_secs(1), Span::from_mins(5));
/// assert_eq!(backoff.ceiling(3), Span::from_secs(4));
/// assert_eq!(backoff.ceiling(u32::MAX), Span::from_mins(5));
/// assert_eq!(backoff.wait(3, Span::ZERO, u64::MAX), Span::from_secs(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The ceiling of the first wait. Negative counts as zero.
    pub base: Span,
    /// The highest ceiling. Negative counts as zero.
    pub cap: Span,
    /// How waits differ from the ceiling.
    pub jitter: Jitter,
}

impl Backoff {
    /// Returns a backoff with full jitter.
    ///
    /// ```
    /// # use consumer::backoff::{Backoff, Jitter};
    /// # use domain::time::Span;
    /// assert_eq!(Backoff::new(Span::from_ms(100), Span::from_secs(2)).jitter, Jitter::Full);
    /// ```
    pub const fn new(base: Span, cap: Span) -> Self {
        Self { base, cap, jitter: Jitter::Full }
    }

    /// Returns the same backoff with another jitter.
    ///
    /// ```
    /// # use consumer::backoff::{Backoff, Jitter};
    /// # use domain::time::Span;
    /// let none = Backoff::new(Span::from_secs(1), Span::from_secs(8)).with_jitter(Jitter::None);
    /// assert_eq!(none.wait(2, Span::ZERO, 7), Span::from_secs(2));
    /// ```
    #[must_use]
    pub const fn with_jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// Returns `min(cap, base · 2^(attempt - 1))`. Attempt 0 counts as 1; no attempt overflows.
    ///
    /// ```
    /// # use consumer::backoff::Backoff;
    /// # use domain::time::Span;
    /// assert_eq!(Backoff::new(Span::from_secs(1), Span::from_secs(30)).ceiling(6), Span::from_secs(30));
    /// ```
    pub fn ceiling(&self, attempt: u32) -> Span {
        let doublings = attempt.saturating_sub(1).min(DOUBLINGS_MAX);
        self.base.max(Span::ZERO).times(1_i64 << doublings).min(self.cap.max(Span::ZERO))
    }

    /// Returns the shortest and the longest wait after failed attempt number `attempt`.
    ///
    /// ```
    /// # use consumer::backoff::{Backoff, Jitter};
    /// # use domain::time::Span;
    /// let backoff = Backoff::new(Span::from_secs(1), Span::from_secs(30)).with_jitter(Jitter::Decorrelated);
    /// assert_eq!(backoff.bounds(9, Span::from_secs(2)), (Span::from_secs(1), Span::from_secs(6)));
    /// ```
    pub fn bounds(&self, attempt: u32, previous: Span) -> (Span, Span) {
        let ceiling = self.ceiling(attempt);
        let (base, cap) = (self.base.max(Span::ZERO), self.cap.max(Span::ZERO));
        match self.jitter {
            Jitter::None => (ceiling, ceiling),
            Jitter::Full => (Span::ZERO, ceiling),
            Jitter::Equal => (Span::from_ms(ceiling.as_ms() / 2), ceiling),
            Jitter::Decorrelated => {
                let low = base.min(cap);
                (low, previous.max(base).times(3).clamp(low, cap))
            }
            Jitter::Additive => (ceiling, ceiling.plus(base)),
            Jitter::Proportional => {
                let tenth = Span::from_ms(ceiling.as_ms() / (100 / PROPORTIONAL_PCT));
                (Span::from_ms(ceiling.as_ms() - tenth.as_ms()), ceiling.plus(tenth))
            }
        }
    }

    /// Returns the wait after failed attempt number `attempt` (1 is the first).
    ///
    /// `previous` is the wait before this attempt, zero before the first; only decorrelated jitter uses it. `entropy`,
    /// 0 to `u64::MAX`, picks the point between the [bounds](Self::bounds), both included.
    ///
    /// ```
    /// # use consumer::backoff::Backoff;
    /// # use domain::time::Span;
    /// let backoff = Backoff::new(Span::from_secs(1), Span::from_mins(5));
    /// assert_eq!(backoff.wait(3, Span::ZERO, 0), Span::ZERO);
    /// ```
    pub fn wait(&self, attempt: u32, previous: Span, entropy: u64) -> Span {
        let (low, high) = self.bounds(attempt, previous);
        between(low, high, entropy)
    }
}

/// Returns the point between two spans, both included, that `entropy` picks.
pub(crate) fn between(low: Span, high: Span, entropy: u64) -> Span {
    let choices = u128::from(high.as_ms().saturating_sub(low.as_ms()).max(0).unsigned_abs()) + 1;
    let offset = (choices * u128::from(entropy)) >> 64;
    low.plus(Span::from_ms(i64::try_from(offset).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Jitter::{Additive, Decorrelated, Equal, Full, None, Proportional};
    use proptest::prelude::*;

    const BASE: Span = Span::from_secs(1);
    const CAP: Span = Span::from_secs(30);
    const EVERY: [Jitter; 6] = [None, Full, Equal, Decorrelated, Additive, Proportional];

    fn with(jitter: Jitter) -> Backoff {
        Backoff::new(BASE, CAP).with_jitter(jitter)
    }

    #[test]
    fn the_ceiling_doubles_up_to_the_cap() {
        let seconds: Vec<i64> = (0..=7).map(|attempt| with(Full).ceiling(attempt).as_ms() / 1000).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn each_formula_has_its_shortest_middle_and_longest_wait() {
        let check = |jitter, attempt, previous_s, expected_ms: [i64; 3]| {
            let wait = |entropy| with(jitter).wait(attempt, Span::from_secs(previous_s), entropy).as_ms();
            assert_eq!([wait(0), wait(u64::MAX / 2 + 1), wait(u64::MAX)], expected_ms, "{jitter:?} {attempt}");
        };
        // Base 1 s, cap 30 s.
        //    jitter      attempt  previous  shortest, middle, longest
        check(None, 3, 0, [4_000, 4_000, 4_000]);
        check(Full, 1, 0, [0, 500, 1_000]);
        check(Full, 3, 0, [0, 2_000, 4_000]);
        check(Full, 9, 0, [0, 15_000, 30_000]);
        check(Equal, 3, 0, [2_000, 3_000, 4_000]);
        check(Equal, 9, 0, [15_000, 22_500, 30_000]);
        // The first wait has no previous one: the base stands for it.
        check(Decorrelated, 1, 0, [1_000, 2_000, 3_000]);
        check(Decorrelated, 2, 1, [1_000, 2_000, 3_000]);
        check(Decorrelated, 9, 20, [1_000, 15_500, 30_000]);
        check(Additive, 3, 0, [4_000, 4_500, 5_000]);
        check(Additive, 9, 0, [30_000, 30_500, 31_000]);
        check(Proportional, 3, 0, [3_600, 4_000, 4_400]);
        check(Proportional, 9, 0, [27_000, 30_000, 33_000]);
    }

    #[test]
    fn jitter_spreads_and_none_does_not() {
        let distinct = |jitter| {
            let waits = (0..1_000_u64).map(|n| with(jitter).wait(4, Span::from_secs(4), n << 54));
            waits.collect::<std::collections::BTreeSet<_>>().len()
        };
        // The spread in milliseconds: full 8,000, equal 4,000, decorrelated 11,000, additive 1,000, proportional 1,600.
        assert_eq!(EVERY.map(distinct), [1, 1_000, 1_000, 1_000, 977, 1_000]);
    }

    proptest! {
        #[test]
        fn every_wait_is_within_its_bounds(attempt: u32, base: i64, cap: i64, previous: i64, entropy: u64, at in 0..EVERY.len()) {
            let backoff = Backoff { base: Span::from_ms(base), cap: Span::from_ms(cap), jitter: EVERY[at] };
            let (low, high) = backoff.bounds(attempt, Span::from_ms(previous));
            let wait = backoff.wait(attempt, Span::from_ms(previous), entropy);
            prop_assert!(Span::ZERO <= low && low <= wait && wait <= high);
            let slack = match EVERY[at] {
                Additive => backoff.base.max(Span::ZERO),
                Proportional => Span::from_ms(backoff.cap.as_ms().max(0) / 10),
                _ => Span::ZERO,
            };
            prop_assert!(wait <= backoff.cap.max(Span::ZERO).plus(slack));
        }

        #[test]
        fn the_ceiling_never_shrinks(attempt in 0_u32..u32::MAX, base in 0_i64.., cap in 0_i64..) {
            let backoff = Backoff::new(Span::from_ms(base), Span::from_ms(cap));
            prop_assert!(backoff.ceiling(attempt) <= backoff.ceiling(attempt + 1));
        }

        #[test]
        fn more_entropy_never_means_a_shorter_wait(attempt in 1_u32..20, one: u64, other: u64, at in 0..EVERY.len()) {
            let wait = |entropy| with(EVERY[at]).wait(attempt, Span::from_secs(3), entropy);
            prop_assert!(wait(one.min(other)) <= wait(one.max(other)));
        }
    }
}
