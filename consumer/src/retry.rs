//! Retry in process: repeats an operation with backoff, within attempts and time. [`RetryPolicy::next`] is the pure
//! rule; [`Retry`] runs it.
//!
//! For waits of milliseconds to seconds. A message that must wait longer goes back to its queue, where a wait costs
//! nothing and survives a crash: that is what [`Consumer`](crate::Consumer) does with a failed message.

use crate::case::since;
use crate::clock::system_entropy;
use crate::clock::to_duration;
use crate::dependency::Dependency;
use crate::failure::Failure;
use domain::reading::Class;
use domain::time::Span;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

mod policy;

pub use crate::stop::Stop;
pub use policy::{Attempts, RetryPolicy, Retryable};

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
        // That the circuit refused the last attempt says more than that there was no time to wait for it.
        if failure.context.stop != Some(Stop::CircuitOpen) {
            failure.context.stop = Some(given_up.stop);
        }
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
///     .run(|| {
///         calls += 1;
///         async move { if calls < 2 { Err(Failure::transient("Busy", "come back")) } else { Ok("done") } }
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

    /// Runs the operation until it succeeds or the policy gives up. Never waits after the last attempt. The future can
    /// be sent to another thread if those of the operation can, as a [`Handler`](crate::Handler) needs it.
    ///
    /// ```
    /// # use consumer::retry::{Retry, RetryPolicy};
    /// # use consumer::Failure;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let answer = Retry::new(RetryPolicy::default()).run(async || Ok::<_, Failure>(7)).await;
    /// assert_eq!(answer.unwrap(), 7);
    /// # });
    /// ```
    // Not `AsyncFnMut`: nothing can say of its futures that they can be sent.
    pub async fn run<T, E, F>(&self, mut operation: impl FnMut() -> F) -> Result<T, GivenUp<E>>
    where
        E: Retryable,
        F: Future<Output = Result<T, E>>,
    {
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
pub async fn retry<T, E, F>(policy: RetryPolicy, operation: impl FnMut() -> F) -> Result<T, E>
where
    E: Retryable,
    F: Future<Output = Result<T, E>>,
{
    Retry::new(policy).run(operation).await.map_err(|given_up| given_up.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::Backoff;
    use std::time::Duration;

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

    /// A handler's future must be `Send`, with what it borrows.
    #[tokio::test]
    async fn retry_runs_in_a_handler() {
        struct Paying(Retry, Dependency);

        async fn charge(body: &str) -> Result<usize, Failure> {
            Ok(body.len())
        }

        #[async_trait::async_trait]
        impl crate::Handler for Paying {
            async fn handle(&self, received: &queue::Received) -> Result<(), Failure> {
                let Self(retry, payments) = self;
                let body = &received.content.body;
                retry.run(async || payments.call(charge(body)).await).await?;
                retry.run(|| payments.call(charge(body))).await?;
                Ok(())
            }
        }

        let payments = Dependency::new("payments");
        let paying: Arc<dyn crate::Handler> = Arc::new(Paying(Retry::new(RetryPolicy::default()), payments.clone()));
        let received = queue::Received {
            message_id: "m".into(),
            receipt_handle: "h".into(),
            content: domain::message::Content::default(),
            system: domain::message::SystemAttributes::default(),
        };
        tokio::spawn(async move { paying.handle(&received).await }).await.unwrap().unwrap();
        assert_eq!(payments.usage().requests, 2);
    }

    /// Or the message would be neither held back nor stamped as what it is.
    #[tokio::test]
    async fn a_failure_of_an_open_circuit_says_so_whatever_ended_the_retries() {
        let open = crate::breaker::BreakerPolicy { failures_max: 1, ..Default::default() };
        let payments = Dependency::new("payments").with_breaker(open);
        payments.begin().unwrap().finish(false);
        let retry = Retry::new(RetryPolicy::default()).budget_of(&payments);
        let given_up = retry.run(async || payments.call(async { Ok(()) }).await).await.unwrap_err();
        assert_eq!(given_up.stop, Stop::TimeExhausted, "the circuit is open for longer");
        assert_eq!(Failure::from(given_up).context.stop, Some(Stop::CircuitOpen));
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
}
