//! How often, how long and with which waits an operation is repeated. Pure: the caller passes time and random numbers.

use crate::backoff::Backoff;
use crate::failure::Failure;
use crate::stop::Stop;
use domain::reading::Class;
use domain::time::Span;

/// An error that says whether a retry can help.
///
/// ```
/// use consumer::{Class, retry::Retryable};
///
/// struct Busy;
/// impl Retryable for Busy {
///     fn class(&self) -> Class {
///         Class::Transient
///     }
/// }
/// assert_eq!(Busy.retry_after(), None);
/// ```
pub trait Retryable {
    /// Returns whether a retry can help. Permanent errors are not retried.
    fn class(&self) -> Class;

    /// Returns the wait that the other side asked for, for example in HTTP's `Retry-After`.
    fn retry_after(&self) -> Option<Span> {
        None
    }
}

impl Retryable for Failure {
    fn class(&self) -> Class {
        self.class
    }

    fn retry_after(&self) -> Option<Span> {
        self.context.retry_after
    }
}

/// How often, how long and with which waits an operation is repeated.
///
/// ```
/// use consumer::retry::RetryPolicy;
///
/// let patient = RetryPolicy { attempts_max: 5, ..RetryPolicy::default() };
/// assert_eq!(patient.backoff.cap.as_ms(), 2_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The waits. Default: 100 ms, doubling up to 2 s, full jitter.
    pub backoff: Backoff,
    /// The number of attempts, the first included; 0 counts as 1. Default: 3, as in the AWS SDK's standard mode.
    pub attempts_max: u32,
    /// The longest time for all attempts and waits; `None` for no limit. No wait starts that would end later. Default:
    /// 20 s, less than SQS's default visibility timeout of 30 s.
    pub time_max: Option<Span>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(Span::from_ms(100), Span::from_secs(2)),
            attempts_max: 3,
            time_max: Some(Span::from_secs(20)),
        }
    }
}

/// The progress of one operation.
///
/// ```
/// use consumer::{Class, retry::{Attempts, RetryPolicy, Stop}};
/// use domain::time::Span;
///
/// let mut attempts = Attempts::default();
/// let policy = RetryPolicy::default();
/// assert!(policy.next(&mut attempts, Class::Transient, None, Span::ZERO, 0).is_ok());
/// assert_eq!(policy.next(&mut attempts, Class::Permanent, None, Span::ZERO, 0), Err(Stop::Permanent));
/// assert_eq!(attempts.made, 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Failed attempts.
    pub made: u32,
    /// The last wait.
    pub previous: Span,
}

impl RetryPolicy {
    /// Decides after a failed attempt: the wait before the next one, or why there is none.
    ///
    /// `elapsed` is the time since the first attempt began. A `retry_after` of the other side is a minimum for the
    /// wait, also beyond the cap. `entropy`, 0 to `u64::MAX`, picks the wait within the jitter's bounds.
    ///
    /// ```
    /// # use consumer::{Class, retry::{Attempts, RetryPolicy}};
    /// # use domain::time::Span;
    /// let wait = RetryPolicy::default().next(&mut Attempts::default(), Class::Unknown, None, Span::ZERO, u64::MAX);
    /// assert_eq!(wait, Ok(Span::from_ms(100)));
    /// ```
    pub fn next(
        &self,
        attempts: &mut Attempts,
        class: Class,
        retry_after: Option<Span>,
        elapsed: Span,
        entropy: u64,
    ) -> Result<Span, Stop> {
        attempts.made = attempts.made.saturating_add(1);
        if class == Class::Permanent {
            return Err(Stop::Permanent);
        }
        if attempts.made >= self.attempts_max.max(1) {
            return Err(Stop::AttemptsExhausted);
        }
        let wait = self.backoff.wait(attempts.made, attempts.previous, entropy).max(retry_after.unwrap_or_default());
        if self.time_max.is_some_and(|max| elapsed.plus(wait) >= max) {
            return Err(Stop::TimeExhausted);
        }
        attempts.previous = wait;
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Permanent, Transient, Unknown};
    use proptest::prelude::*;

    const POLICY: RetryPolicy = RetryPolicy {
        backoff: Backoff::new(Span::from_ms(100), Span::from_secs(2)),
        attempts_max: 4,
        time_max: Some(Span::from_secs(5)),
    };

    #[test]
    fn class_attempts_and_time_decide() {
        let check = |class, made, asked_s: Option<i64>, elapsed_ms, expected: Result<i64, Stop>| {
            let mut attempts = Attempts { made, previous: Span::ZERO };
            let (asked, elapsed) = (asked_s.map(Span::from_secs), Span::from_ms(elapsed_ms));
            let next = POLICY.next(&mut attempts, class, asked, elapsed, u64::MAX);
            assert_eq!(next.map(Span::as_ms), expected, "{class:?} {made}");
            assert_eq!(attempts.made, made.saturating_add(1));
        };
        //    class    made  asked    elapsed  next
        check(Transient, 0, None, 0, Ok(100));
        check(Transient, 1, None, 0, Ok(200));
        check(Transient, 2, None, 0, Ok(400));
        check(Transient, 3, None, 0, Err(Stop::AttemptsExhausted));
        check(Transient, u32::MAX, None, 0, Err(Stop::AttemptsExhausted));
        check(Unknown, 0, None, 0, Ok(100));
        check(Permanent, 0, None, 0, Err(Stop::Permanent));
        check(Permanent, 3, None, 0, Err(Stop::Permanent));
        check(Transient, 0, Some(3), 0, Ok(3_000));
        check(Transient, 0, Some(9), 0, Err(Stop::TimeExhausted));
        check(Transient, 0, None, 4_899, Ok(100));
        check(Transient, 0, None, 4_900, Err(Stop::TimeExhausted));
    }

    #[test]
    fn without_limits_an_attempt_beyond_counting_is_fine() {
        let policy = RetryPolicy { attempts_max: u32::MAX, time_max: None, ..POLICY };
        let mut attempts = Attempts { made: u32::MAX - 2, previous: Span::ZERO };
        assert_eq!(policy.next(&mut attempts, Transient, None, Span::ZERO, u64::MAX), Ok(Span::from_secs(2)));
        assert!(policy.next(&mut attempts, Transient, None, Span::ZERO, u64::MAX).is_err());
    }

    proptest! {
        #[test]
        fn attempts_and_time_stay_within_the_policy(attempts_max in 0_u32..20, time_ms in 1_i64..60_000, entropies: [u64; 32]) {
            let policy = RetryPolicy { attempts_max, time_max: Some(Span::from_ms(time_ms)), ..POLICY };
            let (mut attempts, mut elapsed) = (Attempts::default(), Span::ZERO);
            for entropy in entropies {
                match policy.next(&mut attempts, Transient, None, elapsed, entropy) {
                    Ok(wait) => elapsed = elapsed.plus(wait),
                    Err(_) => break,
                }
            }
            prop_assert!(attempts.made <= attempts_max.max(1));
            prop_assert!(elapsed.as_ms() < time_ms);
        }
    }
}
