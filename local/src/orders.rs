//! The demo service `orders`: producers that place orders, and a consumer that really fails on some of them.
//!
//! Nothing here is told to fail. Bodies are cut off, a product is missing from the catalogue, a payment service hangs,
//! a deadline has passed, a tenant is gone, and version 1 has a bug: the stamps tell what the code ran into.

mod catalogue;
mod chance;
mod deadline;
#[cfg(feature = "aws")]
pub mod function;
mod generate;
mod order;
mod payments;
mod pricing;
mod service;
mod shared;
mod state;
mod tenant;
#[cfg(test)]
mod tests;
mod version;

pub use generate::{Kind, Mix, generate};
pub use shared::{Depth, Status};
pub use state::{State, StateError};
pub use version::{UnknownVersion, Version};

use consumer::{Consumer, ConsumerConfig};
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::policy::MessageTypeRule;
use domain::time::{Span, Timestamp};
use payments::{PaymentClient, Payments};
use queue::{EntryFailure, Queue, QueueError};
use service::Service;
use shared::Shared;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// The service's name on stamps and deployments.
pub const SERVICE: &str = "orders";
/// The most orders of one burst: two hundred batches, a second or two of sending.
pub const BURST_MAX: u32 = 2_000;

/// How long a receive waits: also the longest that stopping takes.
const RECEIVE_WAIT: Span = Span::from_secs(1);

/// The settings of the demo service.
#[derive(Clone)]
pub struct OrdersConfig {
    /// The queue that orders are placed on. Its redrive policy names `dlq`.
    pub main: QueueArn,
    /// Its dead-letter queue.
    pub dlq: QueueArn,
    /// Where its consumer sends receipts for orders that a replay brought back.
    pub receipts: Option<QueueArn>,
    /// Orders that the producer places each second; 0 for none.
    pub orders_per_s: u32,
    /// After so many the producer pauses by itself, so that the demo's file does not grow for ever.
    pub orders_max: u64,
    /// Messages handled at a time.
    pub concurrency: usize,
    /// The ceiling of the first backoff.
    pub backoff_base: Span,
    /// What the orders are made from.
    pub seed: u64,
    /// How long the consumer waits for the payment service.
    pub payments_patience: Span,
    /// Where the state is kept.
    pub state_file: PathBuf,
    /// The clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Told of each deployment, after it has taken effect.
    pub on_deploy: Arc<dyn Fn(Deployment) + Send + Sync>,
}

impl OrdersConfig {
    /// Settings for a demo: three orders a second, 3,000 of them.
    pub fn new(main: QueueArn, dlq: QueueArn, state_file: PathBuf) -> Self {
        let now = ConsumerConfig::new(main.clone(), SERVICE, String::new).now;
        Self {
            main,
            dlq,
            receipts: None,
            orders_per_s: 3,
            orders_max: 3_000,
            concurrency: 10,
            backoff_base: Span::from_ms(500),
            seed: 1,
            payments_patience: Span::from_ms(400),
            state_file,
            now,
            on_deploy: Arc::new(|_| {}),
        }
    }
}

/// The demo service could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// The state file.
    #[error(transparent)]
    State(#[from] StateError),
    /// The demo's payment service found no port.
    #[error("the demo's payment service could not take a port of the loopback")]
    PaymentsPort(#[source] std::io::Error),
    /// The payment service's client could not be made.
    #[error("the client of the demo's payment service could not be made")]
    PaymentsClient(#[source] reqwest::Error),
    /// The queue did not take the orders.
    #[error("the orders could not be placed")]
    Queue(#[from] QueueError),
    /// The queue refused an order.
    #[error("an order was refused")]
    Refused(#[from] EntryFailure),
}

/// How to read the messages of the demo service: the policy's part.
pub fn message_type_rules() -> Vec<MessageTypeRule> {
    let rule = |message_type: &str, severity| MessageTypeRule {
        message_type: message_type.into(),
        amount: Some("/total/amount".into()),
        amount_minor: None,
        currency: Some("/total/currency".into()),
        customer: Some("/customer/id".into()),
        deadline: Some("/deliver_by".into()),
        four_eyes: None,
        severity: Some(severity),
    };
    vec![
        rule("order.placed", Severity::Critical),
        rule("order.refund", Severity::Critical),
        rule("invoice.issue", Severity::Warning),
    ]
}

/// The demo service, running.
#[derive(Clone)]
pub struct OrdersHandle {
    shared: Arc<Shared>,
    running: Arc<Running>,
}

struct Running {
    stop: watch::Sender<bool>,
    stop_payments: watch::Sender<bool>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    payments: Mutex<Option<JoinHandle<()>>>,
}

/// The demo service.
pub struct Orders;

impl Orders {
    /// Starts payment service, consumer and producer where they stopped the last time.
    pub async fn start(queue: Arc<dyn Queue>, config: OrdersConfig) -> Result<OrdersHandle, OrdersError> {
        let afresh = State { allowance_count: config.orders_max, ..State::default() };
        let state = State::read(&config.state_file)?.unwrap_or(afresh);
        let (stop, stopping) = watch::channel(false);
        let (stop_payments, payments_stopping) = watch::channel(false);
        let shared = Arc::new(Shared::new(queue.clone(), config, state));
        let (payments, address) = Payments::bind(shared.watch()).await.map_err(OrdersError::PaymentsPort)?;
        let patience = shared.config.payments_patience;
        let client = PaymentClient::new(address, patience).map_err(OrdersError::PaymentsClient)?;

        let consumer = Consumer::new(consumer_config(&shared), queue, Arc::new(service(&shared, client)));
        let workers =
            vec![tokio::spawn(consumer.run(stopping.clone())), tokio::spawn(produce(shared.clone(), stopping))];
        let payments = tokio::spawn(payments.serve(payments_stopping));
        let running =
            Running { stop, stop_payments, workers: Mutex::new(workers), payments: Mutex::new(Some(payments)) };
        Ok(OrdersHandle { shared, running: Arc::new(running) })
    }
}

fn service(shared: &Arc<Shared>, payments: PaymentClient) -> Service {
    let state = shared.clone();
    Service { state: Arc::new(move || state.state()), now: shared.config.now.clone(), payments: Some(payments) }
}

fn consumer_config(shared: &Arc<Shared>) -> ConsumerConfig {
    let version = shared.clone();
    let counters = shared.clone();
    let config = &shared.config;
    ConsumerConfig {
        concurrency: config.concurrency,
        wait: RECEIVE_WAIT,
        backoff_base: config.backoff_base,
        message_type: service::message_type,
        receipts: config.receipts.clone(),
        now: config.now.clone(),
        on_outcome: Arc::new(move |_, outcome| counters.count(outcome)),
        ..ConsumerConfig::new(config.main.clone(), SERVICE, move || version.state().version.to_string())
    }
}

/// Places orders at the set rate for as long as it may.
async fn produce(shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
    let Some(period) = Duration::from_secs(1).checked_div(shared.config.orders_per_s) else { return };
    let mut tick = tokio::time::interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
        if shared.may_produce()
            && let Err(error) = shared.place(1, Mix::Usual).await
        {
            tracing::warn!(%error, "an order could not be placed");
        }
    }
}

impl OrdersHandle {
    /// Deploys a version: messages received from now on are handled by it.
    pub fn deploy(&self, version: Version) {
        self.shared.change(|state| state.version = version);
        (self.shared.config.on_deploy)(Deployment {
            service: SERVICE.into(),
            version: version.to_string(),
            commit: None,
            at: (self.shared.config.now)(),
        });
    }

    /// Takes the payment service down, or brings it back.
    pub fn set_payments(&self, up: bool) {
        self.shared.change(|state| state.payments_up = up);
    }

    /// Puts the missing product into the catalogue, or takes it out again.
    pub fn set_product(&self, added: bool) {
        self.shared.change(|state| state.product_added = added);
    }

    /// Puts the missing product into the catalogue.
    pub fn add_product(&self) {
        self.set_product(true);
    }

    /// Lets the producer place orders, or makes it pause. One that has paused by itself gets a new allowance.
    pub fn set_producing(&self, producing: bool) {
        let allowance_count = self.shared.config.orders_max;
        self.shared.change(|state| {
            state.producing = producing;
            if producing && state.allowance_count == 0 {
                state.allowance_count = allowance_count;
            }
        });
    }

    /// Places `count` orders at once, at most [`BURST_MAX`]; how many were placed.
    pub async fn place(&self, count: u32, mix: Mix) -> Result<u64, OrdersError> {
        self.shared.place(count.min(BURST_MAX), mix).await
    }

    /// Waits until the state is as described.
    pub async fn wait_for(&self, condition: impl FnMut(&State) -> bool) {
        // We hold the sender, so the wait cannot end by its loss.
        let _ = self.shared.watch().wait_for(condition).await;
    }

    /// What runs, what was done, and what waits in the queues.
    pub async fn status(&self) -> Status {
        self.shared.status().await
    }

    /// Stops: nothing is placed or received any more, what was received is handled, the state is written.
    pub async fn stop(&self) {
        self.running.stop.send_replace(true);
        let workers = std::mem::take(&mut *locked(&self.running.workers));
        for worker in workers {
            let _ = worker.await;
        }
        // Only now: the consumer's last orders are still to be paid.
        self.running.stop_payments.send_replace(true);
        let payments = locked(&self.running.payments).take();
        if let Some(payments) = payments {
            let _ = payments.await;
        }
        self.shared.change(|_| {});
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
