//! Retry in process: repeats an operation with backoff, within attempts and time. [`RetryPolicy::next`] is the pure
//! rule; [`Retry`] runs it.
//!
//! For waits of milliseconds to seconds. A message that must wait longer goes back to its queue, where a wait costs
//! nothing and survives a crash: that is what [`Consumer`](crate::Consumer) does with a failed message.

use crate::backoff::Backoff;
use crate::call::to_duration;
use crate::case::since;
use crate::config::system_entropy;
use crate::dependency::Dependency;
use crate::failure::Failure;
use domain::reading::Class;
use domain::time::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

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

/// Why an operation is not repeated.
///
/// ```
/// use consumer::retry::Stop;
///
/// assert_eq!(Stop::TimeExhausted.to_string(), "no time is left for another attempt");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A retry cannot help.
    #[error("the failure is permanent")]
    Permanent,
    /// The last attempt failed.
    #[error("all attempts failed")]
    AttemptsExhausted,
    /// The next wait would end after the time limit.
    #[error("no time is left for another attempt")]
    TimeExhausted,
    /// The dependency's retry budget is exhausted.
    #[error("the retry budget is exhausted")]
    BudgetExhausted,
    /// The dependency's circuit is open.
    #[error("the circuit is open")]
    CircuitOpen,
    /// The process shuts down.
    #[error("the process is shutting down")]
    Cancelled,
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

/// An operation failed, and is not repeated.
///
/// ```
/// use consumer::retry::{Retry, RetryPolicy, Stop};
/// use consumer::Failure;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let once = RetryPolicy { attempts_max: 1, ..RetryPolicy::default() };
/// let given_up = Retry::new(once).run(async || Err::<(), _>(Failure::transient("Busy", "come back"))).await.unwrap_err();
/// assert_eq!((given_up.stop, given_up.attempts), (Stop::AttemptsExhausted, 1));
/// assert_eq!(given_up.error.message, "come back");
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp<E> {
    /// The last error.
    pub error: E,
    /// Why there was no further attempt.
    pub stop: Stop,
    /// The number of attempts.
    pub attempts: u32,
}

impl From<GivenUp<Failure>> for Failure {
    /// Keeps the failure, and notes what stopped the retries for the stamp.
    fn from(given_up: GivenUp<Failure>) -> Self {
        let mut failure = given_up.error;
        failure.context.stop = Some(given_up.stop);
        failure
    }
}

/// An operation in progress.
pub(crate) struct Progress {
    pub attempts: Attempts,
    started: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { attempts: Attempts::default(), started: Instant::now() }
    }
}

/// Repeats operations by a [`RetryPolicy`].
///
/// ```
/// use consumer::retry::{Retry, RetryPolicy};
/// use consumer::Failure;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut calls = 0;
/// let answer = Retry::new(RetryPolicy::default())
///     .run(async || {
///         calls += 1;
///         if calls < 2 { Err(Failure::transient("Busy", "come back")) } else { Ok("done") }
///     })
///     .await;
/// assert_eq!(answer.unwrap(), "done");
/// assert_eq!(calls, 2);
/// # });
/// ```
#[derive(Clone)]
pub struct Retry {
    policy: RetryPolicy,
    dependency: Option<Dependency>,
    shutdown: Option<watch::Receiver<bool>>,
    entropy: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Retry {
    /// Returns a retry without budget and circuit.
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// let retry = Retry::new(RetryPolicy::default());
    /// # let _ = retry;
    /// ```
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, dependency: None, shutdown: None, entropy: Arc::new(system_entropy) }
    }

    /// Takes each retry from the dependency's budget. The calls themselves go through [`Dependency::call`].
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// # use consumer::dependency::Dependency;
    /// let payments = Dependency::new("payments");
    /// let retry = Retry::new(RetryPolicy::default()).budget_of(&payments);
    /// # let _ = retry;
    /// ```
    #[must_use]
    pub fn budget_of(mut self, dependency: &Dependency) -> Self {
        self.dependency = Some(dependency.clone());
        self
    }

    /// Ends a wait at once when `shutdown` becomes true. (Dropping the future ends it too.)
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// let (close, shutdown) = tokio::sync::watch::channel(false);
    /// let retry = Retry::new(RetryPolicy::default()).until(shutdown);
    /// # let _ = (retry, close);
    /// ```
    #[must_use]
    pub fn until(mut self, shutdown: watch::Receiver<bool>) -> Self {
        self.shutdown = Some(shutdown);
        self
    }

    /// Uses other random numbers, for tests.
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// let longest_waits = Retry::new(RetryPolicy::default()).with_entropy(|| u64::MAX);
    /// # let _ = longest_waits;
    /// ```
    #[must_use]
    pub fn with_entropy(mut self, entropy: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.entropy = Arc::new(entropy);
        self
    }

    /// Runs the operation until it succeeds or the policy gives up. Never waits after the last attempt.
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// # use consumer::Failure;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let answer = Retry::new(RetryPolicy::default()).run(async || Ok::<_, Failure>(7)).await;
    /// assert_eq!(answer.unwrap(), 7);
    /// # });
    /// ```
    pub async fn run<T, E: Retryable>(
        &self,
        mut operation: impl AsyncFnMut() -> Result<T, E>,
    ) -> Result<T, GivenUp<E>> {
        let mut progress = Progress::begin();
        loop {
            let error = match operation().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if let Err(stop) = self.wait(&mut progress, error.class(), error.retry_after()).await {
                return Err(GivenUp { error, stop, attempts: progress.attempts.made });
            }
        }
    }

    /// Waits before the next attempt, or says why there is none.
    pub(crate) async fn wait(
        &self,
        progress: &mut Progress,
        class: Class,
        retry_after: Option<Span>,
    ) -> Result<(), Stop> {
        let entropy = (self.entropy)();
        let elapsed = since(progress.started);
        let wait = self.policy.next(&mut progress.attempts, class, retry_after, elapsed, entropy)?;
        self.pause(self.within_budget(wait)?).await
    }

    fn within_budget(&self, wait: Span) -> Result<Span, Stop> {
        let allowed = self.dependency.as_ref().is_none_or(Dependency::may_retry);
        if allowed { Ok(wait) } else { Err(Stop::BudgetExhausted) }
    }

    async fn pause(&self, wait: Span) -> Result<(), Stop> {
        let sleep = tokio::time::sleep(to_duration(wait));
        let Some(mut shutdown) = self.shutdown.clone() else {
            sleep.await;
            return Ok(());
        };
        tokio::select! {
            () = sleep => Ok(()),
            // A dropped sender means shutdown too, as for `Consumer::run`.
            _ = shutdown.wait_for(|shutdown| *shutdown) => Err(Stop::Cancelled),
        }
    }
}

/// Repeats an operation by a policy; returns its last error if it never succeeds. For a budget or a shutdown, use
/// [`Retry`].
///
/// ```
/// use consumer::retry::{RetryPolicy, retry};
/// use consumer::Failure;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let answer = retry(RetryPolicy::default(), async || Err::<(), _>(Failure::permanent("Bad", "no such order"))).await;
/// assert_eq!(answer.unwrap_err().message, "no such order");
/// # });
/// ```
pub async fn retry<T, E: Retryable>(policy: RetryPolicy, operation: impl AsyncFnMut() -> Result<T, E>) -> Result<T, E> {
    Retry::new(policy).run(operation).await.map_err(|given_up| given_up.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::{Permanent, Transient, Unknown};
    use proptest::prelude::*;
    use std::time::Duration;

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

    fn failing() -> Result<(), Failure> {
        Err(Failure::transient("Busy", "come back"))
    }

    #[tokio::test]
    async fn the_last_attempt_is_followed_by_no_wait() {
        let forever = Backoff::new(Span::from_days(1), Span::from_days(1));
        let policy = RetryPolicy { backoff: forever, attempts_max: 1, time_max: None };
        let given_up = Retry::new(policy).with_entropy(|| u64::MAX).run(async || failing()).await.unwrap_err();
        assert_eq!((given_up.stop, given_up.attempts), (Stop::AttemptsExhausted, 1));
    }

    #[tokio::test]
    async fn shutdown_ends_a_wait_at_once() {
        let forever = Backoff::new(Span::from_days(1), Span::from_days(1));
        let policy = RetryPolicy { backoff: forever, attempts_max: 2, time_max: None };
        let (close, shutdown) = watch::channel(false);
        let retry = Retry::new(policy).with_entropy(|| u64::MAX).until(shutdown);
        let running = tokio::spawn(async move { retry.run(async || failing()).await });
        close.send_replace(true);
        let given_up = tokio::time::timeout(Duration::from_secs(120), running).await.unwrap().unwrap().unwrap_err();
        assert_eq!((given_up.stop, given_up.attempts), (Stop::Cancelled, 1));
    }

    #[tokio::test]
    async fn an_exhausted_budget_ends_the_retries() {
        let budget = crate::budget::BudgetPolicy { retries_min: 2, ..Default::default() };
        let dependency = Dependency::new("payments").with_budget(budget);
        let backoff = Backoff::new(Span::from_ms(1), Span::from_ms(1));
        let policy = RetryPolicy { backoff, attempts_max: 9, time_max: None };
        let given_up = Retry::new(policy).budget_of(&dependency).run(async || failing()).await.unwrap_err();
        assert_eq!((given_up.stop, given_up.attempts), (Stop::BudgetExhausted, 3));
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
