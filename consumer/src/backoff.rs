//! How long to wait before the next attempt: exponential backoff with full jitter.
//!
//! Full jitter picks any moment between now and the ceiling, not "the ceiling plus or minus a bit". It spreads the
//! retries of messages that failed together over the whole span, so they do not hit the recovering service at once.

use domain::time::Span;

/// Returns the wait after failed attempt number `attempt` (1 is the first): uniform between zero and
/// `min(cap, base * 2^(attempt - 1))`, both ends included.
///
/// `entropy`, 0 to `u64::MAX`, picks the point in that range.
///
/// ```
/// use consumer::backoff::backoff;
/// use domain::time::Span;
///
/// let (base, cap) = (Span::from_secs(1), Span::from_mins(5));
/// assert_eq!(backoff(3, base, cap, 0), Span::ZERO);
/// assert_eq!(backoff(3, base, cap, u64::MAX), Span::from_secs(4));
/// ```
pub fn backoff(attempt: u32, base: Span, cap: Span, entropy: u64) -> Span {
    let ceiling_ms = ceiling(attempt, base, cap).as_ms();
    let choices = u128::from(ceiling_ms.unsigned_abs()) + 1;
    let ms = (choices * u128::from(entropy)) >> 64;
    Span::from_ms(i64::try_from(ms).unwrap_or(ceiling_ms))
}

/// Returns the longest wait that [`backoff`] can return for this attempt.
pub fn ceiling(attempt: u32, base: Span, cap: Span) -> Span {
    let doublings = attempt.saturating_sub(1).min(62);
    base.max(Span::ZERO).times(1_i64 << doublings).min(cap.max(Span::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: Span = Span::from_secs(1);
    const CAP: Span = Span::from_secs(30);

    #[test]
    fn the_ceiling_doubles_up_to_the_cap() {
        let seconds: Vec<i64> = (0..=7).map(|attempt| ceiling(attempt, BASE, CAP).as_ms() / 1000).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn entropy_spans_the_whole_range() {
        assert_eq!(backoff(3, BASE, CAP, 0), Span::ZERO);
        assert_eq!(backoff(3, BASE, CAP, u64::MAX), Span::from_secs(4));
        assert_eq!(backoff(3, BASE, CAP, u64::MAX / 2 + 1), Span::from_ms(2_000));
    }

    proptest! {
        #[test]
        fn never_negative_never_above_the_cap(attempt: u32, base: i64, cap: i64, entropy: u64) {
            let wait = backoff(attempt, Span::from_ms(base), Span::from_ms(cap), entropy);
            prop_assert!(wait >= Span::ZERO && wait <= Span::from_ms(cap.max(0)));
        }

        #[test]
        fn the_ceiling_never_shrinks(attempt in 0_u32..u32::MAX, base in 0_i64.., cap in 0_i64..) {
            let (base, cap) = (Span::from_ms(base), Span::from_ms(cap));
            prop_assert!(ceiling(attempt, base, cap) <= ceiling(attempt + 1, base, cap));
        }

        #[test]
        fn more_entropy_never_means_a_shorter_wait(attempt in 1_u32..20, one: u64, other: u64) {
            let wait = |entropy| backoff(attempt, BASE, CAP, entropy);
            prop_assert!(wait(one.min(other)) <= wait(one.max(other)));
        }
    }
}
