//! The consumer of `orders`: every failure in here is a real one.

use super::deadline;
use super::order::Order;
use super::payments::{PaymentClient, PaymentError};
use super::state::State;
use super::version::Version;
use super::{catalogue, pricing, tenant};
use async_trait::async_trait;
use consumer::{At, Class, Classify, Failure, Handler, guard, here};
use domain::message::Content;
use domain::money::Decimal;
use domain::time::Timestamp;
use queue::Received;
use std::any::type_name_of_val;
use std::sync::Arc;

/// Handles the messages of the demo's main queue.
pub(super) struct Service {
    pub state: Arc<dyn Fn() -> State + Send + Sync>,
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// None where the demo has no payment service: then every order is paid for.
    pub payments: Option<PaymentClient>,
}

#[async_trait]
impl Handler for Service {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        self.process(&received.content.body).await.map_err(as_service)
    }
}

impl Service {
    async fn process(&self, body: &str) -> Result<(), Failure> {
        let state = (self.state)();
        let order = read(body).at(here!())?;
        tenant::check(&order.tenant).permanent(here!())?;
        deadline::check(order.deliver_by.as_deref(), (self.now)()).permanent(here!())?;
        let price = price(&order, &state).at(here!())?;
        self.pay(&order, price).await.at(here!())
    }

    async fn pay(&self, order: &Order, price: Decimal) -> Result<(), Failure> {
        let Some(payments) = &self.payments else { return Ok(()) };
        match payments.charge(order, price).await {
            Ok(()) => Ok(()),
            Err(PaymentError::Timeout(timeout)) => Err(timeout).transient(here!()),
            Err(unreachable @ PaymentError::Unreachable { .. }) => Err(unreachable).transient(here!()),
            Err(refused) => Err(refused).permanent(here!()),
        }
    }
}

fn read(body: &str) -> Result<Order, Failure> {
    serde_json::from_str(body).permanent(here!())
}

fn price(order: &Order, state: &State) -> Result<Decimal, Failure> {
    let products = catalogue::find_all(order, state.product_added).permanent(here!())?;
    let shipping = shipping(state.version, order, &products).at(here!())?;
    Ok(pricing::goods(order) + shipping)
}

/// A calculation: what panics once will panic again on the same order, so there is no use in retrying it.
fn shipping(version: Version, order: &Order, products: &[&catalogue::Product]) -> Result<Decimal, Failure> {
    let name = type_name_of_val(&pricing::shipping);
    guard(Class::Permanent, name, || pricing::shipping(version, order, products)).at(here!())
}

/// The message's type as its producer wrote it beside the body: it can be read even where the body cannot.
pub(super) fn message_type(content: &Content) -> Option<String> {
    content.attributes.get("message_type")?.as_text().map(String::from)
}

/// In production `orders` would be a crate of its own; its types and functions are named as if it were.
fn as_service(mut failure: Failure) -> Failure {
    let own_name = |name: &str| name.replace("local::orders::", "orders::");
    failure.error_type = own_name(&failure.error_type);
    for frame in &mut failure.frames {
        frame.function = own_name(&frame.function);
    }
    failure
}
