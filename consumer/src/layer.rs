//! Circuit, time limit, budget and retry as a layer for [`tower`] services (feature `tower`), so that an HTTP client
//! uses the same dependency as a handler.

use crate::dependency::Dependency;
use crate::failure::Failure;
use crate::retry::{GivenUp, Progress, Retry, RetryPolicy, Retryable};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower::{Layer, Service, ServiceExt};

/// Wraps a service in a [`Dependency`] and a [`RetryPolicy`].
///
/// The service's error becomes a [`Failure`] by `classify`. Requests are cloned for each attempt. An answer that is an
/// error by its content, such as HTTP 503, must be made an error inside of this layer.
///
/// ```
/// use consumer::dependency::Dependency;
/// use consumer::layer::DependencyLayer;
/// use consumer::retry::RetryPolicy;
/// use consumer::{Class, Failure};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let double = service_fn(async |n: u32| n.checked_mul(2).ok_or(std::fmt::Error));
/// let layer = DependencyLayer::new(Dependency::new("double"), RetryPolicy::default(), |error: std::fmt::Error| {
///     Failure::capture(Class::Permanent, &error)
/// });
/// assert_eq!(layer.layer(double).oneshot(21).await.unwrap(), 42);
/// # });
/// ```
#[derive(Clone)]
pub struct DependencyLayer<C> {
    dependency: Dependency,
    retry: Retry,
    classify: C,
}

impl<C> DependencyLayer<C> {
    /// Returns the layer. `classify` turns the service's error into a failure with a class.
    ///
    /// ```
    /// # use consumer::{Class, Failure, dependency::Dependency, layer::DependencyLayer, retry::RetryPolicy};
    /// let layer = DependencyLayer::new(Dependency::new("stock"), RetryPolicy::default(), |error: std::io::Error| {
    ///     Failure::capture(Class::Transient, &error)
    /// });
    /// # let _ = layer;
    /// ```
    pub fn new(dependency: Dependency, policy: RetryPolicy, classify: C) -> Self {
        let retry = Retry::new(policy).budget_of(&dependency);
        Self { dependency, retry, classify }
    }
}

impl<S, C: Clone> Layer<S> for DependencyLayer<C> {
    type Service = DependencyService<S, C>;

    fn layer(&self, inner: S) -> Self::Service {
        DependencyService { inner, layer: self.clone() }
    }
}

/// A service behind a circuit, with retries.
///
/// ```
/// # use consumer::{Class, Failure, dependency::Dependency, layer::{DependencyLayer, DependencyService}, retry::RetryPolicy};
/// use tower::Layer;
///
/// fn guarded<S, C: Clone>(service: S, layer: &DependencyLayer<C>) -> DependencyService<S, C> {
///     layer.layer(service)
/// }
/// ```
#[derive(Clone)]
pub struct DependencyService<S, C> {
    inner: S,
    layer: DependencyLayer<C>,
}

impl<S, C, Request> Service<Request> for DependencyService<S, C>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Response: Send,
    S::Future: Send,
    C: Fn(S::Error) -> Failure + Clone + Send + Sync + 'static,
    Request: Clone + Send + Sync + 'static,
{
    type Response = S::Response;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Failure>> + Send>>;

    /// Always ready: each attempt waits for the inner service within its time limit.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { inner, layer } = self.clone();
        Box::pin(async move {
            let DependencyLayer { dependency, retry, classify } = layer;
            let mut progress = Progress::begin();
            loop {
                let work = inner.clone().oneshot(request.clone());
                let failure = match dependency.call(async { work.await.map_err(&classify) }).await {
                    Ok(answer) => return Ok(answer),
                    Err(failure) => failure,
                };
                if let Err(stop) = retry.wait(&mut progress, failure.class(), failure.retry_after()).await {
                    return Err(GivenUp { error: failure, stop, attempts: progress.attempts.made }.into());
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breaker::{BreakerPolicy, CircuitState};
    use domain::reading::Class;
    use domain::time::Span;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use tower::service_fn;

    fn busy(error: std::io::Error) -> Failure {
        Failure::capture(Class::Transient, &error)
    }

    /// Fails this often, then answers with the number of calls.
    fn flaky(
        failures: u32,
        calls: &Arc<AtomicU32>,
    ) -> impl Service<(), Response = u32, Error = std::io::Error, Future: Send> + Clone + Send + 'static {
        let calls = calls.clone();
        service_fn(move |()| {
            let call = calls.fetch_add(1, SeqCst) + 1;
            std::future::ready(if call > failures { Ok(call) } else { Err(std::io::Error::other("busy")) })
        })
    }

    fn policy() -> RetryPolicy {
        let backoff = crate::backoff::Backoff::new(Span::from_ms(1), Span::from_ms(1));
        RetryPolicy { backoff, ..RetryPolicy::default() }
    }

    #[tokio::test]
    async fn transient_errors_are_retried_until_the_policy_gives_up() {
        let calls = Arc::new(AtomicU32::new(0));
        let layer = DependencyLayer::new(Dependency::new("stock"), policy(), busy);
        assert_eq!(layer.layer(flaky(2, &calls)).oneshot(()).await.unwrap(), 3);
        let failure = layer.layer(flaky(99, &calls)).oneshot(()).await.unwrap_err();
        assert_eq!((calls.load(SeqCst), failure.message.as_str()), (6, "busy"));
        assert_eq!(failure.context.stop, Some(crate::retry::Stop::AttemptsExhausted));
    }

    #[tokio::test]
    async fn behind_an_open_circuit_the_service_is_not_called() {
        let calls = Arc::new(AtomicU32::new(0));
        let stock =
            Dependency::new("stock").with_breaker(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let once = RetryPolicy { attempts_max: 1, ..policy() };
        let service = DependencyLayer::new(stock.clone(), once, busy).layer(flaky(99, &calls));
        assert!(service.clone().oneshot(()).await.is_err());
        assert_eq!(stock.state(), CircuitState::Open);
        assert_eq!(service.oneshot(()).await.unwrap_err().error_type, "consumer::CircuitOpen");
        assert_eq!(calls.load(SeqCst), 1);
    }
}
