//! What a call costs that succeeds at once, through the retry and the circuit breaker of this crate and of others, and a
//! refusal by an open circuit. `cargo bench -p dlo-consumer --bench others`.

use backon::{ExponentialBuilder, Retryable};
use consumer::breaker::BreakerPolicy;
use consumer::dependency::Dependency;
use consumer::retry::{Retry, RetryPolicy};
use consumer::{Failure, Span};
use failsafe::futures::CircuitBreaker as _;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_resilience::circuitbreaker::CircuitBreakerLayer;
use tower_resilience::retry::RetryLayer;

const CALLS: u32 = 100_000;
/// Measured alternately, so that a busy machine disturbs all alike; the best round counts.
const ROUNDS: usize = 7;
/// How long an open circuit stays open: longer than the benchmark takes.
const OPEN: Duration = Duration::from_secs(3_600);

/// The error of a call, as small as this crate's is large.
#[derive(Clone, Debug)]
struct Busy;

async fn work(n: u32) -> Result<u32, Busy> {
    Ok(black_box(n))
}

async fn failing() -> Result<u32, Busy> {
    Err(black_box(Busy))
}

async fn directly() -> Duration {
    let started = Instant::now();
    for n in 0..CALLS {
        black_box(work(n).await).expect("an answer");
    }
    started.elapsed()
}

async fn retry_of_this_crate() -> Duration {
    let retry = Retry::new(RetryPolicy::default());
    let started = Instant::now();
    for n in 0..CALLS {
        let answer = retry.run(async || work(n).await.map_err(|Busy| Failure::transient("Busy", "busy"))).await;
        black_box(answer.ok()).expect("an answer");
    }
    started.elapsed()
}

async fn retry_of_backon() -> Duration {
    let policy = ExponentialBuilder::default().with_jitter();
    let started = Instant::now();
    for n in 0..CALLS {
        black_box((|| work(n)).retry(policy).await).expect("an answer");
    }
    started.elapsed()
}

async fn retry_of_tower_resilience() -> Duration {
    let layer = RetryLayer::<u32, u32, Busy>::builder().max_attempts(4).exponential_backoff(OPEN).build();
    let mut service = layer.layer(service_fn(work));
    let started = Instant::now();
    for n in 0..CALLS {
        let answer = service.ready().await.expect("it is ready").call(n).await;
        black_box(answer).expect("an answer");
    }
    started.elapsed()
}

async fn circuit_of_this_crate(open: bool) -> Duration {
    let open_for = Span::from_ms(i64::try_from(OPEN.as_millis()).expect("an hour"));
    let policy = BreakerPolicy { open_for, ..BreakerPolicy::default() };
    let dependency = Dependency::new("payments").with_breaker(policy);
    for _ in 0..if open { policy.failures_max } else { 0 } {
        let failed = failing().await.map_err(|Busy| Failure::transient("Busy", "busy"));
        assert!(dependency.call(async { failed }).await.is_err());
    }
    let started = Instant::now();
    for n in 0..CALLS {
        let answer = dependency.call(async { work(n).await.map_err(|Busy| Failure::transient("Busy", "busy")) }).await;
        assert_eq!(black_box(answer).is_err(), open);
    }
    started.elapsed()
}

async fn circuit_of_failsafe(open: bool) -> Duration {
    let policy = failsafe::failure_policy::consecutive_failures(5, failsafe::backoff::constant(OPEN));
    let circuit = failsafe::Config::new().failure_policy(policy).build();
    for _ in 0..if open { 5 } else { 0 } {
        assert!(circuit.call(failing()).await.is_err());
    }
    let started = Instant::now();
    for n in 0..CALLS {
        assert_eq!(black_box(circuit.call(work(n)).await).is_err(), open);
    }
    started.elapsed()
}

async fn circuit_of_tower_resilience(open: bool) -> Duration {
    let layer = CircuitBreakerLayer::builder()
        .minimum_number_of_calls(5)
        .sliding_window_size(5)
        .wait_duration_in_open(OPEN)
        .build()
        .expect("a valid configuration");
    let mut service =
        layer.layer(service_fn(|n: u32| async move { if n == u32::MAX { failing().await } else { work(n).await } }));
    for _ in 0..if open { 5 } else { 0 } {
        assert!(service.ready().await.expect("it is ready").call(u32::MAX).await.is_err());
    }
    let started = Instant::now();
    for n in 0..CALLS {
        let answer = match service.ready().await {
            Ok(service) => service.call(n).await.is_err(),
            Err(_) => true,
        };
        assert_eq!(black_box(answer), open);
    }
    started.elapsed()
}

const ROWS: [&str; 10] = [
    "the call alone",
    "retry: this crate",
    "retry: `backon`",
    "retry: `tower-resilience`",
    "circuit: this crate",
    "circuit: `failsafe`",
    "circuit: `tower-resilience`",
    "refusal: this crate",
    "refusal: `failsafe`",
    "refusal: `tower-resilience`",
];

async fn round() -> [Duration; ROWS.len()] {
    [
        directly().await,
        retry_of_this_crate().await,
        retry_of_backon().await,
        retry_of_tower_resilience().await,
        circuit_of_this_crate(false).await,
        circuit_of_failsafe(false).await,
        circuit_of_tower_resilience(false).await,
        circuit_of_this_crate(true).await,
        circuit_of_failsafe(true).await,
        circuit_of_tower_resilience(true).await,
    ]
}

#[tokio::main]
async fn main() {
    let mut best = [Duration::MAX; ROWS.len()];
    for _ in 0..ROUNDS {
        let round = tokio::spawn(round()).await.expect("a round");
        best = std::array::from_fn(|at| best[at].min(round[at]));
    }
    println!("| per call | ns |");
    println!("|---|---|");
    for (name, took) in ROWS.iter().zip(best) {
        println!("| {name} | {:.0} |", took.as_secs_f64() * 1e9 / f64::from(CALLS));
    }
}
