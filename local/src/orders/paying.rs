//! How the consumer pays for an order: through the circuit, the retry budget and the retries of the crate `consumer`.

#[cfg(feature = "aws")]
use super::ledger::KEPT;
use super::order::Order;
use super::payments::{PaymentClient, PaymentError};
use consumer::backoff::Backoff;
use consumer::breaker::BreakerPolicy;
use consumer::dependency::Dependency;
#[cfg(feature = "aws")]
use consumer::once::Once;
use consumer::retry::{Retry, RetryPolicy};
use consumer::{Classify, Failure, here};
use domain::money::{Decimal, Money};
use domain::time::{Span, Timestamp};
use std::sync::Arc;

/// The payment service's name on stamps and notices.
pub(super) const PAYMENTS: &str = "payments";

/// Failures that open the circuit: twice as many as orders are handled at once, so that one stall of the disk does not.
const FAILURES_MAX: u32 = 20;
/// The window of those failures. An outage fills it within seconds.
const FAILURES_WITHIN: Span = Span::from_secs(10);
/// How long the circuit stays open: as long as the demo's queue hides a message, so that waiting orders do not outwait
/// their receives.
const OPEN_FOR: Span = Span::from_secs(2);
/// What the circuit grants a call beyond the client's own time limit, whose error says more.
const CALL_SLACK: Span = Span::from_ms(100);
/// Attempts in one receive, and the longest time for them: the demo's queue hides a message for 2 s.
const RETRIES: RetryPolicy = RetryPolicy {
    backoff: Backoff::new(Span::from_ms(50), Span::from_ms(200)),
    attempts_max: 2,
    time_max: Some(Span::from_ms(800)),
};

/// Who records a payment, once per key.
pub(super) enum Payer {
    /// The demo's payment service. Its ledger keeps key and payment in one transaction.
    Service(PaymentClient),
    /// A table of idempotency keys: what it keeps for a key is the payment.
    #[cfg(feature = "aws")]
    Kept(Once),
}

/// Pays for orders.
pub(super) struct Paying {
    payer: Payer,
    payments: Dependency,
    retry: Retry,
}

impl Paying {
    /// Returns a payer whose calls take up to `patience`, by this clock.
    pub(super) fn new(payer: Payer, patience: Span, now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        let breaker = BreakerPolicy {
            failures_max: FAILURES_MAX,
            window: FAILURES_WITHIN,
            open_for: OPEN_FOR,
            call_max: patience.plus(CALL_SLACK),
            ..BreakerPolicy::default()
        };
        let payments = Dependency::with_clock(PAYMENTS, move || now()).with_breaker(breaker);
        let retry = Retry::new(RETRIES).budget_of(&payments);
        Self { payer, payments, retry }
    }

    /// Returns the payment service with its circuit and budget, for the notices to the office.
    pub(super) fn dependency(&self) -> Dependency {
        self.payments.clone()
    }

    /// Charges `amount` for an order; pays it back for a refund. The same order is paid once.
    pub(super) async fn pay(&self, order: &Order, amount: Decimal) -> Result<(), Failure> {
        let money = Money { amount, currency: order.total.currency };
        self.retry.run(|| self.payments.call(self.charge(order, money))).await?;
        Ok(())
    }

    /// One attempt. Its error is classified here, because only a transient one is tried again.
    async fn charge(&self, order: &Order, money: Money) -> Result<(), Failure> {
        match &self.payer {
            Payer::Service(client) => match client.charge(order, money).await {
                Ok(()) => Ok(()),
                Err(PaymentError::Timeout(timeout)) => Err(timeout).transient(here!()),
                Err(failed @ (PaymentError::Unreachable { .. } | PaymentError::Failed { .. })) => {
                    Err(failed).transient(here!())
                }
                Err(refused) => Err(refused).permanent(here!()),
            },
            #[cfg(feature = "aws")]
            Payer::Kept(once) => {
                once.run(&order.idempotency_key(), KEPT, async { Ok(money) }).await?;
                Ok(())
            }
        }
    }
}
