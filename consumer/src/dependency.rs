//! A dependency of a consumer: calls to it share one circuit breaker, one retry budget and one time limit.

use crate::breaker::{Breaker, BreakerPolicy, CircuitState, Permit, Refused};
use crate::budget::{Budget, BudgetPolicy, BudgetUsage};
use crate::clock::system_now;
use crate::clock::to_duration;
use crate::failure::{CircuitNote, Failure, IN_PROGRESS};
use crate::stop::Stop;
use domain::reading::Class;
use domain::time::Timestamp;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// A service, database or queue that handlers call. Clones share the state.
///
/// ```
/// use consumer::dependency::Dependency;
/// use consumer::retry::{Retry, RetryPolicy};
/// use consumer::Failure;
///
/// async fn charge(order: u64) -> Result<(), Failure> {
///     # let _ = order;
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let payments = Dependency::new("payments");
/// let retry = Retry::new(RetryPolicy::default()).budget_of(&payments);
/// retry.run(async || payments.call(charge(7)).await).await.map_err(Failure::from)?;
/// # Ok::<(), Failure>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Dependency {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    breaker: Mutex<Breaker>,
    tokens: Mutex<Tokens>,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// The budget, and which calls are requests.
struct Tokens {
    budget: Budget,
    /// Retries that were allowed, and whose calls have not begun: the next calls are no requests. Whose retry a call is
    /// does not matter for the count. A retry that is given up before its call costs the budget one request.
    retries_due: u32,
}

impl Tokens {
    fn withdraw(&mut self, now: Timestamp) -> bool {
        let is_allowed = self.budget.withdraw(now);
        self.retries_due = self.retries_due.saturating_add(u32::from(is_allowed));
        is_allowed
    }

    /// Counts a call, unless it is a retry. A call that its circuit refused is no request either.
    fn called(&mut self, is_made: bool, now: Timestamp) {
        match self.retries_due.checked_sub(1) {
            Some(left) => self.retries_due = left,
            None if is_made => self.budget.deposit(now),
            None => {}
        }
    }
}

impl fmt::Debug for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependency").field("name", &self.shared.name).field("state", &self.state()).finish()
    }
}

impl Dependency {
    /// Returns a dependency with the default breaker and budget. The name appears on stamps and metrics, so take it
    /// from a small fixed set.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// assert_eq!(Dependency::new("payments").name(), "payments");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_clock(name, system_now)
    }

    /// Returns a dependency that reads another clock, for tests.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// # use domain::time::Timestamp;
    /// let fixed = Dependency::with_clock("payments", || Timestamp::from_ms(7));
    /// # let _ = fixed;
    /// ```
    pub fn with_clock(name: impl Into<String>, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::assemble(name.into(), BreakerPolicy::default(), BudgetPolicy::default(), Arc::new(now))
    }

    fn assemble(
        name: String,
        breaker: BreakerPolicy,
        budget: BudgetPolicy,
        now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    ) -> Self {
        let tokens = Mutex::new(Tokens { budget: Budget::new(budget), retries_due: 0 });
        Self { shared: Arc::new(Shared { name, breaker: Mutex::new(Breaker::new(breaker)), tokens, now }) }
    }

    /// Returns a dependency of the same name with this breaker, and without the calls counted so far.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// # use consumer::breaker::BreakerPolicy;
    /// let touchy = Dependency::new("payments").with_breaker(BreakerPolicy { failures_max: 2, ..BreakerPolicy::default() });
    /// # let _ = touchy;
    /// ```
    #[must_use]
    pub fn with_breaker(self, breaker: BreakerPolicy) -> Self {
        let budget = *lock(&self.shared.tokens).budget.policy();
        Self::assemble(self.shared.name.clone(), breaker, budget, self.shared.now.clone())
    }

    /// Returns a dependency of the same name with this budget, and without the calls counted so far.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// # use consumer::budget::BudgetPolicy;
    /// let strict = Dependency::new("payments").with_budget(BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() });
    /// assert!(!strict.may_retry());
    /// ```
    #[must_use]
    pub fn with_budget(self, budget: BudgetPolicy) -> Self {
        let breaker = *lock(&self.shared.breaker).policy();
        Self::assemble(self.shared.name.clone(), breaker, budget, self.shared.now.clone())
    }

    /// Returns the name.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// assert_eq!(Dependency::new("stock").name(), "stock");
    /// ```
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns the circuit's state.
    ///
    /// ```
    /// # use consumer::{breaker::CircuitState, dependency::Dependency};
    /// assert_eq!(Dependency::new("stock").state(), CircuitState::Closed);
    /// ```
    pub fn state(&self) -> CircuitState {
        lock(&self.shared.breaker).state(self.now())
    }

    /// Returns the retry budget's window.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// assert_eq!(Dependency::new("stock").usage().requests, 0);
    /// ```
    pub fn usage(&self) -> BudgetUsage {
        lock(&self.shared.tokens).budget.usage(self.now())
    }

    /// Takes a token for a retry from the budget; returns false if it is exhausted. The next call counts as that retry, and
    /// not as a request. [`Retry`](crate::retry::Retry) does so by itself.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// assert!(Dependency::new("stock").may_retry(), "the default allows ten retries in 10 s without any request");
    /// ```
    pub fn may_retry(&self) -> bool {
        lock(&self.shared.tokens).withdraw(self.now())
    }

    /// Calls the dependency, if its circuit lets the call pass, within the time limit. A refused call fails at once: it
    /// waits neither for an open circuit nor for a probe in progress.
    ///
    /// Counts the request for the budget, unless it is a retry, and the result for the circuit: transient and unknown failures and timeouts
    /// are failures of the dependency; a permanent failure is an answer, and so is work in progress elsewhere
    /// ([`Once::run`](crate::once::Once::run)). A future that is dropped counts as neither, unless
    /// it had lasted half of the time limit: a handler that is cancelled at its own limit waited for a dependency that
    /// hangs.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// # use consumer::Failure;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let stock = Dependency::new("stock");
    /// assert_eq!(stock.call(async { Ok::<_, Failure>(3) }).await.unwrap(), 3);
    /// # });
    /// ```
    pub async fn call<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let guard = self.begin().map_err(|refused| self.refusal(refused))?;
        let call_max = lock(&self.shared.breaker).policy().call_max;
        let result = match tokio::time::timeout(to_duration(call_max), work).await {
            Ok(result) => result,
            Err(_) => Err(Failure::transient(
                "consumer::CallTimeout",
                format!("{} did not answer within {} ms", self.name(), call_max.as_ms()),
            )),
        };
        guard.finish(answered(&result));
        result.map_err(|mut failure| {
            failure.context.circuit = Some(self.note(None));
            failure
        })
    }

    /// Asks the circuit for one call whose result the caller reports itself. [`Dependency::call`] does all of it.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// let stock = Dependency::new("stock");
    /// stock.begin().unwrap().finish(true);
    /// ```
    pub fn begin(&self) -> Result<CallGuard, Refused> {
        let now = self.now();
        let permit = lock(&self.shared.breaker).permit(now);
        // Whatever happens from here on, the guard gives the permit back.
        let guard = permit.map(|permit| CallGuard { dependency: self.clone(), permit: Some(permit), began: now });
        lock(&self.shared.tokens).called(guard.is_ok(), now);
        guard
    }

    /// The failure of a call that was not made.
    fn refusal(&self, refused: Refused) -> Failure {
        let message = format!("{} was not called: {refused}", self.name());
        let mut failure = Failure::transient("consumer::CircuitOpen", message);
        failure.context.stop = Some(Stop::CircuitOpen);
        failure.context.circuit = Some(self.note(Some(refused)));
        failure.context.retry_after = Some(refused.retry_after);
        failure
    }

    fn note(&self, refused: Option<Refused>) -> CircuitNote {
        CircuitNote {
            dependency: self.shared.name.clone(),
            state: self.state(),
            retry_after: refused.map(|refused| refused.retry_after),
            budget: self.usage(),
        }
    }

    fn now(&self) -> Timestamp {
        (self.shared.now)()
    }
}

/// A call in progress. Dropped without [`finish`](Self::finish), it tells the circuit nothing, unless it had lasted half of
/// its time limit: then it counts as unanswered.
///
/// ```
/// use consumer::{breaker::CircuitState, dependency::Dependency};
///
/// let stock = Dependency::new("stock");
/// drop(stock.begin().unwrap());
/// assert_eq!(stock.state(), CircuitState::Closed);
/// ```
#[must_use]
pub struct CallGuard {
    dependency: Dependency,
    permit: Option<Permit>,
    began: Timestamp,
}

impl CallGuard {
    /// Reports the result: whether the dependency answered.
    ///
    /// ```
    /// # use consumer::dependency::Dependency;
    /// Dependency::new("stock").begin().unwrap().finish(false);
    /// ```
    pub fn finish(mut self, healthy: bool) {
        if let Some(permit) = self.permit.take() {
            lock(&self.dependency.shared.breaker).record(permit, healthy, self.dependency.now());
            #[cfg(feature = "metrics")]
            crate::measure::dependency(self.dependency.name(), self.dependency.state(), &self.dependency.usage());
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            let now = self.dependency.now();
            let mut breaker = lock(&self.dependency.shared.breaker);
            if now.since(self.began).times(2) >= breaker.policy().call_max {
                breaker.record(permit, false, now);
            } else {
                breaker.cancel(permit);
            }
            drop(breaker);
            #[cfg(feature = "metrics")]
            crate::measure::dependency(self.dependency.name(), self.dependency.state(), &self.dependency.usage());
        }
    }
}

/// A permanent failure is an answer: the dependency is alive, and the request is wrong. So is a key in progress.
fn answered<T>(result: &Result<T, Failure>) -> bool {
    result.as_ref().err().is_none_or(|failure| failure.class == Class::Permanent || failure.error_type == IN_PROGRESS)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
