//! Calls behind a circuit, with a budget.

use super::*;
use domain::time::Span;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::task::Poll;

fn touchy(clock: &Arc<AtomicI64>) -> Dependency {
    let clock = clock.clone();
    let policy = BreakerPolicy { failures_max: 2, call_max: Span::from_ms(50), ..BreakerPolicy::default() };
    Dependency::with_clock("payments", move || Timestamp::from_ms(clock.load(SeqCst))).with_breaker(policy)
}

#[tokio::test]
async fn timeouts_open_the_circuit_and_a_probe_closes_it() {
    let clock = Arc::new(AtomicI64::new(0));
    let payments = touchy(&clock);
    for _ in 0..2 {
        let failure = payments.call(pending::<Result<(), Failure>>()).await.unwrap_err();
        assert_eq!((failure.error_type.as_str(), failure.class), ("consumer::CallTimeout", Class::Transient));
    }
    let refused = payments.call(async { Ok::<(), Failure>(()) }).await.unwrap_err();
    assert_eq!(refused.error_type, "consumer::CircuitOpen");
    assert_eq!(refused.message, "payments was not called: the circuit is open for another 30000 ms");
    assert_eq!(refused.context.retry_after, Some(Span::from_secs(30)));
    let note = refused.context.circuit.expect("the circuit");
    assert_eq!((note.dependency.as_str(), note.state, note.budget.requests), ("payments", CircuitState::Open, 2));
    clock.store(30_000, SeqCst);
    assert_eq!(payments.state(), CircuitState::HalfOpen);
    assert!(payments.call(async { Ok::<(), Failure>(()) }).await.is_ok());
    assert_eq!(payments.state(), CircuitState::Closed);
}

#[tokio::test]
async fn while_a_probe_runs_other_calls_fail_at_once_and_say_when_to_return() {
    let clock = Arc::new(AtomicI64::new(0));
    let payments = touchy(&clock);
    (0..2).for_each(|_| payments.begin().expect("closed").finish(false));
    clock.store(30_000, SeqCst);
    let probe = payments.begin().expect("half-open");
    for (ms, retry_after_ms) in [(0, 5), (3, 2), (2, 45), (10, 35)] {
        clock.fetch_add(ms, SeqCst);
        let mut other = std::pin::pin!(payments.call(async { unreachable!("it is called") }));
        // Polled once: it does not wait for the probe.
        let polled = poll_fn(|context| Poll::Ready(other.as_mut().poll(context))).await;
        let Poll::Ready(refused) = polled else { panic!("it waits") };
        let refused: Failure = refused.map(|()| "called").expect_err("refused");
        assert_eq!(refused.error_type, "consumer::CircuitOpen");
        assert_eq!(refused.context.retry_after, Some(Span::from_ms(retry_after_ms)));
        assert_eq!(refused.context.circuit.expect("the circuit").state, CircuitState::HalfOpen);
    }
    probe.finish(true);
    assert!(payments.call(async { Ok::<(), Failure>(()) }).await.is_ok());
}

#[tokio::test]
async fn a_permanent_failure_is_an_answer() {
    let payments = touchy(&Arc::default());
    for _ in 0..9 {
        let refused = Failure::permanent("CardDeclined", "no money");
        assert!(payments.call(async { Err::<(), _>(refused) }).await.is_err());
    }
    assert_eq!(payments.state(), CircuitState::Closed);
}

#[tokio::test]
async fn work_that_is_in_progress_elsewhere_is_an_answer() {
    let payments = touchy(&Arc::new(AtomicI64::new(0)));
    for _ in 0..9 {
        let busy = Failure::transient(IN_PROGRESS, "by another consumer");
        assert!(payments.call(async { Err::<(), _>(busy) }).await.is_err());
    }
    assert_eq!(payments.state(), CircuitState::Closed);
}

#[test]
fn calls_that_are_cancelled_late_count_as_unanswered_and_early_ones_do_not() {
    let clock = Arc::new(AtomicI64::new(0));
    let payments = touchy(&clock);
    let cancelled_after = |ms| {
        let guard = payments.begin().expect("closed");
        clock.fetch_add(ms, SeqCst);
        drop(guard);
    };
    (0..9).for_each(|_| cancelled_after(24));
    assert_eq!(payments.state(), CircuitState::Closed);
    (0..2).for_each(|_| cancelled_after(25));
    assert_eq!(payments.state(), CircuitState::Open);
}

/// The number that the policy promises: 10% of 100 operations are ten retries, and not eleven.
#[test]
fn of_a_hundred_operations_ten_may_be_retried() {
    for (share_pct, retries_min, expected) in [(10, 0, 10), (10, 10, 20), (0, 0, 0), (25, 0, 25), (100, 0, 100)] {
        let budget = BudgetPolicy { share_pct, retries_min, ..BudgetPolicy::default() };
        let never = BreakerPolicy { failures_max: u32::MAX, ..BreakerPolicy::default() };
        let payments = Dependency::with_clock("payments", || Timestamp::from_ms(7));
        let payments = payments.with_budget(budget).with_breaker(never);
        let mut calls = 0;
        let mut call = || {
            calls += 1;
            payments.begin().expect("closed").finish(false);
        };
        // All fail first, as in an outage; then each is retried as often as it may.
        (0..100).for_each(|_| call());
        while payments.may_retry() {
            call();
        }
        assert_eq!(calls, 100 + expected, "{share_pct}% and {retries_min}");
        let usage = BudgetUsage { requests: 100, retries: expected, retries_left: 0 };
        assert_eq!(payments.usage(), usage, "{share_pct}% and {retries_min}");
    }
}

#[tokio::test]
async fn retries_that_pay_for_themselves_come_to_a_tenth_too() {
    use crate::retry::{Retry, RetryPolicy};
    let budget = BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() };
    let never = BreakerPolicy { failures_max: u32::MAX, ..BreakerPolicy::default() };
    let payments = Dependency::with_clock("payments", || Timestamp::from_ms(7));
    let payments = payments.with_budget(budget).with_breaker(never);
    let backoff = crate::backoff::Backoff::new(Span::ZERO, Span::ZERO);
    let retry = Retry::new(RetryPolicy { backoff, attempts_max: 3, time_max: None }).budget_of(&payments);
    let mut attempts = 0;
    for _ in 0..1_000 {
        let busy = async || Err::<(), _>(Failure::transient("Busy", "come back"));
        attempts += retry.run(|| payments.call(busy())).await.expect_err("busy").attempts;
    }
    assert_eq!(attempts, 1_100);
    assert_eq!(payments.usage().requests, 1_000);
}

#[test]
fn a_refused_call_is_neither_a_request_nor_an_open_debt() {
    let payments = touchy(&Arc::new(AtomicI64::new(0)));
    (0..2).for_each(|_| payments.begin().expect("closed").finish(false));
    assert!(payments.begin().is_err());
    assert!(payments.may_retry() && payments.begin().is_err());
    assert_eq!(payments.usage().requests, 2);
    assert_eq!(lock(&payments.shared.tokens).retries_due, 0);
}

#[test]
fn a_clock_that_panics_takes_no_probe_with_it() {
    let clock = Arc::new(AtomicI64::new(0));
    let read = clock.clone();
    let policy = BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() };
    let payments = Dependency::with_clock("payments", move || {
        assert!(read.load(SeqCst) >= 0, "no clock");
        Timestamp::from_ms(read.load(SeqCst))
    });
    let payments = payments.with_breaker(policy);
    payments.begin().expect("closed").finish(false);
    clock.store(-1, SeqCst);
    assert!(crate::panic::caught(|| payments.begin().is_ok()).is_err());
    clock.store(30_000, SeqCst);
    assert!(payments.begin().is_ok(), "the probe is still to be had");
}

#[tokio::test]
async fn a_dropped_probe_makes_room_for_the_next() {
    let clock = Arc::new(AtomicI64::new(0));
    let payments = touchy(&clock);
    (0..2).for_each(|_| payments.begin().expect("closed").finish(false));
    clock.store(30_000, SeqCst);
    let dropped = tokio::time::timeout(std::time::Duration::ZERO, payments.call(pending::<Result<(), Failure>>()));
    assert!(dropped.await.is_err());
    assert!(payments.begin().is_ok());
}
