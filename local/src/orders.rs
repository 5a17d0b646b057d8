//! The demo service `orders`: a producer that places orders, and a consumer that really fails on some of them.
//!
//! No failure is simulated. Bodies are truncated, a product is missing from the catalogue, the payment service hangs, a
//! deadline has passed, a tenant was deleted, and version 1 has a bug. The stamps carry the errors that result.

mod catalogue;
mod chance;
mod deadline;
#[cfg(feature = "aws")]
pub mod function;
mod generate;
mod ledger;
mod order;
mod paying;
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
pub use ledger::LedgerError;
pub use shared::{Depth, Status};
pub use state::{State, StateError};
pub use version::{UnknownVersion, Version};

use consumer::backoff::Backoff;
use consumer::dependency::Dependency;
use consumer::strategy::{Overload, Strategies, Strategy, Wait};
use consumer::{Consumer, ConsumerConfig};
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::policy::MessageTypeRule;
use domain::time::{Span, Timestamp};
use ledger::Ledger;
use paying::{Payer, Paying};
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
/// The file with the payments.
pub const LEDGER: &str = "payments.db";
/// The most orders in one burst: 200 batches, which take a second or two to send.
pub const BURST_MAX: u32 = 2_000;
/// How often changed counters are written: a kill loses those of one second at most.
const COUNTERS_KEPT_EVERY: Duration = Duration::from_secs(1);

/// How long a receive waits, which is also the longest that a shutdown takes.
const RECEIVE_WAIT: Span = Span::from_secs(1);

/// The longest wait before a retry. The visibility timeout limits it too.
const BACKOFF_CAP: Span = Span::from_mins(5);

/// The settings of the demo service.
#[derive(Clone)]
pub struct OrdersConfig {
    /// The main queue. Its redrive policy names `dlq`.
    pub main: QueueArn,
    /// The dead-letter queue.
    pub dlq: QueueArn,
    /// The queue for receipts of orders that a replay sent.
    pub receipts: Option<QueueArn>,
    /// Orders that the producer places per second; 0 for none.
    pub orders_per_s: u32,
    /// The number of orders after which the producer pauses itself, so that the demo's files do not grow without limit.
    pub orders_max: u64,
    /// Messages handled concurrently.
    pub concurrency: usize,
    /// The longest wait before the first retry.
    pub backoff_base: Span,
    /// The seed from which orders are generated.
    pub seed: u64,
    /// How long the consumer waits for the payment service.
    pub payments_patience: Span,
    /// The file for the state. The ledger of the payment service, [`LEDGER`], is beside it.
    pub state_file: PathBuf,
    /// The clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Called with each deployment, after it took effect.
    pub on_deploy: Arc<dyn Fn(Deployment) + Send + Sync>,
}

impl OrdersConfig {
    /// Returns the demo's settings: three orders per second, up to 3,000.
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

/// A request to the demo service failed.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// The state file cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledger cannot be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The demo's payment service has no port.
    #[error("the demo's payment service found no free port on the loopback")]
    PaymentsPort(#[source] std::io::Error),
    /// The payment service's client could not be created.
    #[error("the HTTP client for the demo's payment service could not be created")]
    PaymentsClient(#[source] reqwest::Error),
    /// The queue did not accept the orders.
    #[error("placing the orders failed")]
    Queue(#[from] QueueError),
    /// The queue refused an order.
    #[error("the queue refused an order")]
    Refused(#[from] EntryFailure),
}

/// Returns the policy's rules for the messages of the demo service.
pub fn message_type_rules() -> Vec<MessageTypeRule> {
    let rule = |message_type: &str, severity| MessageTypeRule {
        message_type: message_type.into(),
        amount: Some("/total/amount".into()),
        amount_minor: None,
        currency: Some("/total/currency".into()),
        customer: Some("/customer/id".into()),
        deadline: Some("/deliver_by".into()),
        four_eyes: None,
        // The consumer declares it.
        idempotent: None,
        severity: Some(severity),
    };
    vec![
        rule("order.placed", Severity::Critical),
        rule("order.refund", Severity::Critical),
        rule("invoice.issue", Severity::Warning),
    ]
}

/// The running demo service.
#[derive(Clone)]
pub struct OrdersHandle {
    shared: Arc<Shared>,
    running: Arc<Running>,
}

struct Running {
    close: watch::Sender<bool>,
    close_payments: watch::Sender<bool>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    payments: Mutex<Option<JoinHandle<()>>>,
}

/// The demo service.
pub struct Orders;

impl Orders {
    /// Starts payment service, consumer and producer with the state of the last run.
    pub async fn start(queue: Arc<dyn Queue>, config: OrdersConfig) -> Result<OrdersHandle, OrdersError> {
        let initial = State { allowance_count: config.orders_max, ..State::default() };
        let state = State::read(&config.state_file)?.unwrap_or(initial);
        let (close, shutdown) = watch::channel(false);
        let (close_payments, payments_shutdown) = watch::channel(false);
        let shared = Arc::new(Shared::new(queue.clone(), config, state));
        let ledger = Ledger::open(&shared.config.state_file.with_file_name(LEDGER), shared.config.now.clone())?;
        let (payments, address) = Payments::bind(shared.watch(), ledger).await.map_err(OrdersError::PaymentsPort)?;
        let patience = shared.config.payments_patience;
        let client = PaymentClient::new(address, patience).map_err(OrdersError::PaymentsClient)?;

        let paying = Paying::new(Payer::Service(client), patience, shared.config.now.clone());
        let settings = consumer_config(&shared, paying.dependency());
        let consumer = Consumer::new(settings, queue, Arc::new(service(&shared, paying)));
        let workers = vec![
            tokio::spawn(consumer.run(shutdown.clone())),
            tokio::spawn(keep_counters(shared.clone(), shutdown.clone())),
            tokio::spawn(produce(shared.clone(), shutdown)),
        ];
        let payments = tokio::spawn(payments.serve(payments_shutdown));
        let running =
            Running { close, close_payments, workers: Mutex::new(workers), payments: Mutex::new(Some(payments)) };
        Ok(OrdersHandle { shared, running: Arc::new(running) })
    }
}

fn service(shared: &Arc<Shared>, paying: Paying) -> Service {
    let state = shared.clone();
    Service { state: Arc::new(move || state.state()), now: shared.config.now.clone(), paying }
}

fn consumer_config(shared: &Arc<Shared>, payments: Dependency) -> ConsumerConfig {
    let version = shared.clone();
    let counters = shared.clone();
    let config = &shared.config;
    let wait = Wait::Backoff(Backoff::new(config.backoff_base, BACKOFF_CAP));
    // An order that may not be tried again now may be after a wait: its receives are few anyway.
    let strategy = Strategy { wait, budget_exhausted: Overload::Wait, ..Strategy::default() };
    ConsumerConfig {
        concurrency: config.concurrency,
        wait: RECEIVE_WAIT,
        strategies: Strategies::new(strategy),
        message_type: service::message_type,
        // The payment service pays an order once.
        idempotent: |_| true,
        idempotency_key: service::idempotency_key,
        receipts: config.receipts.clone(),
        dependencies: vec![payments],
        now: config.now.clone(),
        on_outcome: Arc::new(move |_, outcome| counters.count(outcome)),
        ..ConsumerConfig::new(config.main.clone(), SERVICE, move || version.state().version.to_string())
    }
}

/// Places orders at the configured rate until shutdown, as long as the producer runs.
async fn produce(shared: Arc<Shared>, mut shutdown: watch::Receiver<bool>) {
    let Some(period) = Duration::from_secs(1).checked_div(shared.config.orders_per_s) else { return };
    let mut tick = tokio::time::interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            _ = shutdown.wait_for(|shutdown| *shutdown) => return,
        }
        if shared.may_produce()
            && let Err(error) = shared.place(1, Mix::Usual).await
        {
            tracing::warn!(%error, "placing an order failed");
        }
    }
}

/// Writes the counters soon after they have changed, so that a killed demo knows what its consumer did.
async fn keep_counters(shared: Arc<Shared>, mut shutdown: watch::Receiver<bool>) {
    let mut state = shared.watch();
    let mut tick = tokio::time::interval(COUNTERS_KEPT_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            changed = async { tick.tick().await; state.changed().await } => match changed {
                Ok(()) => shared.keep(),
                Err(_) => return,
            },
            _ = shutdown.wait_for(|shutdown| *shutdown) => return,
        }
    }
}

impl OrdersHandle {
    /// Deploys a version, which handles all messages received from now on.
    pub fn deploy(&self, version: Version) {
        self.shared.change(|state| state.version = version);
        (self.shared.config.on_deploy)(Deployment {
            service: SERVICE.into(),
            version: version.to_string(),
            commit: None,
            at: (self.shared.config.now)(),
        });
    }

    /// Takes the payment service down, or brings it back up.
    pub fn set_payments(&self, up: bool) {
        self.shared.change(|state| state.payments_up = up);
    }

    /// Adds the missing product to the catalogue, or removes it.
    pub fn set_product(&self, added: bool) {
        self.shared.change(|state| state.product_added = added);
    }

    /// Adds the missing product to the catalogue.
    pub fn add_product(&self) {
        self.set_product(true);
    }

    /// Resumes or pauses the producer. A producer that paused itself gets a new allowance.
    pub fn set_producing(&self, producing: bool) {
        let allowance_count = self.shared.config.orders_max;
        self.shared.change(|state| {
            state.producing = producing;
            if producing && state.allowance_count == 0 {
                state.allowance_count = allowance_count;
            }
        });
    }

    /// Places `count` orders at once, at most [`BURST_MAX`]. Returns how many were placed.
    pub async fn place(&self, count: u32, mix: Mix) -> Result<u64, OrdersError> {
        self.shared.place(count.min(BURST_MAX), mix).await
    }

    /// Waits until the state meets the condition.
    pub async fn wait_for(&self, condition: impl FnMut(&State) -> bool) {
        // Cannot fail: we hold the sender.
        let _ = self.shared.watch().wait_for(condition).await;
    }

    /// Returns the state, the counters and the depth of the queues.
    pub async fn status(&self) -> Status {
        self.shared.status().await
    }

    /// Shuts down: places and receives no more messages, handles the received ones, and writes the state.
    pub async fn shut_down(&self) {
        self.running.close.send_replace(true);
        let workers = std::mem::take(&mut *locked(&self.running.workers));
        for worker in workers {
            let _ = worker.await;
        }
        // Only now, because the consumer's last orders need the payment service.
        self.running.close_payments.send_replace(true);
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
