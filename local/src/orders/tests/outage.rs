//! An outage of the payment service: what the circuit refuses, what stamps and notices say of it, and how it ends.

use super::*;
use consumer::breaker::CircuitState;
use consumer::{Reason, StampContext};
use domain::notice::Notice;

/// As in the demo.
const PATIENCE: Span = Span::from_ms(400);
/// How often the clock moves on while orders wait.
const LOOKED_EVERY: Duration = Duration::from_millis(100);
/// More than the circuit lets fail.
const ORDERS: u32 = 40;

fn receipts() -> QueueArn {
    QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:dlo-receipts")
}

impl World {
    async fn start_telling(&self, payments_patience: Span) -> OrdersHandle {
        self.queue.create_queue(&receipts(), QueueSettings::default()).await.unwrap();
        let config = OrdersConfig { receipts: Some(receipts()), payments_patience, ..self.config() };
        Orders::start(self.queue.clone(), config).await.unwrap()
    }

    /// Lets time pass until the consumer is done with all orders. Returns the final state.
    async fn passes_until_settled(&self, orders: &OrdersHandle, count: u64) -> State {
        let all = |state: &State| state.handled_count + state.dead_count >= count;
        soon(async {
            while !all(&orders.status().await.state) {
                let _ = tokio::time::timeout(LOOKED_EVERY, orders.wait_for(all)).await;
                self.pass(Span::from_secs(2));
            }
        })
        .await;
        orders.status().await.state
    }

    /// The states of the circuit that notices named.
    async fn circuit_states(&self) -> Vec<CircuitState> {
        let sent = self.queue.peek(&receipts(), 1_000).await.unwrap();
        let notices = sent.iter().filter_map(|sent| Notice::parse(&sent.content.body));
        let circuits = notices.flat_map(|notice| notice.circuits);
        circuits.inspect(|circuit| assert_eq!(circuit.dependency, "payments")).map(|circuit| circuit.state).collect()
    }
}

#[tokio::test]
async fn an_outage_opens_the_circuit_and_stamps_and_notices_say_so() {
    let world = World::new().await;
    let orders = world.start_telling(SHORT).await;
    orders.set_payments(false);
    orders.place(ORDERS, Mix::Only(Kind::Good)).await.unwrap();
    let state = world.passes_until_settled(&orders, ORDERS.into()).await;
    orders.shut_down().await;
    assert_eq!((state.handled_count, state.dead_count), (0, ORDERS.into()));
    assert_eq!(payments(&world), [0_u64; 0], "a charge that nobody waits for is not paid");
    let mut types = BTreeSet::new();
    for dead in world.queue.peek(&world.dlq, 1_000).await.unwrap() {
        let text = dead.content.attributes[FAILURE_ATTRIBUTE].as_text().unwrap();
        let stamp = Stamp::parse(text).unwrap();
        let context: StampContext = serde_json::from_str(text).unwrap();
        let circuit = context.circuit.expect("the circuit");
        assert_eq!((circuit.dependency.as_str(), stamp.class), ("payments", Some(Class::Transient)));
        let refused = stamp.error_type.as_deref() == Some("consumer::CircuitOpen");
        assert_eq!(context.reason == Some(Reason::CircuitOpen), refused, "{text}");
        types.extend(stamp.error_type);
    }
    let expected = ["consumer::CircuitOpen", "orders::payments::PaymentTimeout"];
    assert!(!types.is_empty() && types.iter().all(|found| expected.contains(&found.as_str())), "{types:?}");
    assert!(types.contains("consumer::CircuitOpen"), "most orders were not sent to a service that is down: {types:?}");
    assert!(world.circuit_states().await.contains(&CircuitState::Open));
}

#[tokio::test]
async fn the_circuit_closes_once_payments_are_back_and_every_order_is_paid_once() {
    let world = World::with_receives(9).await;
    let orders = world.start_telling(PATIENCE).await;
    orders.set_payments(false);
    orders.place(ORDERS, Mix::Only(Kind::Good)).await.unwrap();
    soon(orders.wait_for(|state| state.retried_count >= ORDERS.into())).await;
    soon(async {
        while !world.circuit_states().await.contains(&CircuitState::Open) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    orders.set_payments(true);
    let state = world.passes_until_settled(&orders, ORDERS.into()).await;
    // Another order, because a notice goes out after a message, and at most every ten seconds.
    world.pass(Span::from_secs(11));
    orders.place(1, Mix::Only(Kind::Good)).await.unwrap();
    settled(&orders, u64::from(ORDERS) + 1).await;
    orders.shut_down().await;
    assert_eq!((state.handled_count, state.dead_count), (ORDERS.into(), 0));
    assert_eq!(payments(&world), [1; ORDERS as usize + 1]);
    assert_eq!(world.circuit_states().await.last(), Some(&CircuitState::Closed));
}
