//! The consumer of `orders`. No failure is simulated.

use super::deadline;
use super::order::Order;
use super::paying::Paying;
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
    pub paying: Paying,
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
        let price = price(&order, &state, (self.now)()).at(here!())?;
        self.paying.pay(&order, price).await.at(here!())
    }
}

fn read(body: &str) -> Result<Order, Failure> {
    serde_json::from_str(body).permanent(here!())
}

fn price(order: &Order, state: &State, now: Timestamp) -> Result<Decimal, Failure> {
    let products = catalogue::find_all(order, state.product_added).permanent(here!())?;
    let shipping = shipping(state.version, order, &products, now).at(here!())?;
    Ok(pricing::goods(order) + shipping)
}

/// A pure calculation: if it panics, it panics again on the same order, so a retry cannot help.
fn shipping(
    version: Version,
    order: &Order,
    products: &[&catalogue::Product],
    now: Timestamp,
) -> Result<Decimal, Failure> {
    let name = type_name_of_val(&pricing::shipping);
    guard(Class::Permanent, name, || pricing::shipping(version, order, products, now)).at(here!())
}

/// Returns the message's idempotency key; `None` if its body cannot be read.
pub(super) fn idempotency_key(content: &Content) -> Option<String> {
    serde_json::from_str::<Order>(&content.body).ok().map(|order| order.idempotency_key())
}

/// Returns the message's type from its attribute, which is readable even if the body is not.
pub(super) fn message_type(content: &Content) -> Option<String> {
    content.attributes.get("message_type")?.as_text().map(String::from)
}

/// Renames types and functions as if `orders` were a separate crate, as it would be in production.
fn as_service(mut failure: Failure) -> Failure {
    let own_name = |name: &str| name.replace("local::orders::", "orders::");
    failure.error_type = own_name(&failure.error_type);
    for frame in &mut failure.frames {
        frame.function = own_name(&frame.function);
    }
    failure
}
